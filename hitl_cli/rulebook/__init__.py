"""All rules that hold in a place, from every layer, and the one way in which the program adds to them.

Layers: managed, flag, session, project, user, repository, packs. They do not outrank one another; a layer only says where
a rule comes from, and of the repository's file, which a stranger may have written, allow rules and packs count only once
a person has trusted its content.

Adding a rule happens under a lock: read again, add one, replace the file in one step, read it back and find the rule in
it. Concurrent sessions lose nothing; what a person wrote in the file stays as it was.

    layers    every layer read, in one policy
    trust     whether a repository's file counts
    writing   rules and packs added, taken away, switched
    replacing a file replaced in one step, under its lock
"""

from hitl_cli.rulebook.layers import DEFAULT_PACKS, Rulebook, Scope, available, file_of, granted, load, pack
from hitl_cli.rulebook.trust import TrustState, trust, trust_state, untrust
from hitl_cli.rulebook.writing import add, remove, switch, switch_rule

__all__ = [
    "DEFAULT_PACKS",
    "Rulebook",
    "Scope",
    "TrustState",
    "add",
    "available",
    "file_of",
    "granted",
    "load",
    "pack",
    "remove",
    "switch",
    "switch_rule",
    "trust",
    "trust_state",
    "untrust",
]
