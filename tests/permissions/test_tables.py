"""What is passed over without a look could not have been met."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hitl_cli.access import Command, Host, Place, Unknown, Word
from hitl_cli.errors import RuleError
from hitl_cli.permissions import codec, globs
from hitl_cli.permissions.pathrules import index, may_name, named_by, names_in
from hitl_cli.permissions.pathtree import Index
from hitl_cli.permissions.rule import Decision
from hitl_cli.permissions.scene import Rules, Scene
from hitl_cli.permissions.tables import Table, concerns

TEXT = st.sampled_from(
    ["git", "./git", "rm", "-rf", "-r", "-", "", "push", "python3", "os.system('rm -rf x')", "$X", "a/rm"]
)
UNKNOWN = st.builds(Unknown, st.just("g*"), st.booleans(), st.sampled_from(["", "g"]), st.booleans(), st.booleans())
WORDS = st.lists(st.one_of(TEXT, TEXT, UNKNOWN), min_size=1, max_size=4).map(tuple)
COMMAND = st.builds(
    Command,
    WORDS,
    forms=st.lists(WORDS, max_size=1).map(tuple),
    also=st.lists(WORDS, max_size=1).map(tuple),
    names=st.lists(TEXT, max_size=2).map(tuple),
)
PATTERN = st.lists(
    st.sampled_from(["git", "rm", "-rf", "-x", "push", "*", "r*", "g\\*", "python3"]), min_size=1, max_size=3
)


@example(["rm"], True, Command(("python3", "-c", "os.system('rm -rf x')")))
@example(["rm", "-rf"], True, Command(("-rf", "rm", "x")))
@example(["git", "push"], True, Command((Unknown("$X", single=True), "push")))
@given(PATTERN, st.booleans(), COMMAND)
def test_a_rule_that_meets_a_command_concerns_it(pattern: list[str], rest: bool, command: Command) -> None:
    try:
        rule = codec.parse(f"Bash({' '.join(pattern)}{':*' if rest else ''})", Decision.DENY)
    except RuleError:
        return
    table = Table([rule], "/home/u", strict=False)
    if [*table.met(command)]:
        assert concerns(table.first, command)


SEGMENT = st.sampled_from(["src", ".env", ".env.*", "*.py", "**", "docs*", "*", "a?", "\\*"])
PART = st.sampled_from(["src", ".env", ".env.local", "x.py", "docs", "docs2", "", "a", "*"])


@given(st.lists(st.lists(SEGMENT, min_size=1, max_size=3), max_size=3), st.lists(PART, max_size=3))
def test_an_index_knows_what_its_patterns_name(patterns: list[list[str]], parts: list[str]) -> None:
    compiled = [globs.parse("/".join(segments), "/home/u") for segments in patterns]
    made: Index[int] = Index(Place("/w", ("/w",), "/home/u"), strict=False)
    for n, pattern in enumerate(compiled):
        made.add(pattern, n)
    assert made.names(parts) == any(pattern.names(part) for pattern in compiled for part in parts)


NAMED = st.sampled_from([
    "a", "src", "src/a", ".env", ".", "..", "../..", "/src", "/a/b/src", "/", "a//b/", "-f=src", "--in=/src/x", "-", "",
    "u@src", "a=u@.env.local", "u@a=b", "open('src/a')", "f(/src)", "x.py", "docs2/../a",
])  # fmt: skip
NAMING = st.sampled_from(["src", "src/a", "*.py", "**", "/src", "/**", ".env.*", "docs*/a", "a=b", "b@c", "u@a", "~/a"])
PROGRAM = st.sampled_from(["tool", "src", "python3", "/a/src", "echo"])


@example("/app", ("tool", "x.py"), ["*.py"])
@given(
    st.sampled_from(["/", "/app", "/w/src", "/w/a/b/c", "/src/b/c/d"]),
    st.tuples(PROGRAM, st.one_of(NAMED, NAMED, UNKNOWN), st.one_of(NAMED, UNKNOWN)),
    st.lists(NAMING, min_size=1, max_size=3),
)
def test_of_what_may_name_no_file_of_a_rule_no_word_does(at: str, words: tuple[Word, ...], patterns: list[str]) -> None:
    rules = [codec.parse(f"Read({pattern})", Decision.DENY) for pattern in patterns]
    place = Place(at, ("/w", "/app"), "/home/u")
    command, barring = Command(words), Rules(paths=(index(rules, place, strict=False),))
    scene = Scene(place, Rules(), barring, "default", 0)
    if named_by(scene, names_in(command, at)):
        assert may_name(barring.paths[0], command, at)


LABELS = st.lists(st.sampled_from(["a", "b", "org"]), min_size=1, max_size=6).map(".".join)


@given(st.lists(st.tuples(st.sampled_from(["", "*."]), LABELS).map("".join), max_size=4), LABELS)
def test_a_host_meets_the_rules_that_name_it_or_what_it_is_below(patterns: list[str], host: str) -> None:
    met = any(p == host or (p[:2] == "*." and host.endswith(p[1:])) for p in patterns)
    for decision in (Decision.ALLOW, Decision.DENY):
        rules = [codec.parse(f"WebFetch(domain:{pattern})", decision) for pattern in patterns]
        table = Table(rules, "/home/u", strict=decision is Decision.ALLOW)
        assert any(table.host(Host(f"https://{host}", "https", host))) is met


def test_a_host_of_many_labels_is_looked_up_by_no_more_of_them_than_rules_have() -> None:
    table = Table([codec.parse("WebFetch(domain:*.evil.example.org)", Decision.DENY)], "/home/u", strict=False)
    asked = []

    class Hosts(dict):  # type: ignore[type-arg]
        def get(self, key: str, default: object = None) -> object:
            asked.append(key)
            return super().get(key, default)

    table.hosts = Hosts(table.hosts)
    host = "a." * 30_000 + "evil.example.org"
    assert any(table.host(Host(f"https://{host}", "https", host)))
    assert len(asked) < 10
