"""Programs that run another command in turn, and how their words are told from the words of that command.

A row names the options without and with a value; an option that is not listed makes the call opaque, for what follows
it may be its value or the command. What a row does not know is never guessed.
"""

from __future__ import annotations

import re

from hitl_cli.access import Unknown, Word
from hitl_cli.regex import later
from hitl_cli.shell.programs import SYSTEM_FOLDERS
from hitl_cli.shell.shells import SHELLS, shell
from hitl_cli.shell.tree import Unreadable
from hitl_cli.shell.wrapper_rows import ALIASES, ROWS, Layer, Row

_ASSIGNMENT = later(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)\Z", re.DOTALL)
_EMPTYING = frozenset(("i", "ignore-environment", "u", "unset"))  # options of env
WRAPPERS = frozenset((*ROWS, *ALIASES, *SHELLS, "find", "gfind", "eval"))
RUN_TIME = Unknown("…")  # words that arrive when it runs: what xargs reads


def base_name(word: Word) -> str:
    """The name of a program when it is a bare word or in a system folder, else ""."""
    if not isinstance(word, str):
        return ""
    if "/" not in word:
        return word
    folder, _, base = word.rpartition("/")
    return base if folder in SYSTEM_FOLDERS else ""


def peel(words: tuple[Word, ...]) -> Layer | None:
    """The wrapper that `words` begin with (one of WRAPPERS) taken off, None when nothing is run. Raises Unreadable."""
    name = base_name(words[0])
    name = ALIASES.get(name, name)
    if name in SHELLS:
        return shell(name, words)
    if name in ("find", "gfind"):
        return _find(words)
    if name == "eval":
        return _eval(words)
    return _program(name, ROWS[name], words)


def _program(name: str, row: Row, words: tuple[Word, ...]) -> Layer | None:
    if name == "command" and any(isinstance(w, str) and re.match(r"-p*[vV]", w) for w in words[1:2]):
        return None
    layer = Layer(stays=row.stays)
    at, given = _options(name, row, words, layer)
    if name == "env" and (split := given.get("S", given.get("split-string"))) is not None:
        return _split_string(layer, split, words, at)
    layer.fresh = name in ("sudo", "doas", "pkexec", "exec") or not given.keys().isdisjoint(_EMPTYING)
    if row.assigns:
        at = _assignments(words, at, layer)
        if layer.assigns and words[at : at + 1] == ("--",):
            at += 1
    first = at
    at += row.operands
    if any(isinstance(w, Unknown) for w in words[first:at]):
        raise Unreadable(f"an operand of {name} is known only when it runs")
    if name == "flock" and first < len(words):
        layer.writes = (words[first],)
        if words[at : at + 1] == ("-c",) or "c" in given:
            return _flock_text(layer, words, at)
    inner = tuple(words[at:])
    if name == "xargs":
        inner = _xargs(inner, given)
    if name == "watch" and inner and not ("x" in given or "exec" in given):
        layer.text = _text_of(inner, name)
        return layer
    if not inner:
        return None if not (layer.reads or layer.writes or layer.assigns) or name in ("env", "flock") else layer
    layer.inner, layer.at = inner, at
    return layer


def _options(name: str, row: Row, words: tuple[Word, ...], layer: Layer) -> tuple[int, dict[str, Word]]:
    """The index after the options, and the options given with their values ("" for a flag)."""
    given: dict[str, Word] = {}
    at = 1
    while at < len(words):
        word = words[at]
        if isinstance(word, Unknown):
            if word.safe:
                break
            raise Unreadable(f"what follows {name} is known only when it runs")
        if word == "--":
            at += 1
            break
        if word == "-" and name == "env":
            given["i"] = ""
            at += 1
            continue
        if not word.startswith("-") or word == "-":
            break
        if name == "nice" and re.fullmatch(r"-[0-9]+|--[0-9]+", word):
            at += 1
            continue
        at = _long(name, row, words, at, given) if word.startswith("--") else _short(name, row, words, at, given)
    for option, value in given.items():
        if option in row.refused:
            raise Unreadable(f"{name} -{option} is not followed")
        if option in row.writes:
            if isinstance(value, str) and value.startswith(("|", "!")):
                raise Unreadable(f"{name} -{option} runs a program")
            layer.writes = (*layer.writes, value)
        elif option in row.reads:
            layer.reads = (*layer.reads, value)
        elif option in row.folder:
            layer.folder = value
    return at, given


def _long(name: str, row: Row, words: tuple[Word, ...], at: int, given: dict[str, Word]) -> int:
    word = words[at]
    assert isinstance(word, str)
    option, glued, value = word[2:].partition("=")
    if option in row.long_values:
        if glued:
            given[option] = value
            return at + 1
        if at + 1 >= len(words):
            raise Unreadable(f"{name} --{option} has no value")
        given[option] = words[at + 1]
        return at + 2
    optional = glued and (name, option) in (("sudo", "preserve-env"), ("xargs", "replace"), ("xargs", "max-lines"))
    if (option in row.long and not glued) or optional or (name == "xargs" and option in ("replace", "eof")):
        given[option] = value if optional else ""
        return at + 1
    raise Unreadable(f"the option --{option} of {name} is not known")


def _short(name: str, row: Row, words: tuple[Word, ...], at: int, given: dict[str, Word]) -> int:
    word = words[at]
    assert isinstance(word, str)
    for place, letter in enumerate(word[1:], 1):
        rest = word[place + 1 :]
        if name == "xargs" and letter in "iel":  # their value is optional and glued
            given[letter] = rest
            return at + 1
        if letter in row.values:
            if rest:
                given[letter] = rest
                return at + 1
            if at + 1 >= len(words):
                raise Unreadable(f"{name} -{letter} has no value")
            given[letter] = words[at + 1]
            return at + 2
        if letter in row.flags or letter in row.refused or (name == "flock" and letter == "c"):
            given[letter] = ""
        else:
            raise Unreadable(f"the option -{letter} of {name} is not known")
    return at + 1


def _assignments(words: tuple[Word, ...], at: int, layer: Layer) -> int:
    found = []
    while at < len(words):
        word = words[at]
        text = word if isinstance(word, str) else word.prefix
        match = _ASSIGNMENT.match(text)
        if match is None:
            if isinstance(word, Unknown) and not word.safe:
                raise Unreadable("whether a word is an assignment or a program is known only when it runs")
            break
        if isinstance(word, Unknown) and not word.single:
            raise Unreadable("an assignment may become several words")
        found.append((match.group(1), match.group(2) if isinstance(word, str) else Unknown(word.text)))
        at += 1
    layer.assigns = tuple(found)
    return at


def _split_string(layer: Layer, split: Word, words: tuple[Word, ...], at: int) -> Layer:
    if not isinstance(split, str) or re.search(r"[\\\"'$#]", split):
        raise Unreadable("env -S splits a text that is not plain words")
    inner = _program("env", ROWS["env"], ("env", *split.split(), *words[at:]))
    if inner is None:
        return layer
    inner.at = len(words)  # no leading words of the call spell the program
    inner.fresh = inner.fresh or layer.fresh
    inner.folder = inner.folder or layer.folder
    return inner


def _xargs(inner: tuple[Word, ...], given: dict[str, Word]) -> tuple[Word, ...]:
    if not inner:
        inner = ("echo",)
    mark = given.get("I", given.get("i", given.get("replace")))
    if mark is None:
        return (*inner, RUN_TIME)
    mark = mark or "{}"
    if not isinstance(mark, str):
        raise Unreadable("the mark of xargs is known only when it runs")
    return replaced(inner, mark, safe=False)


def replaced(words: tuple[Word, ...], mark: str, safe: bool, prefix: str = "") -> tuple[Word, ...]:
    """`words` with each one that holds `mark` unknown: something else will stand there."""
    out: list[Word] = []
    for word in words:
        if isinstance(word, str) and mark in word:
            begin = word[: word.index(mark)]
            firm = bool(begin and begin[0] != "-") or (safe and word.startswith(mark))
            out.append(Unknown(word, word == mark and bool(prefix), begin + prefix, firm, True))
        else:
            out.append(word)
    return tuple(out)


def _find(words: tuple[Word, ...]) -> Layer | None:
    layers: list[Layer] = []
    at = 1
    starts: list[Word] = []
    while at < len(words) and words[at] in ("-H", "-L", "-P"):
        at += 1
    for word in words[at:]:
        if isinstance(word, str) and word.startswith(("-", "(", "!")):
            break
        starts.append(word)
    safe = all(isinstance(s, str) or s.safe for s in starts)
    prefix = starts[0] if len(starts) == 1 and isinstance(starts[0], str) else "." if not starts else ""
    while at < len(words):
        word = words[at]
        at += 1
        if word not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        end = at
        while end < len(words) and not (words[end] == ";" or (words[end] == "+" and words[end - 1] == "{}")):
            end += 1
        if end >= len(words) or end == at:
            raise Unreadable("what find runs is not ended")
        here = word in ("-exec", "-ok")
        inner = replaced(words[at:end], "{}", safe or not here, prefix if here else "./")
        layers.append(Layer(inner, at, stays=True, anywhere=not here))
        at = end + 1
    if not layers:
        return None
    layers[0].more = layers[1:]
    return layers[0]


def _eval(words: tuple[Word, ...]) -> Layer | None:
    if len(words) == 1:
        return None
    return Layer(text=_text_of(words[2:] if words[1] == "--" else words[1:], "eval"))


def _text_of(words: tuple[Word, ...], name: str) -> str:
    if not all(isinstance(w, str) for w in words):
        raise Unreadable(f"the text that {name} runs is known only when it runs")
    return " ".join(w for w in words if isinstance(w, str))


def _flock_text(layer: Layer, words: tuple[Word, ...], at: int) -> Layer:
    rest = [w for w in words[at:] if w != "-c"]
    if len(rest) != 1 or not isinstance(rest[0], str):
        raise Unreadable("the text that flock runs is not one literal word")
    layer.text = rest[0]
    return layer
