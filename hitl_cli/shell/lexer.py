"""Words as bash reads them, one character after the other, with the reason in words when it is not certain.

The lexer knows quotes, `$'…'`, continuations, expansions and substitutions; what it cannot follow raises `Unreadable`.
It never guesses: each construct is one that bash reads in this way and no other.
"""

from __future__ import annotations

import re

from hitl_cli.records import Struct, field
from hitl_cli.regex import later
from hitl_cli.shell.ansi import ansi_c
from hitl_cli.shell.redirections import body
from hitl_cli.shell.scan import DEEPEST
from hitl_cli.shell.substitutions import NUMBERS, backquote, process_substitution, substituted
from hitl_cli.shell.tree import WORD_END, NoteKind, Part, Raw, Redirect, Unreadable, Word

_CONTINUED = later(r"(?:\\\n)+")
_BLANKS = later(r"(?:[ \t]|\\\n)*")
# A word without quotes or expansions, or one variable, that ends where it seems to end. `{}` is a word that stands for
# itself.
_PLAIN = later(r"(?:[\w./:@%+,\]!^-][\w./:@%+,\]!^=#-]*|\{\}|(\"?)\$([A-Za-z_][A-Za-z0-9_]*)\1)(?=[ \t\n;&|)]|\Z)")
_BARE = later(r"[\w./:@%+,\]\[!^=*?{}#-]+")
_PARTS = 2_000  # of one word
_IN_DOUBLE = later(r'[^"$`\\]+')
_NAME = later(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?#$!*@-]")


class Lexer(Struct, gc=False):
    """A place `i` in a text `s` of `n` characters. `depth` counts the levels above it, `closers` the substitutions a `)`
    would end."""

    s: str
    n: int
    depth: int = 0
    i: int = 0
    closers: int = 0
    blocked: bool = False  # the body of a here-document is due outside of this substitution
    pending: list[Redirect] = field(default_factory=list)  # here-documents whose bodies begin after the next newline
    notes: list[tuple[NoteKind, str]] = field(default_factory=list)  # what becomes of variables

    def inner(self, text: str) -> Lexer:
        """A lexer of a text inside this one."""
        if self.depth >= DEEPEST:
            raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
        return Lexer(text, len(text), self.depth + 1)

    # -- blanks, comments, newlines

    def blanks(self) -> None:
        """To the next token of this line."""
        s, i, n = self.s, self.i, self.n
        if i >= n or s[i] not in " \t\\#":
            return
        if s[i] == " " and i + 1 < n and s[i + 1] not in " \t\\#":  # one, as nearly always
            self.i = i + 1
            return
        i = _BLANKS.match(s, i).end()  # type: ignore[union-attr]
        if i < n and s[i] == "#":
            end = s.find("\n", i)
            i = n if end < 0 else end
        self.i = i

    def newlines(self) -> None:
        """To the next token, over any number of lines."""
        if self.i < self.n and self.s[self.i] in " \t\\#\n":
            self.blanks()
            while self.i < self.n and self.s[self.i] == "\n":
                self.newline()
                self.blanks()

    def newline(self) -> None:
        if self.blocked:
            raise Unreadable("a line ends inside a substitution before a here-document outside of it")
        self.i += 1
        for redirect in self.pending:
            body(self, redirect)
        self.pending.clear()

    def peek(self, text: str) -> bool:
        return self.s.startswith(text, self.i)

    def complete(self, more: str) -> None:
        """The operator that ends here ends here for bash too, which joins continued lines first."""
        if self.peek("\\\n"):
            found = _CONTINUED.match(self.s, self.i)
            if found is not None and self.s[found.end() : found.end() + 1] in tuple(more):
                raise Unreadable("a line is continued in the middle of an operator")

    # -- words

    def word(self) -> Word | None:
        """The word that begins here, None when none does."""
        found = _PLAIN.match(self.s, self.i)
        if found is not None:
            self.i = found.end()
            if found.lastindex is None:
                return found.group()
            return Raw(found.group(), [Part("value", found[2], found[1] != "")])
        start = self.i
        if start >= self.n or (self.s[start] in WORD_END and not self._process()):
            return None
        raw = Raw("", [])
        self._parts(raw)
        raw.text = self.s[start : self.i]
        if not raw.parts:
            raise Unreadable("a line ends in the middle of a word")
        return raw

    def _process(self) -> bool:
        return self.s.startswith(("<(", ">("), self.i)

    def _parts(self, raw: Raw) -> None:
        s, n = self.s, self.n
        parts = raw.parts
        while self.i < n:
            if len(parts) > _PARTS:
                raise Unreadable(f"a word has more than {_PARTS:,} parts")
            c = s[self.i]
            if (found := _BARE.match(s, self.i)) is not None:
                parts.append(Part("bare", found.group()))
                self.i = found.end()
            elif c == "'":
                parts.append(Part("quoted", self._until("'", self.i + 1, "a single quote is not closed")))
            elif c == '"':
                self.i += 1
                self._double(raw)
            elif c == "$":
                self.dollar(raw, in_quotes=False)
            elif c == "\\":
                self._escape(parts)
            elif c == "`":
                backquote(self, raw, in_quotes=False)
            elif c == "~":
                self._tilde(raw)
            elif c in "<>" and self._process():
                process_substitution(self, raw)
            elif c in WORD_END:
                if c == "(":
                    raise Unreadable("a parenthesis stands inside a word")
                return
            else:  # any other character stands for itself
                parts.append(Part("quoted", c))
                self.i += 1

    def _until(self, mark: str, start: int, reason: str) -> str:
        end = self.s.find(mark, start)
        if end < 0:
            raise Unreadable(reason)
        self.i = end + len(mark)
        return self.s[start:end]

    def _escape(self, parts: list[Part]) -> None:
        if self.i + 1 >= self.n:
            raise Unreadable("it ends in a backslash")
        c = self.s[self.i + 1]
        self.i += 2
        if c != "\n":
            parts.append(Part("quoted", c))

    def _tilde(self, raw: Raw) -> None:
        """`~` where bash may expand it, at the start of a word and after `=` or `:`, is a part of its own."""
        parts = raw.parts
        self.i += 1
        if not parts:
            found = re.compile(r"[\w.+-]*").match(self.s, self.i)
            assert found is not None
            self.i = found.end()
            whole = self.i >= self.n or self.s[self.i] in "/" or self.s[self.i] in WORD_END
            parts.append(Part("tilde", "~" + found.group() if whole else "~?"))
        elif parts[-1].kind == "bare" and parts[-1].text.endswith(("=", ":")):
            parts.append(Part("tilde", "~" if self.peek("/") or self._at_end() else "~?"))
        else:
            parts.append(Part("quoted", "~"))

    def _at_end(self) -> bool:
        return self.i >= self.n or self.s[self.i] in WORD_END

    def _double(self, raw: Raw) -> None:
        """Double-quoted text, from after the opening quote to after the closing one."""
        s = self.s
        empty = len(raw.parts)
        while True:
            if (found := _IN_DOUBLE.match(s, self.i)) is not None:
                raw.parts.append(Part("quoted", found.group(), True))
                self.i = found.end()
            if self.i >= self.n:
                raise Unreadable("a double quote is not closed")
            if len(raw.parts) > _PARTS:
                raise Unreadable(f"a double quote is not closed within {_PARTS:,} parts")
            c = s[self.i]
            if c == '"':
                self.i += 1
                if len(raw.parts) == empty:
                    raw.parts.append(Part("quoted", "", True))
                return
            self.soft(raw, c, '$`"\\')

    def soft(self, raw: Raw, c: str, special: str) -> None:
        """`$`, a backquote or a backslash inside double quotes or a here-document."""
        if c == "$":
            self.dollar(raw, in_quotes=True)
        elif c == "`":
            backquote(self, raw, in_quotes=True)
        else:
            after = self.s[self.i + 1 : self.i + 2]
            if after == "\n":
                self.i += 2
            elif after and after in special:
                raw.parts.append(Part("quoted", after, True))
                self.i += 2
            else:
                raw.parts.append(Part("quoted", "\\", True))
                self.i += 1

    # -- expansions

    def dollar(self, raw: Raw, in_quotes: bool) -> None:
        s, i = self.s, self.i
        c = s[i + 1 : i + 2]
        if c == "(" or c == "{":
            self.depth += 1
            if self.depth > DEEPEST:
                raise Unreadable(f"it is nested more than {DEEPEST} levels deep")
            substituted(self, raw, c, in_quotes)
            self.depth -= 1
        elif c == "'" and not in_quotes:
            self.i = i + 2
            raw.parts.append(Part("quoted", ansi_c(self)))
        elif c == '"' and not in_quotes:
            self.i = i + 2
            self._double(raw)
        elif c == "[":
            raise Unreadable("it holds the old arithmetic form `$[…]`")
        elif (found := _NAME.match(s, i + 1)) is not None:
            self.i = found.end()
            self.whole()
            name = found.group()
            kind = "number" if name in NUMBERS else "other" if name in "@*!-" else "value"
            text = name if kind == "value" else "$" + name
            raw.parts.append(Part(kind, text, in_quotes and name != "@"))  # type: ignore[arg-type]
        else:
            self.i = i + 1
            self.whole()
            raw.parts.append(Part("quoted", "$", in_quotes))

    def whole(self) -> None:
        """Bash joins continued lines before it looks for the end of a name."""
        if self.peek("\\\n"):
            raise Unreadable("a line is continued in the middle of an expansion")

    def note(self, kind: NoteKind, *names: str) -> None:
        self.notes += [(kind, name) for name in names]
