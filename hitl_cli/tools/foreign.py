"""What a server says of its tools and returns from them, made fit for a model and a screen.

Nothing a server says is trusted: names that cannot be called are left out with a reason, descriptions lose what could
steer a terminal or hide from a reader, schemas that would reach out or break a request are refused, hints ("only
reads") are shown as the server's words and decide nothing. Works on plain data, as JSON has it.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hitl_cli.journal import Json, Result
from hitl_cli.regex import later
from hitl_cli.tools import images
from hitl_cli.tools.clip import clip
from hitl_cli.tools.declare import Failed
from hitl_cli.tools.disk import create_private

_ESCAPES = later(  # ECMA-48, in the forms of seven and of eight bits
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences
    r"|(?:\x1b[PX\]^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # strings: titles, links, clipboards
    r"|\x1b[ -/]*[0-~]"
)
_HIDDEN = later(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_NAME = later(r"[A-Za-z0-9_-]{1,128}")  # what the Messages API takes as the name of a tool
_PROPERTY = later(r"[A-Za-z0-9_.-]{1,64}")  # and as the name of an argument
_WORDS, _SCHEMA = 4_000, 60_000  # characters of a description, of a schema
_HINTS = {
    "readOnlyHint": ("only reads", "changes things"),
    "destructiveHint": ("may destroy", "does not destroy"),
    "idempotentHint": ("may be repeated safely", "must not be repeated"),
    "openWorldHint": ("reaches other systems", "reaches no other systems"),
}


def cleaned(text: str, limit: int = _WORDS) -> str:
    """Without escape sequences, control characters and what has no width or turns the direction; cut at `limit`."""
    text = _HIDDEN.sub("", _ESCAPES.sub("", text)).strip()
    return text if len(text) <= limit else text[:limit] + " [...]"


def name_of(server: str, listed: Mapping[str, Any]) -> str:
    """`mcp__server__tool`; raises Failed when the tool cannot be called so."""
    name = f"mcp__{server}__{re.sub(r'[./ ]', '_', str(listed.get('name')))}"
    if not _NAME.fullmatch(name):
        raise Failed(f"its tool {cleaned(str(listed.get('name')), 80)!r} is left out: not a usable name")
    return name


def description_of(listed: Mapping[str, Any]) -> str:
    return cleaned(str(listed.get("description") or listed.get("title") or "")) or "(the server does not describe it)"


def hints_of(listed: Mapping[str, Any]) -> str:
    """The server's own words on what a tool does, for a person."""
    hints = listed.get("annotations") or {}
    said = [words[not hints[key]] for key, words in _HINTS.items() if isinstance(hints.get(key), bool)]
    return ", ".join(said)


def schema_of(listed: Mapping[str, Any]) -> dict[str, Json]:
    """The schema of the arguments as model and check can use it; raises Failed."""
    from jsonschema import Draft202012Validator, SchemaError  # loaded only when there are servers

    name = cleaned(str(listed.get("name")), 80)
    schema: dict[str, Json] = _clean(listed.get("inputSchema") or {})
    if len(json.dumps(schema)) > _SCHEMA:
        raise Failed(f"its tool {name} is left out: a schema of more than {_SCHEMA:,} characters")
    # Alternatives at the top are not taken by the Messages API; the server checks them itself.
    schema = {key: value for key, value in schema.items() if key not in ("oneOf", "anyOf", "allOf", "$schema")}
    schema = {"type": "object", "properties": {}} | schema
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise Failed(f"its tool {name} is left out: its schema is not valid ({cleaned(error.message, 200)})") from None
    if schema["type"] != "object" or any(not _PROPERTY.fullmatch(key) for key in schema["properties"]):
        raise Failed(f"its tool {name} is left out: its arguments cannot be named in a call")
    if any(not ref.startswith("#") for ref in _references(schema)):
        raise Failed(f"its tool {name} is left out: its schema refers to another document")
    return schema


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, Mapping):
        return {str(key): _clean(part) for key, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, list) else value


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from (str(schema[key]) for key in ("$ref", "$dynamicRef", "$recursiveRef") if key in schema)
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def result_of(reply: Mapping[str, Any], whole: Path) -> Result:
    """The reply to a call. Long text is clipped and kept in the file `whole`; pictures come as pictures."""
    texts, pictures = _parts(reply.get("content") or ())
    if not texts and not pictures and reply.get("structuredContent") is not None:
        texts = [json.dumps(reply["structuredContent"], ensure_ascii=False, indent=2)]
    text = "\n".join(texts).encode("utf-8", "replace").decode()
    shown = clip(text, whole=str(whole))
    if shown != text:
        with open(create_private(whole), "w", encoding="utf-8") as file:
            file.write(text)
    failed = bool(reply.get("isError"))
    shown = shown or ("(the server says only that it failed)" if failed else "" if pictures else "(no output)")
    if not pictures:
        return Result(shown, ok=not failed, kind="error" if failed else "ran")
    blocks: list[Mapping[str, Json]] = [{"type": "text", "text": shown}] if shown else []
    return Result((*blocks, *pictures), ok=not failed, kind="error" if failed else "ran")


def _parts(content: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[dict[str, Json]]]:
    texts: list[str] = []
    pictures: list[dict[str, Json]] = []
    for part in content:
        kind, resource = part.get("type"), part.get("resource") or {}
        if kind == "text":
            texts.append(str(part.get("text", "")))
        elif kind == "image":
            found = _picture(str(part.get("data", "")))
            pictures += [found] if found else []
            texts += [] if found else ["(an image that cannot be shown)"]
        elif kind == "resource" and "text" in resource:
            texts.append(f"{resource.get('uri', '')}:\n{resource['text']}")
        elif kind in ("resource", "resource_link"):
            texts.append(f"({part.get('name') or 'resource'}: {part.get('uri') or resource.get('uri')})")
        else:
            texts.append(f"({kind} of type {part.get('mimeType', 'unknown')}: not text)")
    return texts, pictures


def _picture(data: str) -> dict[str, Json] | None:
    try:
        raw = base64.b64decode(data, validate=True)
    except binascii.Error:
        return None
    kind = images.kind_of(raw[:12])
    return images.block(raw, kind) if kind and len(raw) <= images.MOST else None
