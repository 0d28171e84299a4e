"""The words of one command sorted into options and operands, with the row of its program.

It errs to one side. An option that the row does not list is taken for a flag, so its value is looked at as an operand
and, when it begins with a dash, as an option; a `--` that may be the value of such an option does not end the options.
A word whose value is not known and that may be an option is an act where the program has any option that acts.
"""

from __future__ import annotations

from hitl_cli.access import Unknown, Word
from hitl_cli.shell.programs.outputs import is_one_plain_word
from hitl_cli.shell.programs.reading import Given, Reading
from hitl_cli.shell.programs.table import EFFECTS, Option, Row

MAY_BE_OPTION = "may turn out to be an option that acts"
_STREAMED = frozenset(("read", "write", "make"))  # where `-` is a standard stream


def sort(reading: Reading, start: int = 1) -> None:
    """Sort the words from `start` on and note what they touch."""
    row, words = reading.row, reading.words
    given, operands, places = reading.given, reading.operands, reading.places
    marks = row.marks  # what options begin with, "" where they have ended
    doubtful = 0  # where a `--` may be the value of the option before it
    at, end = start, len(words)
    while at < end:
        word = words[at]
        if not isinstance(word, str):
            at = _unknown(reading, word, at, not marks)
            row = reading.row
        elif len(word) > 1 and word[0] in marks:
            flags = row.flags.get(word)
            if flags is not None:
                for name in flags:
                    given.append(Given(name, None, at))
                at += 1
            elif (option := row.known.get(word)) is not None:
                at = _give(reading, option, None, at)
            elif word != "--":
                at = _option(reading, word, at)
            else:
                if at == doubtful or _may_take(reading, at):
                    doubtful = at + 1
                else:
                    marks = ""
                at += 1
            continue
        elif row.subs is None or operands:
            operands.append(word)
            places.append(at)
            at += 1
        else:
            _first(reading, at, word)
            at += 1
            row = reading.row
            marks = marks and row.marks
        if row.stops and len(operands) >= row.stops:
            operands += words[at:]
            places += range(at, end)
            break
    if row.operands:
        _touch(reading, row.operands)
    if row.inner is not None and len(operands) > row.inner:
        reading.inner = places[row.inner]
    if row.at_files:
        for at, word in reading.placed():
            if isinstance(word, str) and word.startswith("@"):
                reading.act(at, "takes options from a file")
    if row.then is not None:
        row.then(reading)


def delegate(reading: Reading, row: Row | None, start: int) -> None:
    """The words behind `start` are those of another program (`uv run pytest …`): sort them with its row."""
    reading.inner = start
    if row is None:
        return
    reading.row = row.compile()
    reading.given, reading.operands, reading.places, reading.sub = [], [], [], ()
    sort(reading, start + 1)


def _operand(reading: Reading, at: int, word: Word) -> None:
    if reading.row.subs is not None and not reading.operands:
        _first(reading, at, word)
    else:
        reading.operands.append(word)
        reading.places.append(at)


def _first(reading: Reading, at: int, word: Word) -> None:
    """The word that chooses a sub-command, or the first operand of a program that also goes without."""
    row = reading.row
    chosen = row.other
    if not isinstance(word, str):
        reading.act(at, "names a sub-command that is known only at run time")
    elif row.subs is not None:
        chosen = row.subs.get(word, chosen)
    if chosen is None:
        reading.operands.append(word)
        reading.places.append(at)
        return
    reading.sub = (*reading.sub, at)
    reading.row = chosen if chosen.ready else chosen.compile(row.known if row.shared else None)
    if chosen.act:
        reading.act(at, chosen.act)


def _touch(reading: Reading, effect: str) -> None:
    """What its operands name, with the effect that they have."""
    operands = reading.operands
    if effect == "list":
        reading.lists += operands
    elif effect == "read" and "-" not in operands:
        reading.reads += operands
    else:
        for at, word in zip(reading.places, operands, strict=True):
            reading.touch(effect, word, at)


def _may_take(reading: Reading, at: int) -> bool:
    """Whether the word at `at` may be the value of the option in front of it, which the row does not list."""
    row = reading.row
    if row.abbreviates or not reading.given:
        return False
    last = reading.given[-1]
    return last.at == at - 1 and last.value is None and last.name not in row.known


def _option(reading: Reading, word: str, at: int) -> int:
    """Record the options of a word that the row does not list as it stands; the index of the word behind it."""
    options, value = reading.row.meaning(word)
    after = at + 1
    for option in options:
        after = _give(reading, option, value if option is options[-1] else None, at)
    return after


def _give(reading: Reading, option: Option, value: Word | None, at: int) -> int:
    """Record an option with its value (the next word where it takes one and none is glued on); the index of the word
    behind it."""
    takes, does, words = option.takes, option.does, reading.words
    after = at + 1
    if takes == "=" and value is None and after < len(words):
        value = words[after]
        if not isinstance(value, str):
            if _splits(reading, value) or (not reading.row.dashes and _may_be_option(reading, value)):
                reading.act(after, MAY_BE_OPTION)
            after += 1
        elif reading.row.dashes or value == "-" or value[:1] != "-":
            after += 1
        else:
            value = None
    elif takes == "==":
        for second in words[after + 1 : after + 2]:
            value = second
        for behind in range(after, min(after + 2, len(words))):
            word = words[behind]
            if not isinstance(word, str) and _splits(reading, word):
                reading.act(behind, MAY_BE_OPTION)
        after += 2
    elif takes == ";":
        while after < len(words) and words[after] not in (";", "+"):
            after += 1
        after += 1
    reading.given.append(Given(option.name, value, at))
    if does and (not takes or value is not None or does not in EFFECTS) and not (value == "-" and does in _STREAMED):
        reading.touch(does, value or "", at)
    return after


def _splits(reading: Reading, word: Unknown) -> bool:
    """Whether the word may become several, one of them an option that acts."""
    if not reading.row.acting or word.safe or word.single or is_one_plain_word(word):
        return False
    return not (word.glob and word.prefix and word.prefix[0] != "-")


def _unknown(reading: Reading, word: Unknown, i: int, ended: bool) -> int:
    prefix = word.prefix
    if _splits(reading, word) and not ended:
        reading.act(i, MAY_BE_OPTION)
    if ended or word.safe or (prefix and prefix[0] != "-"):
        _operand(reading, i, word)
        return i + 1
    if prefix.startswith("-") and len(prefix) > 1:
        return _half_known(reading, word, i)
    if _may_be_option(reading, word):
        reading.act(i, MAY_BE_OPTION)
    _operand(reading, i, word)
    return i + 1


def _may_be_option(reading: Reading, word: Unknown) -> bool:
    if not reading.row.acting or word.safe or (not word.prefix and is_one_plain_word(word)):
        return False
    return not word.prefix or word.prefix[0] == "-"


def _half_known(reading: Reading, word: Unknown, i: int) -> int:
    """`--jobs=$(nproc)`, `-j"$n"`, `-$flags`: an option with a value that is not known, or of which half is."""
    prefix, row = word.prefix, reading.row
    if prefix[1] == "-" or row.single:
        name, equals, rest = prefix.partition("=")
        option = row.long(name)[1]
        if equals:
            if option is not None:
                _give(reading, option, _tail(word, rest), i)
            return i + 1
    else:
        for k in range(1, len(prefix)):
            option = row.known.get("-" + prefix[k])
            if option is not None and option.takes:
                _give(reading, option, _tail(word, prefix[k + 1 :]), i)
                return i + 1
            if option is not None:
                _give(reading, option, None, i)
    if row.acting:
        reading.act(i, MAY_BE_OPTION)
    return i + 1


def _tail(word: Unknown, prefix: str) -> Unknown:
    return Unknown(word.text, word.glob, prefix, word.safe, word.single)
