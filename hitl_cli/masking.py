"""Secrets made unreadable in what leaves the program: exports and logs, never a panel.

Few patterns of high precision: tokens that carry their issuer's prefix, private keys, and values that a name beside
them calls a secret. A mask keeps the first characters, so that a person can tell which secret it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hitl_cli.regex import later

# Prefixes and lengths as the issuers' own documentation gives them.
TOKENS = later(
    r"\b(?:"
    r"sk-ant-[A-Za-z0-9_-]{20,}"  # Anthropic
    r"|sk-(?:proj-)?[A-Za-z0-9_-]{32,}"  # OpenAI
    r"|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}"  # GitHub
    r"|glpat-[A-Za-z0-9_-]{20,}"  # GitLab
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS access key ids
    r"|AIza[A-Za-z0-9_-]{35}"  # Google
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}"  # package registries
    r"|[sr]k_live_[A-Za-z0-9]{20,}"  # Stripe
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web tokens
    r")"
)
KEYS = later(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----(?!…).*?(?:-----END \1-----|\Z)", re.DOTALL)
NAMES = r"(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?token|client[_-]?secret)"
NAME = later(NAMES, re.IGNORECASE)
NAMED = later(rf"""({NAMES}["']?\s*[:=]\s*["']?)([^\s"'$<{{(][^\s"']{{5,}})""", re.IGNORECASE)
BEARER = later(r"(?i)(authorization:\s*(?:bearer|basic|token)\s+)([A-Za-z0-9._~+/=-]{8,})")
URL = later(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]+:)([^\s/@]+)(@)")


def mask(text: str) -> str:
    """`text` with secrets replaced by their first four characters and `…[masked]`."""
    text = KEYS.sub(r"-----BEGIN \1-----…[masked]", text)
    text = TOKENS.sub(lambda m: _short(m[0]), text)
    for pattern in (BEARER, NAMED):
        text = pattern.sub(lambda m: m[1] + _short(m[2]), text)
    return URL.sub(lambda m: m[1] + _short(m[2]) + m[3], text)


def mask_data(value: Any, name: str = "") -> Any:
    """Plain data with every text in it masked; `name` is the key it stands under, which may call it a secret."""
    if isinstance(value, str):
        return _short(value) if len(value) > 5 and NAME.fullmatch(name) else mask(value)
    if isinstance(value, Mapping):
        return {key: mask_data(inner, key) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [mask_data(inner, name) for inner in value]
    return value


def _short(secret: str) -> str:
    return secret if secret.endswith("[masked]") else f"{secret[:4]}…[masked]"
