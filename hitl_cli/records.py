"""Records: what all data of the program is made of, and such records as plain JSON objects and back, by their type hints.

A record is a msgspec Struct: made in an eighth of the time of a frozen dataclass, and its class in a fortieth, which is
most of what a short command would wait for.

A field that holds its default is left out, so a record reads as short as it is and a new optional field needs no upgrader.
Loading checks every value against its hint and raises ValueError with the field's name: nothing is guessed.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from msgspec import NODEFAULT, DecodeError, Struct, field
from msgspec.json import Decoder
from msgspec.structs import asdict, fields, replace

__all__ = ["DecodeError", "Decoder", "Struct", "asdict", "dump", "field", "load", "replace", "text_without"]

T = TypeVar("T")
Decode = Callable[[Any], Any]
_BARE = {str, int, float, bool, types.NoneType}


class _Misfit(ValueError):
    """What is wrong, told from the field that it is wrong with: ".who.kind must be one of …". Where in the record that
    field stands is put in front on the way up, so that nothing is spent on it as long as everything fits."""


def dump(record: Any) -> dict[str, Any]:
    """`record` as an object of plain data."""
    out = {}
    for name, default in _defaults(type(record)):  # type: ignore[arg-type]
        value = getattr(record, name)
        if default is NODEFAULT or value != default:
            out[name] = _plain_data(value)
    return out


@cache
def _defaults(cls: type) -> list[tuple[str, Any]]:
    """The fields of `cls`, each with its default; without their types, which take long to be worked out."""
    given = [default.factory() if hasattr(default, "factory") else default for default in cls.__struct_defaults__]  # type: ignore[attr-defined]
    names: tuple[str, ...] = cls.__struct_fields__  # type: ignore[attr-defined]
    return list(zip(names, [*[NODEFAULT] * (len(names) - len(given)), *given], strict=True))


def _plain_data(value: Any) -> Any:
    if type(value) in _BARE:  # most are
        return value
    if isinstance(value, tuple):
        return [_plain_data(v) for v in value]
    if isinstance(value, Struct):
        return dump(value)
    return dict(value) if _is_object(value) else value


def text_without(record: Struct, *hidden: str) -> str:
    """`record` as its `repr` shows it, without the fields that are long or secret."""
    shown = ", ".join(f"{name}={getattr(record, name)!r}" for name in record.__struct_fields__ if name not in hidden)
    return f"{type(record).__name__}({shown})"


def load(cls: type[T], data: Any, where: str = "") -> T:
    """The record that `data` describes; ValueError names the field that does not fit."""
    try:
        return _load(cls, data)
    except _Misfit as error:
        raise ValueError(f"{where or cls.__name__}{error}") from None


def _load(cls: type[T], data: Any) -> T:
    if not _is_object(data):
        raise _Misfit(" must be an object")
    known = {}
    for name, default, decode in _fields(cls):  # type: ignore[arg-type]
        if name in data:
            try:
                known[name] = decode(data[name])
            except _Misfit as error:
                raise _Misfit(f".{name}{error}") from None
        elif default is NODEFAULT:
            raise _Misfit(f".{name} is missing")
    if len(known) != len(data):
        raise _Misfit(f" has unknown fields: {', '.join(sorted(set(data) - set(known)))}")
    return cls(**known)


def _is_object(value: Any) -> bool:
    return type(value) is dict or isinstance(value, Mapping)  # the second takes ten times as long


@cache
def _fields(cls: type) -> list[tuple[str, Any, Decode]]:
    kinds = {f.name: f.type for f in fields(cls)}
    return [(name, default, _decoder(kinds[name])) for name, default in _defaults(cls)]


@cache
def _decoder(hint: Any) -> Decode:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return _same
    if isinstance(hint, type) and issubclass(hint, Struct):
        return partial(_load, hint)
    if origin is Literal:
        return _one_of(args)
    if origin is tuple:
        return _each(_decoder(args[0]))
    if origin in (Union, types.UnionType):
        return _one_kind_of(args)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _object
    if hint is float:
        return _number
    return _plain(hint)


def _one_kind_of(args: tuple[Any, ...]) -> Decode:
    decoders = [_decoder(arg) for arg in args if arg is not types.NoneType]
    optional = len(decoders) < len(args)

    def decode(value: Any) -> Any:
        if value is None and optional:
            return None
        problem = _Misfit(" must not be null")
        for decoder in decoders:
            try:
                return decoder(value)
            except _Misfit as error:
                problem = error
        raise problem

    return decode


def _same(value: Any) -> Any:
    return value


def _object(value: Any) -> Any:
    if not _is_object(value):
        raise _Misfit(" must be an object")
    return value


def _plain(kind: type) -> Decode:
    def decode(value: Any) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise _Misfit(f" must be of type {kind.__name__}")
        return value

    return decode


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Misfit(" must be a number")
    return float(value)


def _one_of(choices: tuple[Any, ...]) -> Decode:
    def decode(value: Any) -> Any:
        if value not in choices:
            raise _Misfit(f" must be one of {', '.join(map(str, choices))}")
        return value

    return decode


def _each(decode: Decode) -> Decode:
    def all_of(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _Misfit(" must be a list")
        return tuple([decode(v) for v in value])

    return all_of
