"""Regular expressions that are compiled at their first use.

Compiling takes 0.1 to 1 ms each, hundreds stand at the tops of modules, and one command uses a handful of them.
"""

from __future__ import annotations

import re

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn", "pattern", "flags")


class _Later:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> object:  # called only while the attributes below are not there
        if name not in _METHODS:
            raise AttributeError(name)
        made = re.compile(*self._source)
        self.__dict__.update((method, getattr(made, method)) for method in _METHODS)
        return self.__dict__[name]


def later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(pattern, flags)` for the top of a module. A pattern that is none raises `re.error` at its first use."""
    return _Later(pattern, flags)  # type: ignore[return-value]
