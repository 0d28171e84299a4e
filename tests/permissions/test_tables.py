"""What is passed over without a look could not have been met."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hitl_cli.access import Command, Host, Place, Unknown
from hitl_cli.errors import RuleError
from hitl_cli.permissions import codec, globs
from hitl_cli.permissions.pathtree import Index
from hitl_cli.permissions.rule import Decision
from hitl_cli.permissions.tables import Table, first_words

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
    if table.hits(command, 0) or table.may_hit(command, 0):
        assert table.concerns(first_words(command))


SEGMENT = st.sampled_from(["src", ".env", ".env.*", "*.py", "**", "docs*", "*", "a?", "\\*"])
PART = st.sampled_from(["src", ".env", ".env.local", "x.py", "docs", "docs2", "", "a", "*"])


@given(st.lists(st.lists(SEGMENT, min_size=1, max_size=3), max_size=3), st.lists(PART, max_size=3))
def test_an_index_knows_what_its_patterns_name(patterns: list[list[str]], parts: list[str]) -> None:
    compiled = [globs.parse("/".join(segments), "/home/u") for segments in patterns]
    index: Index[int] = Index(Place("/w", ("/w",), "/home/u"), strict=False)
    for n, pattern in enumerate(compiled):
        index.add(pattern, n)
    assert index.names(parts) == any(pattern.names(part) for pattern in compiled for part in parts)


LABELS = st.lists(st.sampled_from(["a", "b", "org"]), min_size=1, max_size=6).map(".".join)


@given(st.lists(st.tuples(st.sampled_from(["", "*."]), LABELS).map("".join), max_size=4), LABELS)
def test_a_host_meets_the_rules_that_name_it_or_what_it_is_below(patterns: list[str], host: str) -> None:
    rules = [codec.parse(f"WebFetch(domain:{pattern})", Decision.DENY) for pattern in patterns]
    met = any(p == host or (p[:2] == "*." and host.endswith(p[1:])) for p in patterns)
    for strict in (True, False):
        table = Table(rules, "/home/u", strict=strict)
        assert (table.host(Host(f"https://{host}", "https", host), 0) is not None) is met


def test_a_host_of_many_labels_is_looked_up_by_no_more_of_them_than_rules_have() -> None:
    table = Table([codec.parse("WebFetch(domain:*.evil.example.org)", Decision.DENY)], "/home/u", strict=False)
    asked = []

    class Hosts(dict):  # type: ignore[type-arg]
        def get(self, key: str, default: object = None) -> object:
            asked.append(key)
            return super().get(key, default)

    table.hosts = Hosts(table.hosts)
    host = "a." * 30_000 + "evil.example.org"
    assert table.host(Host(f"https://{host}", "https", host), 0) is not None
    assert len(asked) < 10
