"""A file that a rule closes is closed under each of its names, however a call comes to them."""

from __future__ import annotations

import os

import pytest

from hitl_cli import twins
from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of, reading
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision, Verdict

FILES = ("cat hard", "cat < hard", "Read hard", "cp hard b")
PATTERNS = ("cat h*", "cat hard *.md", "grep x h[^b]*", "cat h[[:alpha:]]rd", "head -5 ./ha?d")
FOLDERS = (
    "grep -r x d",
    "grep -R x d",
    "rg x d",
    "cp -r d e",
    "tar cf x.tar d",
    "cd d && rg x",
    "grep -r x d*",
    "find d -exec cat {} +",
)


def judged(disk: Place, rule: str, text: str) -> Verdict:
    rules = [
        *[codec.parse(each, Decision.ALLOW) for each in ("Bash", "Read", "Edit")],
        codec.parse(rule, Decision.DENY),
    ]
    tool, input = ("Read", {"file_path": text.split()[1]}) if text.startswith("Read ") else ("Bash", {"command": text})
    return Policy(rules, disk).judge(accesses_of(tool, input, disk), mode="default", now=0.0, tool=tool)


def decided(disk: Place, rule: str, text: str) -> str:
    return judged(disk, rule, text).decision.name


@pytest.fixture
def linked(disk: Place) -> Place:
    """`secrets/deep/a`, `hard` and `d/in` are one file, `other`, `out` and `f/in` another, as are `.env` and `settings`."""
    for folder in ("secrets/deep", "d", "f"):
        os.makedirs(f"{disk.cwd}/{folder}")
    for name, *others in (
        ("secrets/deep/a", "hard", "d/in"),
        ("other", "out", "f/in"),
        (".env", "settings", "d/settings"),
    ):
        with open(f"{disk.cwd}/{name}", "x"):
            pass
        for other in others:
            os.link(f"{disk.cwd}/{name}", f"{disk.cwd}/{other}")
    return disk


@pytest.mark.parametrize(
    "pattern",
    ["secrets/deep/a", "secrets/**", "secrets/", "secrets/*/a", "secrets", "/secrets/deep/*", "**/secrets/**"],
)
@pytest.mark.parametrize("text", FILES)
def test_another_name_of_a_closed_file_is_closed(linked: Place, pattern: str, text: str) -> None:
    pattern = pattern if pattern[0] != "/" else f"/{linked.cwd}{pattern}"
    assert decided(linked, f"Read({pattern})", text) == "DENY"
    assert decided(linked, f"Read({pattern})", text.replace("hard", "other")) == "ALLOW"


@pytest.mark.parametrize("pattern", [".env", "**/.env", "./.env"])
@pytest.mark.parametrize("text", ["cat settings", "cat s*s", "grep -R x d", "rg x d", "Read settings"])
def test_a_name_at_any_depth_is_that_of_the_workspace_as_well(linked: Place, pattern: str, text: str) -> None:
    assert decided(linked, f"Read({pattern})", text) == "DENY"


@pytest.mark.parametrize("rule", ["Read(secrets/deep/a)", "Read(secrets/**)"])
@pytest.mark.parametrize("text", [*PATTERNS, *FOLDERS])
def test_another_name_that_a_pattern_or_a_folder_holds_is_closed(linked: Place, rule: str, text: str) -> None:
    assert decided(linked, rule, text) == "DENY"
    assert decided(linked, rule.replace("secrets", "f"), text) == "ALLOW"
    assert decided(linked, rule.replace("Read", "Edit"), text) == "ALLOW"


def test_what_may_be_read_asks(linked: Place) -> None:
    assert decided(linked, "Read(secrets/**)", "pytest d") == "ASK"
    assert decided(linked, "Read(secrets/**)", "pytest f") == "ALLOW"


def test_other_names_behind_links_are_found(linked: Place) -> None:
    os.mkdir(f"{linked.cwd}/e")
    os.symlink("../d", f"{linked.cwd}/e/l")
    assert decided(linked, "Read(secrets/**)", "grep -R x e") == "DENY"
    assert decided(linked, "Read(secrets/**)", "cat e/l/in") == "DENY"
    assert decided(linked, "Read(secrets/**)", "cat e/l/i*") == "DENY"


def test_of_a_workspace_that_is_reached_through_a_link(linked: Place) -> None:
    link = f"{linked.home}/link"
    os.symlink(linked.cwd, link)
    place = Place(link, (link,), linked.home)
    for text in ("cat hard", "cat h*", "grep -R x d"):
        assert decided(place, "Read(secrets/**)", text) == "DENY"


def test_what_is_written_under_another_name_is_written_and_what_is_removed_is_that_name(linked: Place) -> None:
    for text in ("echo x > hard", "touch h*", "chmod -R 700 d"):
        assert decided(linked, "Edit(secrets/**)", text) == "DENY"
        assert decided(linked, "Edit(f/**)", text) == "ALLOW"
    for text in ("rm hard", "rm -f h*", "rm -rf d"):
        assert decided(linked, "Edit(secrets/**)", text) == "ALLOW"
    assert decided(linked, "Edit(secrets/**)", "echo x > out") == "ALLOW"


def test_searches_leave_out_other_names(linked: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    deny = [codec.parse("Read(secrets/**)", Decision.DENY), codec.parse("Read(other)", Decision.ASK)]
    readable = reading(lambda: Policy(deny, linked))
    names = ("hard", "d/in", "secrets/deep/a", "other", "out", "f/in", "settings", "f.txt", "src", "not there")
    closed = [name for name in names if not readable(f"{linked.cwd}/{name}")]
    assert closed == ["hard", "d/in", "secrets/deep/a"]
    monkeypatch.setattr(twins, "_MOST", 0)
    readable = reading(lambda: Policy(deny, linked))
    assert not readable(f"{linked.cwd}/out")  # it may be one of them
    assert readable(f"{linked.cwd}/f.txt")


class TestTooMany:
    """Past a bound nothing is known, and nothing allowed; but who touches no file of several names need not know them."""

    @pytest.fixture
    def crowded(self, linked: Place) -> Place:
        os.mkdir(f"{linked.cwd}/plain")
        for folder in ("secrets", "plain", "f"):
            for n in range(9):
                with open(f"{linked.cwd}/{folder}/{n}", "x"):
                    pass
        return linked

    @pytest.mark.parametrize("text", [*FILES, *PATTERNS, *FOLDERS])
    def test_where_the_rule_points_asks(self, crowded: Place, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(twins, "_MOST", 9)
        verdict = judged(crowded, "Read(secrets/**)", text)
        assert verdict.decision is Decision.ASK
        assert "Read(secrets/**) may be about reading" in verdict.reason
        assert "more files than are looked at" in verdict.reason

    @pytest.mark.parametrize(
        "text", ["cat plain/1", "cat plain/*", "grep -R x plain", "rg x plain", "rm hard", "rm -rf d"]
    )
    def test_files_of_one_name_do_not_ask(self, crowded: Place, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(twins, "_MOST", 9)
        assert decided(crowded, "Read(secrets/**)", text) == "ALLOW"

    def test_what_is_touched_asks(self, crowded: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(twins, "_TOUCHED", 9)
        assert decided(crowded, "Read(secrets/**)", "grep -R x plain") == "ASK"
        assert decided(crowded, "Read(plain/**)", "grep -R x f") == "ALLOW"  # nothing of it has a name elsewhere

    def test_a_folder_too_large_to_look_at_asks_where_a_closed_file_has_other_names(
        self, crowded: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("hitl_cli.below._MOST", 3)
        assert decided(crowded, "Read(secrets/deep/a)", "grep -r x plain") == "ASK"
        assert decided(crowded, "Read(secrets/1)", "grep -r x plain") == "ALLOW"
