"""What the shell's own commands do: without effect, on the variables, on the folder, or on the meaning of later words.

Only the forms listed are settled; a built-in used in another way makes the text opaque, because from there on words may
mean something else (`alias`, `hash -p`, `enable`, `shopt -s extglob`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from hitl_cli.access import Act, Unknown, Word
from hitl_cli.records import Struct
from hitl_cli.regex import later
from hitl_cli.shell import variables
from hitl_cli.shell.possible import POSITIONAL
from hitl_cli.shell.programs.table import word_set
from hitl_cli.shell.shells import STDIN
from hitl_cli.shell.showing import SHOWING, shows
from hitl_cli.shell.tree import Unreadable

_VARIABLE = later(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ASSIGNED = later(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)\Z", re.DOTALL)
_SET = later(r"[-+][aeuxvfbhmCE]+o?\Z|[-+]o\Z")
_SET_O = word_set("pipefail errexit nounset xtrace verbose noclobber noglob errtrace functrace")
_SHOPT = word_set("nullglob globstar failglob inherit_errexit nocasematch")  # none by which a pattern meets more names
_SIGNALS = later(r"(?:SIG)?(?:EXIT|ERR|DEBUG|RETURN|[A-Z]{2,8}[0-9]*)\Z|[0-9]+\Z")


class Effect(Struct, gc=False):
    """What a built-in does.

    free     why it needs no rule, "" when it needs one
    acts     words that only an exact rule consents to
    assigns  variables whose value may now be anything
    text     a script it runs, now or later
    enters   the folder it goes to, None when it stays
    exports  from here on every variable that is set reaches programs
    gives    words that a variable is given
    """

    free: str = ""
    acts: tuple[Act, ...] = ()
    assigns: tuple[str, ...] = ()
    text: str | None = None
    enters: Word | None = None
    exports: bool = False
    gives: tuple[tuple[str, Word], ...] = ()


_NOTHING = Effect("it has no effect")
_PRINTS = Effect("it only prints its words")


def _waits(words: tuple[Word, ...]) -> Effect:
    """jobs and wait, without `jobs -x`, which runs a command, and `wait -p`, which sets a variable."""
    for word in words[1:]:
        text = word if isinstance(word, str) else word.text
        if text != "$!" and not re.fullmatch(r"-[nlrsf]|%?[0-9+%-]+", text):
            raise Unreadable(f"{words[0]} is given more than jobs")
    return _NOTHING


def _refused(words: tuple[Word, ...]) -> Effect:
    raise Unreadable(f"{words[0]} changes what later words mean")


def _printf(words: tuple[Word, ...]) -> Effect:
    first = words[1] if len(words) > 1 else ""
    if first == "--" and len(words) > 2:
        first = words[2]
    if isinstance(first, Unknown):
        if first.safe and len(words) == 2:
            return _PRINTS
        return Effect(acts=(Act(words.index(first), "may set a variable"),))
    if first.startswith("-v"):
        target = words[2] if first == "-v" and len(words) > 2 else first[2:]
        if not isinstance(target, str) or not _VARIABLE.match(target):
            raise Unreadable("printf -v sets what is not a plain variable")
        return _sets((target,), words, given=words[2:])
    if re.search(r"%[^a-zA-Z%]*n", first):
        raise Unreadable("printf %n sets a variable")
    return _PRINTS


def _sets(names: tuple[str, ...], words: tuple[Word, ...], given: tuple[Word, ...] = ()) -> Effect:
    gives = tuple((name, word) for name in names for word in given)
    for name in names:
        reason = variables.stays(name, Unknown(""))
        if reason:
            at = next((i for i, w in enumerate(words) if isinstance(w, str) and name in w), 0)
            return Effect(acts=(Act(at, reason),), assigns=names, gives=gives)
    return Effect("it only sets variables of its own", assigns=names, gives=gives)


def _read(words: tuple[Word, ...]) -> Effect:
    """`read -r name…`: options with a value are -d -i -n -N -p -t -u, -a takes an array."""
    names, at = [], 1
    while at < len(words):
        word = words[at]
        at += 1
        if isinstance(word, str) and re.fullmatch(r"-[ersE]*[dinNptu]", word):
            at += 1
        elif isinstance(word, str) and re.fullmatch(r"-[ersE]*[dinNptu].+|-[ersE]+", word):
            continue
        elif isinstance(word, str) and re.fullmatch(r"-[ersE]*a", word) and at < len(words):
            names.append(words[at])
            at += 1
        else:
            names.append(word)
    if not all(isinstance(n, str) and _VARIABLE.match(n) for n in names):
        raise Unreadable("read sets what is not a plain variable")
    return _sets(tuple(str(n) for n in names) or ("REPLY",), words)


def _mapfile(words: tuple[Word, ...]) -> Effect:
    names, at = [], 1
    while at < len(words):
        word = words[at]
        at += 1
        if isinstance(word, str) and re.fullmatch(r"-[dnOsu]", word):
            at += 1
        elif word != "-t":
            names.append(word)
    if not all(isinstance(n, str) and _VARIABLE.match(n) for n in names):
        raise Unreadable(f"{words[0]} is given more than the name of an array")
    return _sets(tuple(str(n) for n in names) or ("MAPFILE",), words)


def _export(words: tuple[Word, ...]) -> Effect:
    """export, readonly, declare, typeset, local with plain names and values."""
    acts: list[Act] = []
    gives: list[tuple[str, Word]] = []
    exported, ruled = words[0] == "export", False
    for at, word in enumerate(words[1:], 1):
        text = word if isinstance(word, str) else word.prefix
        if re.fullmatch(r"-[xrgpn]*", text) and isinstance(word, str) and not gives:
            if "n" in text and words[0] != "export":
                raise Unreadable(f"{words[0]} -n makes one name stand for another")
            exported = exported or "x" in text
            continue
        found = _ASSIGNED.match(text)
        if found is None and not (isinstance(word, str) and _VARIABLE.match(word)):
            raise Unreadable(f"{words[0]} is given more than plain names and values")
        name = found.group(1) if found else text
        known = found is not None and isinstance(word, str) and not found.group(2)
        source = word if isinstance(word, str) else word.text
        value: Word = found.group(3) if known and found else Unknown(source.partition("=")[2])
        if reason := variables.stays(name, value):
            acts.append(Act(at, reason))
        ruled = ruled or (exported and bool(variables.reaches(name, value)))
        gives.append((name, value))
    names = tuple(name for name, _ in gives)
    return Effect("" if acts or ruled else "it only sets variables", tuple(acts), names, gives=tuple(gives))


def _unset(words: tuple[Word, ...]) -> Effect:
    names = [w for w in words[1:] if w not in ("-v",)]
    if not all(isinstance(n, str) and _VARIABLE.match(n) for n in names):
        raise Unreadable("unset is given more than plain names of variables")
    return _sets(tuple(str(n) for n in names), words)


def _set(words: tuple[Word, ...]) -> Effect:
    at, exports = 1, False
    while at < len(words):
        word = words[at]
        if not isinstance(word, str):
            raise Unreadable("an option of set is known only when it runs")
        exports = exports or (word[:1] == "-" and "a" in word)
        if word in ("--", "-") or not word.startswith(("-", "+")):
            gives = tuple((POSITIONAL, each) for each in words[at + (word in ("--", "-")) :])
            return Effect("it only sets the positional parameters", exports=exports, gives=gives)
        if not _SET.match(word):
            raise Unreadable(f"set {word} changes how later words are read")
        at += 1
        if word.endswith("o"):
            if at < len(words) and words[at] not in _SET_O:
                raise Unreadable("set -o changes how later words are read")
            at += 1
    return Effect("it only sets how errors and variables are treated", exports=exports)


def _shopt(words: tuple[Word, ...]) -> Effect:
    if all(w in ("-s", "-u", "-q", "-p") or w in _SHOPT for w in words[1:]):
        return Effect("it only sets how wildcards are matched")
    raise Unreadable("shopt changes how later words are read")


def _cd(words: tuple[Word, ...]) -> Effect:
    rest = list(words[1:])
    physical = False
    while rest and rest[0] in ("-L", "-P", "-e", "-@", "--"):
        physical = physical or rest[0] in ("-P", "-@")
        if rest.pop(0) == "--":
            break
    if physical:
        return Effect(enters=Unknown("-P"))
    if len(rest) > 1:
        raise Unreadable("cd is given more than one folder")
    target = rest[0] if rest else "~"
    return Effect(enters=Unknown("~") if target == "~" else Unknown("-") if target == "-" else target)


def _pushd(words: tuple[Word, ...]) -> Effect:
    target = words[1] if len(words) == 2 else Unknown("pushd")
    if isinstance(target, str) and target[:1] in "+-":
        target = Unknown(target)
    return Effect(enters=target)


def _trap(words: tuple[Word, ...]) -> Effect:
    rest = list(words[1:])
    if rest and rest[0] == "--":
        rest.pop(0)
    if not rest or rest[0] in ("-l", "-p", "-", "") or (isinstance(rest[0], str) and rest[0].isdigit()):
        return Effect("it only resets signals")
    if not all(isinstance(w, str) for w in rest) or len(rest) < 2:
        raise Unreadable("what trap runs is known only when it runs")
    if not all(_SIGNALS.match(str(w)) for w in rest[1:]):
        raise Unreadable("trap is given what is no signal")
    return Effect("what it runs is judged as a part of its own", text=str(rest[0]))


def _test(words: tuple[Word, ...]) -> Effect:
    """`test` and `[`: free when no operand can be taken for `-v NAME[SUBSCRIPT]`, which would run the subscript."""
    operands = list(words[1:])
    if words[0] == "[" and (not operands or operands.pop() != "]"):
        raise Unreadable("`[` is not closed")
    for at, word in enumerate(operands):
        if word in ("-v", "-R") and at + 1 < len(operands):
            after = operands[at + 1]
            if not (isinstance(after, str) and _VARIABLE.match(after)):
                raise Unreadable("a test `-v` evaluates a subscript")
    if not all(isinstance(w, str) or w.single or w.safe for w in operands):
        raise Unreadable("an operand of a test may become several words")
    if any(isinstance(w, Unknown) for w in operands) and not _settled(operands):
        raise Unreadable("which operand of a test is its operator is known only when it runs")
    return Effect("a test has no effect")


def _settled(operands: list[Word]) -> bool:
    """True when each expression between literal `-a`, `-o` and `!` has its operator spelled out."""
    pieces: list[list[Word]] = [[]]
    for word in operands:
        if word in ("-a", "-o"):
            pieces.append([])
        elif word != "!" or pieces[-1]:
            pieces[-1].append(word)
    for piece in pieces:
        if len(piece) == 1 or (len(piece) == 2 and isinstance(piece[0], str) and piece[0].startswith("-")):
            continue
        if len(piece) == 3 and isinstance(piece[1], str):
            continue
        return False
    return True


def _source(words: tuple[Word, ...]) -> Effect:
    if len(words) > 1 and (words[1] in STDIN or (isinstance(words[1], Unknown) and words[1].text.startswith("<("))):
        raise Unreadable("it runs what another command prints")
    return Effect(acts=(Act(min(1, len(words) - 1), "runs a file in this shell"),))


def _unless_it_shows(otherwise: Callable[[tuple[Word, ...]], Effect], words: tuple[Word, ...]) -> Effect:
    return Effect("it only shows what is set") if shows(words) else otherwise(words)


# What each of them does with its words. Raises Unreadable.
BUILTINS: dict[Word, Callable[[tuple[Word, ...]], Effect]] = {
    **dict.fromkeys(
        word_set("true false : pwd exit return break continue shift times type logout dirs"), lambda words: _NOTHING
    ),
    **dict.fromkeys(word_set("alias enable bind compgen complete compopt fc history getopts let suspend"), _refused),
    **dict.fromkeys(word_set("kill disown ulimit umask fg bg caller help unalias"), lambda words: Effect()),
    **dict.fromkeys(word_set("export readonly declare typeset local"), _export),
    "jobs": _waits,
    "wait": _waits,
    "exec": lambda words: Effect("it only redirects" if len(words) == 1 else ""),
    "hash": lambda words: _NOTHING if words[1:] == ("-r",) else _refused(words),
    "source": _source,
    ".": _source,
    "echo": lambda words: _PRINTS,
    "printf": _printf,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "unset": _unset,
    "set": _set,
    "shopt": _shopt,
    "cd": _cd,
    "pushd": _pushd,
    "popd": lambda words: Effect(enters=Unknown("popd")),
    "trap": _trap,
    "test": _test,
    "[": _test,
    "command": lambda words: _NOTHING,  # with -v or -V: any other form is peeled
}
BUILTINS |= {name: partial(_unless_it_shows, BUILTINS[name]) for name in SHOWING}
