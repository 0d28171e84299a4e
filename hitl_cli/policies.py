"""What a program says of its own about calls: `always`, `never`, `once`, or a function, by tool name.

A policy knows the session's past only through the journal, so `once` holds in another process as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hitl_cli.journal import Call, exact
from hitl_cli.permissions.rule import Decision
from hitl_cli.records import Struct

Key = str | tuple[str, ...]  # a tool's name, several of them, or "*"


class Past(Struct, frozen=True):
    """What a policy may know of the session: which exact calls a person approved as they were."""

    _approved: frozenset[str] = frozenset()

    def approved(self, call: Call) -> bool:
        return exact(call.name, call.input) in self._approved


Own = Callable[[Call, Past], Any]  # -> Decision, or None to leave it to rules and mode; may be async


def always(call: Call, past: Past) -> Decision:
    """Ask every time.

    >>> always(Call("1.1.0", "deploy", {}), Past())
    <Decision.ASK: 1>
    """
    return Decision.ASK


def never(call: Call, past: Past) -> Decision:
    """Do not ask.

    >>> never(Call("1.1.0", "deploy", {}), Past())
    <Decision.ALLOW: 0>
    """
    return Decision.ALLOW


def once(call: Call, past: Past) -> Decision:
    """Ask until a person approved this very call, unchanged, in this session.

    >>> once(Call("1.1.0", "deploy", {"env": "x"}), Past())
    <Decision.ASK: 1>
    """
    return Decision.ALLOW if past.approved(call) else Decision.ASK


def policy_for(policies: Mapping[Key, Own], tool: str) -> Own | None:
    """The policy for a tool: by its name, else the first tuple that has it, else `*`."""
    if tool in policies:
        return policies[tool]
    several = (own for names, own in policies.items() if isinstance(names, tuple) and tool in names)
    return next(several, policies.get("*"))


_NAMED: dict[str, Own] = {"always": always, "never": never, "once": once}


def dump_policies(policies: Mapping[Key, Own]) -> dict[str, str]:
    """Named policies as JSON; several names become a JSON list. ValueError for functions of one's own, and for a name
    that begins with a bracket, which would read as a list.

    >>> dump_policies({"Bash": once, ("a", "b"): never})
    {'Bash': 'once', '["a", "b"]': 'never'}
    """
    names = {own: name for name, own in _NAMED.items()}
    if any(own not in names for own in policies.values()):
        raise ValueError(f"only {', '.join(_NAMED)} can be written down")
    odd = [key for key in policies if isinstance(key, str) and key.startswith("[")]
    if odd:
        raise ValueError(f"a name cannot begin with a bracket: {', '.join(odd)}")
    return {key if isinstance(key, str) else json.dumps(key): names[own] for key, own in policies.items()}


def load_policies(data: Mapping[str, str]) -> dict[Key, Own]:
    """What `dump_policies` wrote; ValueError for what it never writes.

    >>> load_policies({'["a", "b"]': "never"}) == {("a", "b"): never}
    True
    """
    unknown = sorted(set(data.values()) - set(_NAMED))
    if unknown:
        raise ValueError(f"there is no policy {', '.join(unknown)}; there are {', '.join(_NAMED)}")
    return {_key(key): _NAMED[name] for key, name in data.items()}


def _key(text: str) -> Key:
    if not text.startswith("["):
        return text
    names = json.loads(text)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{text} is no list of names")
    return tuple(names)
