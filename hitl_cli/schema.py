"""Python types and JSON schemas: the schema of a signature, whether a value fits, and the value as its type.

One schema of a tool serves the model and the check. jsonschema does the checking; since loading it takes a while, what
plainly fits a plain schema is let through without it.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import re
import types
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

Schema = Mapping[str, Any]
_NAMES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_TRUE = ("true", "yes", "y", "1", "on", "t")


def of_type(hint: Any) -> dict[str, Any]:
    """The JSON schema of a Python type: plain types, Optional, unions, Literal, Enum, dataclasses, containers of them.

    >>> of_type(list[int])
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, Mapping):
        return dict(hint)  # a schema already
    if hint is Any or hint is inspect.Parameter.empty:
        return {}
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    if hint is type(None) or hint is None:
        return {"type": "null"}
    if origin is Annotated:
        words = [a for a in args[1:] if isinstance(a, str)]
        return of_type(args[0]) | ({"description": words[0]} if words else {})
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [of_type(a) for a in args]}
    if origin in (list, tuple, set, frozenset) or (isinstance(origin, type) and issubclass(origin, list)):
        return {"type": "array", "items": of_type(args[0])}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": of_type(args[1])}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        fields = dataclasses.fields(hint)
        needed = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]
        return _object({f.name: of_type(hints[f.name]) for f in fields}, needed)
    raise TypeError(f"{hint!r} has no JSON schema; use str, int, float, bool, list, dict, Literal, Enum or a dataclass")


def as_type(value: Any, hint: Any) -> Any:
    """A value that fits `of_type(hint)`, as that type: members of an Enum, dataclasses, tuples."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return as_type(value, args[0])
    if origin in (Union, types.UnionType):
        fitting = [a for a in args if problem(value, of_type(a)) is None]
        return as_type(value, fitting[0]) if fitting else value
    if origin in (list, tuple, set, frozenset):
        return origin(as_type(v, args[0]) for v in value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        return hint(**{name: as_type(v, hints[name]) for name, v in value.items()})
    return float(value) if hint is float and isinstance(value, int) else value


def name_of(hint: Any) -> str:
    """What people call the type."""
    if isinstance(hint, Mapping):
        return str(hint.get("title", "value"))
    return getattr(hint, "__name__", None) or str(hint).replace("typing.", "")


def problem(value: Any, schema: Schema) -> str | None:
    """What is wrong with `value`, every fault of it, or None. A schema that cannot be used is a fault as well."""
    try:
        written = json.dumps(schema, sort_keys=True)
        if _fits(value, _plain(written)):
            return None
        found = list(_validator(written).iter_errors(value))
    except Exception as error:  # schemas come from servers too: whatever is wrong with one, nothing passes it
        return f"the schema of it cannot be used ({error})"
    faults = sorted(found, key=lambda fault: list(map(str, fault.path)))
    lines = [f"{'.'.join(map(str, fault.path))}: {fault.message}" if fault.path else fault.message for fault in faults]
    return "; ".join(lines) or None


@lru_cache(maxsize=512)
def _validator(schema: str) -> Any:
    from jsonschema.validators import validator_for
    from referencing.jsonschema import EMPTY_REGISTRY

    plain = _plain(schema)
    return validator_for(plain)(plain, registry=EMPTY_REGISTRY)  # references are never fetched


@lru_cache(maxsize=512)
def _plain(schema: str) -> Any:
    return json.loads(schema)


_FITTING: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def _fits(value: Any, schema: Any) -> bool:
    """True only when jsonschema would find no fault; False when there is one, and when it takes jsonschema to know."""
    return isinstance(schema, dict) and all(_holds(value, word, said, schema) for word, said in schema.items())


def _holds(value: Any, word: str, said: Any, schema: Mapping[str, Any]) -> bool:
    match word, said:
        case (("title" | "description" | "default"), _):
            return True
        case "type", str():
            return type(value) in _FITTING.get(said, ())
        case "enum", list():
            return type(value) is str and value in said
        case (("minimum" | "maximum"), int()):
            return type(value) is int and (value >= said if word == "minimum" else value <= said)
        case (("minLength" | "minItems"), int()):
            return isinstance(value, str | list) and len(value) >= said
        case (("maxLength" | "maxItems"), int()):
            return isinstance(value, str | list) and len(value) <= said
        case "items", dict():
            return isinstance(value, list) and all(_fits(item, said) for item in value)
        case "required", list():
            return isinstance(value, dict) and all(name in value for name in said)
        case "properties", dict():
            return isinstance(value, dict) and all(_fits(value[name], said[name]) for name in said if name in value)
        case "additionalProperties", (bool() | dict()):
            known = schema.get("properties", {})
            return isinstance(value, dict) and all(
                said is True or _fits(value[name], said) for name in value if name not in known
            )
    return False


def from_text(value: Any, kind: str) -> Any:
    """A reply typed as text, as str, int, float, bool, list or dict; ValueError when it is none.

    Blank text stays blank, except that a bool is true for true, yes, y, 1, on, t in any case and false for all else.

    >>> from_text("Yes", "bool"), from_text("7", "int"), from_text("", "int")
    (True, 7, '')
    """
    if kind == "bool":
        return value if isinstance(value, bool) else str(value).strip().lower() in _TRUE
    if kind not in ("int", "float", "list", "dict") or not isinstance(value, str) or not value.strip():
        return value
    convert: Callable[[str], Any] = {"int": int, "float": float}.get(kind, json.loads)
    try:
        return convert(value)
    except ValueError:
        raise ValueError(f"{value!r} is not {_A[kind]}") from None


_A = {"int": "a whole number", "float": "a number", "list": "a list in JSON", "dict": "an object in JSON"}


def hints_of(function: Callable[..., Any], known: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    """The types of a function's parameters, the hidden ones aside; `known` are names it need not have imported."""
    written = {name: hint for name, hint in function.__annotations__.items() if name not in ("return", *hidden)}
    stand_in = types.SimpleNamespace(__annotations__=written)
    names = {**known, **inspect.getclosurevars(function).nonlocals}
    return get_type_hints(stand_in, function.__globals__, names, include_extras=True)


def of_function(function: Callable[..., Any], hints: Mapping[str, Any], hidden: tuple[str, ...]) -> dict[str, Any]:
    """The schema of a function's parameters without the `hidden` ones, described by its docstring."""
    words = _described(inspect.getdoc(function) or "")
    properties, needed = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in hidden:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__name__}: a tool takes named parameters only, not {parameter}")
        properties[name] = of_type(hints.get(name, Any)) | ({"description": words[name]} if name in words else {})
        if parameter.default is parameter.empty:
            needed.append(name)
        elif _is_json(parameter.default):
            properties[name]["default"] = parameter.default
    return _object(properties, needed)


def summary_of(function: Callable[..., Any]) -> str:
    """The docstring without its list of parameters."""
    return re.split(r"\n\s*(?:Args|Arguments|Parameters|Returns|Raises):|\n\s*:param", inspect.getdoc(function) or "")[
        0
    ].strip()


def _object(properties: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _described(doc: str) -> dict[str, str]:
    """Parameter descriptions: lines `name: words` or `name (type): words` under Args, or `:param name: words`."""
    found = dict(re.findall(r":param (?:\S+ )?(\w+):\s*(.+)", doc))
    section = re.search(r"^(?:Args|Arguments|Parameters):\n(.*?)(?=^\S|\Z)", doc, re.M | re.S)
    found |= dict(re.findall(r"^\s+(\w+)(?:\s*\([^)]*\))?:\s*(.+)$", section[1], re.M)) if section else {}
    return found


def _is_json(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | list | dict) and not isinstance(value, enum.Enum)
