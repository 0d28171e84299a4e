"""What a call would touch, as plain values, before anything is touched.

A tool states its accesses; the shell reader turns a command text into accesses; the policy judges accesses and nothing
else. So a rule about a path holds for `Write`, for `> file` and for `tee file` alike, and there is one place to be right.

Which kind an access is is asked by `type(access) is …` where many are gone through: `isinstance` takes long to say no, as it
asks the metaclass of these classes.

Pure: no file system, no environment. A path is written text joined to a folder (`at`); the floor that may look at the
disk fills in `real`, the same path with every link followed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from hitl_cli.records import Struct


@final
class Unknown(Struct, frozen=True, gc=False):
    """A word whose value only the running shell knows; `text` is how it was written.

    `glob` is true for an unquoted pattern such as `src/*.py`: the names are unknown, but they are file names that
    begin with `prefix`, the literal text before the first wildcard. `safe` is true when no expansion of it can be
    taken for an option or for more than operands of the same kind (`./*.txt`, `"$(…)/README.md"` after a program that
    takes paths there); the reader decides that. `prefix` is the literal text before the first unknown part of any word
    (`--jobs=$(nproc)`: `--jobs=`); `single` is true when it is always exactly one word (quoted, no `"$@"`).
    """

    text: str
    glob: bool = False
    prefix: str = ""
    safe: bool = False
    single: bool = False


Word = str | Unknown


# Of the files at and below some paths, other names of what is touched; None when there are too many to know.
Named = Callable[[tuple[str, ...]], Sequence[str] | None]


class Below(Struct, frozen=True):
    """What is below a folder. `paths` looks at the disk, only when a rule could forbid one of them, and gives None when
    they are too many to know; `every` is true when all of them are touched, false when some may be."""

    paths: Callable[[], Sequence[str] | None]
    every: bool = True


class Act(Struct, frozen=True, gc=False):
    """A word of a command that does more than the program's ordinary business.

    `at` is the index in `Command.words` of the word that does it; a rule consents to it only by spelling that word.
    """

    at: int
    does: str  # "writes a file", "runs another program", "loads code", "leaves the folder", ...


HERE = "<<"


@final
class Command(Struct, frozen=True, gc=False):
    """One simple command as the shell would run it.

    words   the program and its arguments after quote removal, without wrappers, harmless assignments, neutral options
            and a system folder in front of the program; an assignment that is not known to be harmless stays in
            front (`PYTHONPATH=.`) with an act on it
    acts    what a prefix rule does not cover unless it spells the word
    forms   other spellings a rule may name: with its wrappers, with its neutral options, as typed; of a command in the
            text of another (`bash -c "…"`) also that other one
    spells  for each form, how many leading words of it a prefix rule has to spell (as far as the program itself):
            `timeout:*` does not cover `timeout 5 npm test`, `timeout 5 npm:*` does. More than the form has: only an
            exact rule covers it
    also    spellings that only deny and ask rules search as well (without the assignments in front, ...); behind the word
            HERE the text of a here-document
    names   for deny and ask rules: every program name this may turn out to be (base names, applets), the plainest last
    text    the source text of it, for people
    within  how it is reached, outermost first: ("timeout 5", "bash -c") - for explanations
    cwd     the folder it runs in, absolute and lexical; None when that cannot be known
    """

    words: tuple[Word, ...]
    acts: tuple[Act, ...] = ()
    forms: tuple[tuple[Word, ...], ...] = ()
    names: tuple[str, ...] = ()
    text: str = ""
    within: tuple[str, ...] = ()
    cwd: str | None = None
    free: str = ""  # why it needs no rule (a built-in without effect), "" when it does
    spells: tuple[int, ...] = ()
    also: tuple[tuple[Word, ...], ...] = ()


@final
class ReadPath(Struct, frozen=True, gc=False):
    """`path`: absolute, joined to its folder but not normalised (the kernel follows links before `..`). `real`: where it
    leads, None when that is the path itself.

    `of` is the part of the call it belongs to, for explanations; `by_command` the index in the list of accesses of the
    Command whose operand it is (None: a file tool or a redirection). `listing` is true when only names are seen.
    `glob` is true when only the shell knows the names: `path` is then the absolute shell pattern (`/w/src/*.py`), or
    `/**` when nothing at all is known of them (`"$f"`). A deny or ask rule that some such path could match bites; a
    reader's `/**` is otherwise covered by the rule of its command, a writer's may be anywhere. `alias` is the path seen
    from the workspace when it was written through another name of the workspace itself (a link to it). `only`: of a
    folder, "shown" leaves out what begins with a dot, "tracked" what git does not keep, "some" reads files of a kind.
    `below`, where `path` is a folder's `/**`: what is in it. `follows`: links in a folder are followed as well. `twins`
    tells other names of what is touched.
    """

    path: str
    of: str = ""
    by_command: int | None = None
    listing: bool = False
    real: str | None = None
    glob: bool = False
    alias: str | None = None
    only: str = ""
    below: Below | None = None
    follows: bool = False
    twins: Named | None = None


@final
class WritePath(Struct, frozen=True, gc=False):
    """As ReadPath. `removes`: the path or what is below it would be gone.

    `at`: the Act of that command (index of its word) that does the writing, as in `git diff --output=FILE`: a rule that
    covers the path is consent to the act. None where writing is what the program is for (cp, tee, rm).
    """

    path: str
    of: str = ""
    by_command: int | None = None
    removes: bool = False
    real: str | None = None
    glob: bool = False
    at: int | None = None
    alias: str | None = None
    only: str = ""
    below: Below | None = None
    follows: bool = False
    twins: Named | None = None


@final
class Unnamed(Struct, frozen=True):
    """Files that are written below the folder `path` (or a pattern) under names that only an archive, a patch, a branch or
    another machine knows, or that what is in the folder `like` has: for deny and ask rules alone, which may close one of
    them. `below`: what is in `like`, with links followed as in `real`.
    """

    path: str
    of: str = ""
    by_command: int | None = None
    like: str = ""
    real: str | None = None
    below: Below | None = None


@final
class Host(Struct, frozen=True, gc=False):
    """A request to `url`; `host` in lower-case ASCII form, without port; `scheme` in lower case."""

    url: str
    scheme: str
    host: str
    of: str = ""


@final
class ToolUse(Struct, frozen=True):
    """A call of a tool that states nothing finer: its name and arguments are all there is to judge."""

    tool: str
    input: Mapping[str, Any]


@final
class Opaque(Struct, frozen=True, gc=False):
    """A part that cannot be proved: no allow rule covers it. Deny and ask rules search `words` and `text`."""

    reason: str
    text: str = ""
    words: tuple[str, ...] = ()


Access = Command | ReadPath | WritePath | Unnamed | Host | ToolUse | Opaque


class Place(Struct, frozen=True, gc=False):
    """Where a call is judged and run: absolute paths without a trailing slash, `roots` the workspace first.

    `protected` are hitl's own folders and files (configuration, state, `.hitl` of the workspace); `folds_case` is true
    where the file system takes `A` and `a` for one name.
    """

    cwd: str
    roots: tuple[str, ...]
    home: str
    protected: tuple[str, ...] = ()
    folds_case: bool = False

    @property
    def workspace(self) -> str:
        return self.roots[0]

    def holds(self, path: str) -> bool:
        """True when the normalised `path` is a root or below one."""
        for root in self.roots:
            below = path.removeprefix(root)  # in half the time of `startswith`
            if below != path and (not below or below[0] == "/" or root == "/"):
                return True
        return False


def lexical(path: str, at: str) -> str:
    """`path` as an absolute text with `.` and `..` taken out by text alone, seen from the folder `at`."""
    whole = path if path[:1] == "/" else f"{at}/{path}"
    if "/." not in whole and "//" not in whole and whole[-1] != "/":
        return whole
    return "/" + posixpath.normpath(whole).lstrip("/")


def inside(path: str, folder: str) -> bool:
    """True when the normalised `path` is `folder` or below it."""
    return path == folder or folder == "/" or path.startswith(folder + "/")
