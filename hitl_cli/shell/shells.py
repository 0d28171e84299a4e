"""Shells as wrappers: the text of `bash -c`, and what a shell is fed."""

from __future__ import annotations

import re

from hitl_cli.access import Unknown, Word
from hitl_cli.regex import later
from hitl_cli.shell.tree import Unreadable
from hitl_cli.shell.wrapper_rows import Layer

# What other shells than bash read in another way.
_BASHISM = later(
    r"\$['\"\[]|[<>]\(|\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}|\|&|&>|<<<|\[\[\s|(?<!\$)\(\("
    r"|(?:^|[\s;&|])\w+(?:\+=|=\()|(?:^|[\n;&|])\s*function\s"
)
_ZSH_PLAIN = later(r"(?:[\w ./:@,%+\-\n'\"]|&&|\|\|?|;|(?<=\w)=)*\Z")

STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
SHELLS = frozenset(("bash", "sh", "dash", "ash", "ksh", "zsh", "mksh", "rbash"))


def shell(name: str, words: tuple[Word, ...]) -> Layer | None:
    """`bash -c TEXT`; a script file is the business of the shell's own rule."""
    at, has_text = 1, False
    while at < len(words):
        word = words[at]
        if isinstance(word, Unknown):
            if word.safe:
                break
            raise Unreadable(f"what follows {name} is known only when it runs")
        if word == "--" or not word.startswith(("-", "+")) or word == "-":
            break
        if word in ("--norc", "--noprofile", "--posix", "--login"):
            at += 1
        elif word in ("--version", "--help") and len(words) == 2:
            return None
        elif re.fullmatch(r"-[celuxvnfsi]+", word):
            if "i" in word:
                raise Unreadable(f"{name} -i reads start-up files")
            if "s" in word:
                return Layer(stdin=True)
            has_text = has_text or "c" in word
            at += 1
        elif word in ("-o", "-eo", "-euo", "-exo", "-euxo", "-uo") and words[at + 1 : at + 2] == ("pipefail",):
            at += 2
        else:
            raise Unreadable(f"the option {word} of {name} is not known")
    if at < len(words) and words[at] in ("--", "-"):
        at += 1
    if has_text:
        if at >= len(words) or not isinstance(words[at], str):
            raise Unreadable(f"the text that {name} runs is known only when it runs")
        text = str(words[at])
        _check_dialect(name, text)
        return Layer(text=text)
    if at >= len(words):
        return Layer(stdin=True)
    script = words[at]
    if script in STDIN:
        return Layer(stdin=True)
    if isinstance(script, Unknown) and script.text.startswith("<("):
        raise Unreadable(f"{name} runs what another command prints")
    return None


def _check_dialect(name: str, text: str) -> None:
    if name in ("bash", "rbash"):
        return
    if name == "zsh" and not _ZSH_PLAIN.match(text):
        raise Unreadable("zsh may read the text in another way")
    if _BASHISM.search(text):
        raise Unreadable(f"{name} may read the text in another way than bash")
