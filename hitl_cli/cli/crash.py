"""An error that nobody foresaw: one line for the person, and the trace in a file for whoever repairs it."""

from __future__ import annotations

import traceback
from pathlib import Path


def tell(error: Exception) -> str:
    """What to print. The trace, which holds no values, is kept as `last-error.txt` in the state folder."""
    from hitl_cli.errors import HitlError
    from hitl_cli.paths import locate, private
    from hitl_cli.ui.clean import clean

    first = clean(f"hitl: an error inside hitl itself: {type(error).__name__}: {error}".partition("\n")[0])
    try:
        file = private(locate().state) / "last-error.txt"
        _write(file, "".join(traceback.format_exception(error)))
    except (OSError, HitlError):
        return f"{first}\n  The session is kept as it was last stored."
    return f"{first}\n  The session is kept as it was last stored. Where it happened stands in {file}"


def _write(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8", errors="replace")
