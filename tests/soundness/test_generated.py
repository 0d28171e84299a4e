"""Texts made of pieces that the reader accepts and of pieces it should not, each run by a real bash.

`HITL_SOUNDNESS=100000` runs that many; the seed is `HITL_SEED`, else fixed.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

WORDS = [
    "x", "-o", "a", "sub", "''", '""', "'a b'", '"a b"', "a\\ b", "\\x", "$'a\\tb'", "$'\\x61'", "$'\\''", '$"q"', "a'b'\"c\"",
    "$x", '"$x"', "${x}", '"${x}z"', "${x:-d}", "${#x}", '"${x%.*}"', "$1", '"$@"', "$#", "$?", "$((1+2))", "$((y+1))",
    "{1..3}", "{a,b}", "{a,b}c", "x{a,b}{c,d}", "{}", "{a}", "a{b", "{a,{b,c}}", "{,q}", "*", "s*", "?", "[ab]", "b*c", '"*"', "\\*",
    "~", "~/z", "a=~", "a=b", "--k=v", "--k=~", "a:b", "#x", "x#y", "!", "a!b", "=", "@", "%", "^", "+", ",", "]", "[", "}",
    "if", "do", "done", "in", "time", "é", "x\\\ny", '"x\\\ny"', "'x\\\ny'", "x\\\n", "<(p4 q)", "-", "--", "2", "10", "a\\\\", "\\$x",
    '"\\$x"', '"\\\\"', '"a\\b"', "`p4 s`", '"`p4 s`"', "`p4 \\`p3\\``", "$(p4 s)", '"$(p4 s)"', '"$(p4 "$(p3)")"', "$(p4; p3)",
    "$(p4 | p3 y)", "$(<a)", "$x$y", '"$x"\'$y\'', "\\{a,b\\}", "{a\\,b}", "{a,b", "a,b}", "${x", "$(p4", "`p4", "'open", '"open',
    "$(p4 # )\n)", "$(case x in x) p4;; esac)", "$(p4 ')')", "$(p4 \")\")", "${x:=p3}", "${x/a/b}", "${x//\\//_}", "$$", "$!", "$-", "$_",
]  # fmt: skip
PLAIN = ["x", "y", "-v", "'q r'", '"$x"', "z\\ z", "*", "{a,b}", '"$(p4 k)"', "$'\\n'", "~", "é"]
REDIRECTS = [
    ">o1", "> o1", ">>o2", ">|o3", "2>o4", "2>&1", ">&2", "&>o5", "&>>o6", ">&o7", "<a", "< a", "<missing", "0<a", "<>o8", "3>o9", "3<&0", "3>&-",
    "> 'o 10'", '>"o11"', ">o\\12", ">$x", ">s*", ">{a,b}", "> >(p3)", "< <(p3)", "2> o13 >o14", ">'a'b", "<<<word", '<<< "$x $(p3)"', "2>&1>o15",
    ">&1", "1>&2 2>&1", ">o16<a", "<(p3)", ">~", "> #o17", "{fd}>o18", "10>o19", "2>o20\\\nx", ">$(p3)", ">o21;", "2>1", "2 >o22", "x2>o23", "'2'>o24",
]  # fmt: skip
HEREDOCS = [
    ("<<E", "line $x\n$(p3 h)\nE"), ("<<'E'", "line $x\n$(p3 h)\nE"), ('<<"E"', "`p3 h`\nE"), ("<<-E", "\tt\n\tE"), ("<<\\E", "$(p3)\nE"),
    ("<<E", "a\\\nE\nE"), ("<<E", "E \n E\nE"), ("<<-'E'", "\t\tx\nE"), ("<<E'F'", "$(p3)\nEF"), ("<<E", "\\$(p3)\n\\`p3\\`\nE"), ("<<E <<F", "a\nE\n$(p3)\nF"),
    ("<<E", "\"$(p3 'a b')\"\nE"), ("<<E", "${x:-$(p3)}\nE"), ("<<E", "no end"), ("<<-E", "  E\nE"), ("<<E", "\nE"), ("<<E", "E"),
]  # fmt: skip


class Maker:
    """Random texts by a grammar; `wild` is how often a piece is one that bash or the reader may refuse."""

    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.later: list[str] = []

    def one_of(self, *makers: Any) -> Any:
        return self.random.choice(makers)

    def word(self) -> str:
        pick = self.random.choice
        return pick(WORDS) if self.random.random() < 0.5 else pick(PLAIN)

    def words(self, most: int = 3) -> str:
        return " ".join(self.word() for _ in range(self.random.randint(0, most)))

    def program(self) -> str:
        return self.random.choice(
            ["p1", "p2", "p3", "f1", "f2", "'p1'", "p\\2", 'p"1"', "$'p1'", "p\\\n1", "nosuch", "./p1"]
            if self.random.random() < 0.3
            else ["p1", "p2", "f1"]
        )

    def wrapper(self) -> str:
        return self.random.choice(
            ["timeout 5", "timeout -s TERM 5", "nice", "nice -n 3", "nohup", "env", "env A=1", "env -i PATH=$PATH", "env -u x", "stdbuf -oL", "setsid -w",
             "command", "command -p", "builtin", "exec", "time", "time -p", "!", "timeout --foreground 5 env x=1 nice", "env -C sub", "env -S 'p1 x'",
             "bash -c 'p1 \"$@\"' _", "exec -a q", "\\command", "env --", "env A=1 --", "time --", "eval"]
        )  # fmt: skip

    def simple(self) -> str:
        r = self.random.random()
        parts = []
        if self.random.random() < 0.2:
            parts.append(self.one_of("x=1", "y='a b'", "x=$(p4 v)", "x=", "x=~", "x={a,b}", "x=*", 'y="$x"', "x+=b", "z=`p4`", "x=a y=b", "y=3", "w=(a $(p4) b)"))
        if r < 0.15:
            parts.append(self.builtin())
        elif r < 0.35:
            parts.append(f"{self.wrapper()} {self.program()} {self.words()}")
        elif r < 0.42:
            parts.append(self.runner())
        elif r < 0.95:
            parts.append(f"{self.program()} {self.words()}")
        if self.random.random() < 0.25:
            parts.insert(self.random.randint(0, len(parts)), self.random.choice(REDIRECTS))
        if self.random.random() < 0.08:
            mark, body = self.random.choice(HEREDOCS)
            parts.append(mark)
            self.later.append(body)
        return " ".join(parts) or "p1"

    def builtin(self) -> str:
        return self.one_of(
            "cd sub", "cd sub/deep", "cd ..", "cd nosuch", "cd", "cd .", "echo x", 'echo "$x"', "true", "false", ":", "read x <<<v", "test -f a", "[ -d sub ]",
            '[ "$x" = y ]', "printf %s x", "export x=2", "export y", "set -e", "set -x", "unset x", "shift", "eval 'p1 a; p2'", 'eval p1 "$x"', "eval \"p1 'b c'\"",
            "trap 'p3 t' EXIT", "exit", "wait", "set -- a b", "local x", "declare x=1", "pushd sub", "exec 3>o30", "exec p1 last", "type p1", "command -v p1",
            "[[ -f a ]]", "[[ $x == y* && -n $(p4) ]]", "((y+1))", "let y=1", "readonly q=1", "source a", "printf -v x %s p1", "mapfile -t x <a", "cd -", "break",
            "[[ a < b ]]", "[[ $x =~ ^a+$ ]]", "return", "umask", "cd sub\\\n/deep", "cd 'sub'", 'cd "$PWD/sub"', "cd $PWD", "cd ~", "(( y = 3 ))", "alias p1=p2", "hash p1",
        )  # fmt: skip

    def runner(self) -> str:
        """Programs that run others in turn."""
        return self.one_of(
            "bash -c 'p1 x; p2 >o40'", 'bash -c "p1 $x"', "sh -c 'p1 a && p2'", "bash -ec 'cd sub; p1'", "bash <<<'p1 s'", "p4 | bash", "echo p1 | bash",
            "echo q | xargs p1 r", "echo q r | xargs -n 1 p1", "echo q | xargs -I% p1 a% %", "echo 'a b' | xargs -I {} bash -c 'p1 {}'", "xargs -a a p1", "find . -name a -exec p1 {} ;",
            "find . -name a -exec p1 {} \\;", "find sub -type f -exec p1 x {} +", "find sub -name a -execdir p1 {} \\;", "find . -name a -exec p1 {} \\; -exec p2 b{} \\;",
            "bash -c 'p1 \"$0\" $1' s t", "bash -c 'bash -c \"p1 deep\"'", "env -i bash -c 'p1'", "eval eval p1 x", "bash -c \"bash -c 'p1 \\\"q\\\"'\"", "find . -maxdepth 0 -exec sh -c 'p1 $0' {} \\;",
            "echo 'p1 fed' | sh -s", "bash -s <<<'p2 fed'", "timeout 5 bash -c 'p1; cd sub; p2'", "xargs p1 <a", "xargs <a",
        )  # fmt: skip

    def pipeline(self, depth: int) -> str:
        text = self.command(depth)
        while self.random.random() < 0.25:
            text += self.one_of(" | ", "|", " |& ", " |\n ") + self.command(depth)
        return self.one_of("", "", "", "", "", "! ", "time ") + text

    def list(self, depth: int) -> str:
        text = self.pipeline(depth)
        while self.random.random() < 0.45:
            text += self.separator() + self.pipeline(depth)
        return text

    def separator(self) -> str:
        if self.later or self.random.random() < 0.2:
            bodies, self.later = self.later, []
            return "\n" + "".join(body + "\n" for body in bodies)
        return self.one_of("; ", ";", " && ", "&&", " || ", "||", "\n", " &\n", " & ", "\n\n  ", " # note\n", " && \\\n ", ";\n", " &&\n")

    def end(self) -> str:
        if self.later or self.random.random() < 0.3:
            bodies, self.later = self.later, []
            return "\n" + "".join(body + "\n" for body in bodies)
        return "; "

    def command(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.65:
            return self.simple()
        body = lambda: self.list(depth - 1)  # noqa: E731
        r = self.random.randrange(12)
        if r == 0:
            text = "( " + body() + self.one_of(" )", ")") if not self.later else "( p1 )"
        elif r == 1:
            text = "{ " + body() + self.end() + "}"
        elif r == 2:
            text = f"if {body()}{self.end()}then {body()}{self.end()}fi"
        elif r == 3:
            text = f"if {body()}{self.end()}then {body()}{self.end()}else {body()}{self.end()}fi"
        elif r == 4:
            text = f"for {self.one_of('x', 'y', 'v')} in {self.words()}{self.end()}do {body()}{self.end()}done"
        elif r == 5:
            text = f"while f1{self.end()}do {body()}{self.end()}done"
        elif r == 6:
            text = f"until p1{self.end()}do {body()}{self.end()}done"
        elif r == 7:
            text = f"case {self.word()} in x) {body()}{self.end()};; a|'q r') {body()} ;; *) {body()}{self.end()}esac"
        elif r == 8:
            text = f"p1 \"$({body()}{self.end()})\""
        elif r == 9:
            text = f"p1 | while read x{self.end()}do {body()}{self.end()}done"
        elif r == 10:
            text = f"for ((i=0;i<2;i++)){self.end()}do {body()}{self.end()}done"
        else:
            text = f"g() {{ {body()}{self.end()}}}"
        if self.random.random() < 0.2:
            text += " " + self.random.choice(REDIRECTS)
        return text

    def text(self) -> str:
        self.later = []
        text = self.list(self.random.randint(0, 3))
        if self.later:
            text += self.end()
        if self.random.random() < 0.15:
            text = self.mutated(text)
        return text

    def mutated(self, text: str) -> str:
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randrange(len(text) + 1)
            kind = self.random.randrange(3)
            if kind == 0:
                text = text[:at] + text[at + 1 :]
            elif kind == 1:
                text = text[:at] + self.random.choice(" \n;&|()'\"\\$`{}<>#!=*\t") + text[at:]
            else:
                end = at + self.random.randrange(6)
                text = text[:at] + text[at:end] + text[at:]
        return text


def _confined(text: str) -> bool:
    """A text whose redirections cannot leave the scratch folder, whatever bash makes of it."""
    return not any(mark in text.replace("$PWD/", "") for mark in ("/ ", ">/", "> /", ">\\\n/", ">'/", '>"/')) and ".././.." not in text


def _agree(scratch: Any, count: int, seed: int) -> None:
    maker = Maker(random.Random(seed))
    read = 0
    faults: list[str] = []
    for _ in range(count):
        text = maker.text()
        if not _confined(text):
            continue
        missed = scratch.disagreements(text)
        read += missed is not None
        if missed:
            faults.append(f"{text!r}\n    " + "\n    ".join(missed))
    assert not faults, f"{len(faults)} texts of {read} that were read:\n" + "\n".join(faults[:20])
    assert read > count / 5, "most texts have to be readable, or the test proves little"


def test_bash_does_nothing_that_the_reader_did_not_say(scratch: Any) -> None:
    _agree(scratch, 1000, 1)


@pytest.mark.slow
def test_ten_thousand_texts_agree_with_bash(scratch: Any) -> None:
    _agree(scratch, int(os.environ.get("HITL_SOUNDNESS", "10000")), int(os.environ.get("HITL_SEED", "2")))
