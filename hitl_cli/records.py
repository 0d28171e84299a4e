"""Frozen records as plain JSON objects and back, from their type hints alone.

A field that holds its default is left out, so a record reads as short as it is and a new optional field needs no upgrader.
Loading checks every value against its hint and raises ValueError with the field's name: nothing is guessed.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Codec = tuple[Callable[[Any], Any], Callable[[Any, str], Any]]


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
    where = where or cls.__name__
    if not isinstance(data, Mapping):
        raise ValueError(f"{where} must be an object")
    fields = _fields(cls)  # type: ignore[arg-type]
    known = {}
    for name, default, (_, decode) in fields:
        if name in data:
            known[name] = decode(data[name], f"{where}.{name}")
        elif default is dataclasses.MISSING:
            raise ValueError(f"{where}.{name} is missing")
    if len(known) != len(data):
        raise ValueError(f"{where} has unknown fields: {', '.join(sorted(set(data) - set(known)))}")
    return cls(**known)


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
        return _same, lambda value, where: value
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return dump, lambda value, where: load(hint, value, where)
    if origin is Literal:
        return _same, _one_of(args)
    if origin is tuple:
        encode, decode = _codec(args[0])
        return (lambda value: [encode(v) for v in value]), _each(decode)
    if origin in (Union, types.UnionType):
        return _union(args)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict, _plain(Mapping, "an object")
    if hint is float:
        return _same, lambda value, where: float(_number(value, where))
    return _same, _plain(hint, f"of type {hint.__name__}")


def _union(args: tuple[Any, ...]) -> Codec:
    codecs = [(arg, _codec(arg)) for arg in args if arg is not type(None)]
    optional = len(codecs) < len(args)

    def encode(value: Any) -> Any:
        if isinstance(value, tuple):
            return [dict(v) if isinstance(v, Mapping) else v for v in value]
        return dump(value) if dataclasses.is_dataclass(value) else value

    def decode(value: Any, where: str) -> Any:
        if value is None and optional:
            return None
        problem: ValueError = ValueError(f"{where} must not be null")
        for _, (_, inner) in codecs:
            try:
                return inner(value, where)
            except ValueError as error:
                problem = error
        raise problem

    return encode, decode


def _same(value: Any) -> Any:
    return value


def _plain(kind: Any, words: str) -> Callable[[Any, str], Any]:
    def decode(value: Any, where: str) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"{where} must be {words}")
        return value

    return decode


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where} must be a number")
    return value


def _one_of(choices: tuple[Any, ...]) -> Callable[[Any, str], Any]:
    def decode(value: Any, where: str) -> Any:
        if value not in choices:
            raise ValueError(f"{where} must be one of {', '.join(map(str, choices))}")
        return value

    return decode


def _each(decode: Callable[[Any, str], Any]) -> Callable[[Any, str], tuple[Any, ...]]:
    def all_of(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{where} must be a list")
        return tuple([decode(v, where) for v in value])

    return all_of
