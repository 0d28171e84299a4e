"""Pictures as blocks of the Messages protocol, known by their content and not by what somebody calls them."""

from __future__ import annotations

import base64

from hitl_cli.journal import Json

MOST = 3_750_000  # bytes; what the Messages API takes, 5 MB, is counted in base64
_STARTS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


def kind_of(start: bytes) -> str:
    """png, jpeg, gif or webp by the first 12 bytes, "" for anything else."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    return next((kind for mark, kind in _STARTS if start.startswith(mark)), "")


def block(data: bytes, kind: str) -> dict[str, Json]:
    source = {"type": "base64", "media_type": f"image/{kind}", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}
