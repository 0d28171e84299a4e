"""Is there a service behind the configured address that takes the key? One small request, without the SDK.

The list of models is asked for, as the Messages service documents it; a server that only speaks Messages says 404 to
that, which shows that it is there.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping

ADDRESS = "https://api.anthropic.com"


def probe(environ: Mapping[str, str], timeout: float = 5.0) -> str:
    """What is wrong, with what to do about it; "" when the service answers. No key at all is wrong too."""
    key, token = environ.get("ANTHROPIC_API_KEY"), environ.get("ANTHROPIC_AUTH_TOKEN")
    if not (key or token):
        return "no key is set\n  export ANTHROPIC_API_KEY=… (hitl demo needs none)"
    address = environ.get("ANTHROPIC_BASE_URL") or ADDRESS
    headers = {
        "anthropic-version": "2023-06-01",
        **({"x-api-key": key} if key else {"authorization": f"Bearer {token}"}),
    }
    try:
        request = urllib.request.Request(address.rstrip("/") + "/v1/models?limit=1", headers=headers)
        with urllib.request.urlopen(request, timeout=timeout):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (401, 403):
            return f"{address} refuses the key ({error.code})\n  Copy it again from where it was issued."
        return "" if error.code in (404, 405, 429, 501) else f"{address} answers {error.code}\n  Try again later."
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        return f"{address} cannot be reached: {reason}\n  Check the network, a proxy, and ANTHROPIC_BASE_URL."
