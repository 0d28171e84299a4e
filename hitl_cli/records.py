"""Frozen records as plain JSON objects and back, from their type hints alone.

A field that holds its default is left out, so a record reads as short as it is and a new optional field needs no upgrader.
Loading checks every value against its hint and raises ValueError with the field's name: nothing is guessed.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]


class _Misfit(ValueError):
    """What is wrong, told from the field that it is wrong with: ".who.kind must be one of …". Where in the record that
    field stands is put in front on the way up, so that nothing is spent on it as long as everything fits."""


def dump(record: Any) -> dict[str, Any]:
    """`record` as an object of plain data."""
    out = {}
    for name, default, (encode, _) in _fields(type(record)):  # type: ignore[arg-type]
        value = getattr(record, name)
        if default is dataclasses.MISSING or value != default:
            out[name] = encode(value)
    return out


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
    for name, default, (_, decode) in _fields(cls):  # type: ignore[arg-type]
        if name in data:
            try:
                known[name] = decode(data[name])
            except _Misfit as error:
                raise _Misfit(f".{name}{error}") from None
        elif default is dataclasses.MISSING:
            raise _Misfit(f".{name} is missing")
    if len(known) != len(data):
        raise _Misfit(f" has unknown fields: {', '.join(sorted(set(data) - set(known)))}")
    return cls(**known)


def _is_object(value: Any) -> bool:
    return type(value) is dict or isinstance(value, Mapping)  # the second takes ten times as long


@cache
def _fields(cls: type) -> list[tuple[str, Any, Codec]]:
    hints = get_type_hints(cls)
    out = []
    for field in dataclasses.fields(cls):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        out.append((field.name, default, _codec(hints[field.name])))
    return out


@cache
def _codec(hint: Any) -> Codec:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return _same, _same
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return dump, partial(_load, hint)
    if origin is Literal:
        return _same, _one_of(args)
    if origin is tuple:
        encode, decode = _codec(args[0])
        return (lambda value: [encode(v) for v in value]), _each(decode)
    if origin in (Union, types.UnionType):
        return _union(args)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict, _object
    if hint is float:
        return _same, _number
    return _same, _plain(hint)


def _union(args: tuple[Any, ...]) -> Codec:
    codecs = [(arg, _codec(arg)) for arg in args if arg is not type(None)]
    optional = len(codecs) < len(args)

    def encode(value: Any) -> Any:
        if isinstance(value, tuple):
            return [dict(v) if isinstance(v, Mapping) else v for v in value]
        return dump(value) if dataclasses.is_dataclass(value) else value

    def decode(value: Any) -> Any:
        if value is None and optional:
            return None
        problem = _Misfit(" must not be null")
        for _, (_, inner) in codecs:
            try:
                return inner(value)
            except _Misfit as error:
                problem = error
        raise problem

    return encode, decode


def _same(value: Any) -> Any:
    return value


def _object(value: Any) -> Any:
    if not _is_object(value):
        raise _Misfit(" must be an object")
    return value


def _plain(kind: type) -> Callable[[Any], Any]:
    def decode(value: Any) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise _Misfit(f" must be of type {kind.__name__}")
        return value

    return decode


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Misfit(" must be a number")
    return float(value)


def _one_of(choices: tuple[Any, ...]) -> Callable[[Any], Any]:
    def decode(value: Any) -> Any:
        if value not in choices:
            raise _Misfit(f" must be one of {', '.join(map(str, choices))}")
        return value

    return decode


def _each(decode: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def all_of(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _Misfit(" must be a list")
        return tuple([decode(v) for v in value])

    return all_of
