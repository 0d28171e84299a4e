"""Rule files: read strictly, added to safely, every mistake named with file, line and remedy; trust bound to content."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from hitl_cli import config, rulebook, rulefile
from hitl_cli.access import Place
from hitl_cli.errors import RuleError, SettingsError
from hitl_cli.paths import Paths, place_for
from hitl_cli.permissions import codec
from hitl_cli.permissions.rule import Decision, Source
from hitl_cli.records import replace


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "config", tmp_path / "state")


@pytest.fixture
def place(tmp_path: Path, paths: Paths) -> Place:
    (tmp_path / "ws" / ".git").mkdir(parents=True)
    return place_for(tmp_path / "ws", (), paths)


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


MISTAKES = {
    "no quotes": ("[[rule]]\nallow = Bash(x)\n", 2, "not valid TOML: Invalid value", "allow = 'Bash(x)'"),
    "a backslash": ('[[rule]]\nallow = "Bash(\\d)"\n', 2, "not valid TOML", "single quotes leave it alone"),
    "an open quote": ('[[rule]]\nallow = "Bash(x)\n', 2, "the quote of `allow` is not closed", 'allow = "Bash(x)"'),
    "an open quote at the end": ("[[rule]]\nallow = 'Bash(x)", 2, "the quote of `allow`", "allow = 'Bash(x)'"),
    "an open quote, nothing after": ("[[rule]]\nallow = 'Bash(x)\nreason = 3\n", 2, "the quote of `allow`", "'Bash(x)'"),
    "a key twice": ('[[rule]]\nallow = "Bash(x)"\nallow = "Bash(y)"\n', 3, "`allow` stands there twice", "another rule"),
    "another key twice": ("packs = {}\npacks = {}\n", 2, "`packs` stands there twice", "Take one of them away."),
    "a byte order mark": ("\ufeffformat = 1\n", 1, "begins with a byte order mark", "Save it as UTF-8 without one."),
    "half a header": ("[[rule]\n", 1, "not valid TOML", "A rule begins with [[rule]]"),
    "unknown key": ("alow = 1\n", 1, "unknown key 'alow'", "Known names: format, rule, packs, off."),
    "unknown key, near": ("pack = {git = true}\n", 1, "unknown key 'pack'", "Did you mean packs?"),
    "unknown key of a rule": ('[[rule]]\nalow = "Bash"\n', 2, "a rule has no `alow`", "Did you mean `allow`?"),
    "two decisions": ('[[rule]]\nallow = "Bash"\nask = "Bash"\n', 2, "allow and ask", "Write `allow ="),
    "no decision": ('[[rule]]\nreason = "x"\n', 1, "neither allow, ask nor deny", "Write `allow ="),
    "a number": ("[[rule]]\nallow = 3\n", 2, "`allow` is a number", "Write a text in quotes."),
    "a time as text": ('[[rule]]\nallow = "Bash"\nuntil = "2027"\n', 3, "`until` is a text", "without quotes"),
    "empty pattern": ('[[rule]]\nallow = "Bash()"\n', 2, "the pattern of `Bash()` is empty", "Write `Bash`"),
    "cut quote": ("[[rule]]\nallow = '''Bash(echo \")'''\n", 2, "is not closed", "Close it"),
    "bracket": ('[[rule]]\ndeny = "Read(a[b)"\n', 2, "the bracket in `a[b` is not closed", "Close it"),
    "operator": ('\n# two\n[[rule]]\nallow = "Bash(a && b)"\n', 4, "`&` in `a && b`", "a rule for each command"),
    "stray blank": ('[[rule]]\nallow = "Bash(chmod :*)"\n', 2, "has a blank before `:*`", "Write `chmod:*`."),
    "twice": ('[[rule]]\nallow="Bash(x)"\n\n[[rule]]\nallow="Bash(x)"\n', 4, "stands here twice", "on line 1"),
    "newer": ("format = 2\n", 1, "has format 2", "Update hitl"),
    "a text for format": ('format = "1"\n', 1, "format is '1'", "Write: format = 1"),
    "packs": ("packs = [1]\n", 1, "`packs` is not a table", "packs = {git = true}"),
    "off": ('off = "x"\n', 1, "`off` is not a list", 'off = ["Bash(ls:*)"]'),
    "a rule that is no table": ('rule = "x"\n', 1, "`rule` is not a list of tables", "[[rule]]"),
    "behind text": ('note = 1\n', 1, "unknown key 'note'", "Known names"),
    "headers in texts": (
        "[[rule]]\nallow = 'Bash(a)'\nreason = \"\"\"\n[[rule]]\n# \"\"\"\n# [[rule]]\n[[rule]]\nallow = 'Bash()'\n",
        8,
        "is empty",
        "Write `Bash`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_file_line_and_remedy_and_nothing_is_changed(
    name: str, paths: Paths, place: Place
) -> None:
    text, line, problem, remedy = MISTAKES[name]
    file = written(paths.user_rules, text)
    with pytest.raises(RuleError) as caught:
        rulebook.load(place, paths)
    assert (caught.value.file, caught.value.line, caught.value.exit_code) == (str(file), line, 2)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy
    with pytest.raises(RuleError):
        rulebook.add(codec.parse("Bash(y)"), "user", place, paths)
    assert file.read_text() == text


def test_a_mistake_in_the_short_lists_has_its_line_too(paths: Paths, place: Place) -> None:
    file = written(paths.user_config, '[permissions]\nallow = [\n  "Bash(ls:*)",\n  "Bash(a | b)",\n]\n')
    with pytest.raises(RuleError) as caught:
        rulebook.load(place, paths)
    assert (caught.value.file, caught.value.line) == (str(file), 4)
    written(file, "[permissions]\nalow = []\n")
    with pytest.raises(RuleError, match=r"unknown key 'alow' in \[permissions\]\n  Did you mean allow\?"):
        rulebook.load(place, paths)


def test_a_folder_in_the_place_of_a_file_stops_the_program(paths: Paths, place: Place) -> None:
    paths.user_rules.mkdir(parents=True)
    with pytest.raises(RuleError, match="is a folder") as caught:
        rulebook.load(place, paths)
    assert caught.value.remedy == "Move the folder away."


@pytest.mark.parametrize("settings", [False, True])
def test_a_pipe_in_the_place_of_a_file_stops_the_program(settings: bool, paths: Paths, place: Place) -> None:
    file = paths.user_config if settings else paths.user_rules
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    with pytest.raises(RuleError, match="no regular file"):
        rulebook.load(place, paths)
    with pytest.raises(SettingsError, match="no regular file"):
        config.read(file)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_stops_the_program(paths: Paths, place: Place) -> None:
    written(paths.user_rules, "format = 1\n").chmod(0)
    with pytest.raises(RuleError, match="permission denied"):
        rulebook.load(place, paths)


def test_a_file_that_is_no_text_stops_the_program(paths: Paths, place: Place) -> None:
    paths.config.mkdir(parents=True)
    paths.user_rules.write_bytes(b"format = 1\n# \xff\n")
    with pytest.raises(RuleError, match="is not UTF-8"):
        rulebook.load(place, paths)


def test_every_layer_is_loaded_with_file_and_line(paths: Paths, place: Place) -> None:
    user = written(paths.user_rules, 'format = 1\n\n[[rule]]\nallow = "Bash(a:*)"\n\n[[rule]]\ndeny = "Bash(b:*)"\n')
    people = written(paths.user_config, 'model = "x"\n[permissions]\nask = ["Bash(c:*)"]\n')
    project = written(paths.project_rules(place.workspace), '[[rule]]\nallow = "Write(src/**)"\n')
    book = rulebook.load(place, paths, flags=[codec.parse("Bash(f)", source=Source("flag"))])
    told = {(r.text, str(r.source)) for r in book.rules if r.source.layer != "pack"}
    assert told == {
        ("Bash(f)", "flag"),
        ("Bash(a:*)", f"{user}:3"),
        ("Bash(b:*)", f"{user}:6"),
        ("Bash(c:*)", f"{people}:3"),
        ("Write(src/**)", f"{project}:1"),
    }
    assert set(book.files) == {user, people, project}


def test_examples_are_tried_out_as_the_file_loads(paths: Paths, place: Place) -> None:
    text = '[[rule]]\nallow = "Bash(git log:*)"\nmatch = ["git log -5"]\nnot_match = ["git push"]\n'
    file = written(paths.user_rules, text)
    assert rulebook.load(place, paths)
    written(file, text.replace("git log -5", "git show"))
    with pytest.raises(RuleError) as caught:
        rulebook.load(place, paths)
    assert str(caught.value) == (
        f"{file}:1: Bash(git log:*) does not match its example `git show`\n  Correct the rule or the example."
    )


def test_a_rule_is_added_once_read_back_and_private(paths: Paths, place: Place) -> None:
    rule = codec.parse("Bash(git log:*)")
    first = rulebook.add(rule, "user", place, paths)
    assert (first.text, first.source) == ("Bash(git log:*)", Source("user", str(paths.user_rules), 3))
    assert rulebook.add(rule, "user", place, paths) == first
    assert stat.S_IMODE(paths.user_rules.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.config.stat().st_mode) == 0o700
    assert [r.text for r in rulefile.read(paths.user_rules, "user").rules] == ["Bash(git log:*)"]


def test_adding_keeps_what_people_wrote(paths: Paths, place: Place) -> None:
    text = '# mine\nformat = 1\n\n[[rule]]  # because\nallow = "Bash(a)"\n'
    written(paths.user_rules, text)
    rulebook.add(codec.parse("Bash(b)"), "user", place, paths)
    assert paths.user_rules.read_text().startswith(text)


def test_adding_a_rule_with_another_end_replaces_the_old_one(paths: Paths, place: Place) -> None:
    rule = codec.parse("Bash(a)")
    rulebook.add(replace(rule, until=2e9), "user", place, paths)
    assert rulebook.add(rule, "user", place, paths).until is None
    assert rulebook.add(replace(rule, until=2e9 + 0.123456789), "user", place, paths).until == 2e9
    assert len(rulefile.read(paths.user_rules, "user").rules) == 1


@pytest.mark.parametrize(
    "text",
    [
        """Bash(echo 'a"b' \\*)""",
        'Bash(echo "it\'s")',
        "Bash(grep 'ü→\t€' x)",
        "Bash(echo '[[rule]]')",
        "Read(a\\[b\\]/**)",
        "Bash(echo '\\\\')",
    ],
)
def test_any_text_survives_being_written(text: str, paths: Paths, place: Place) -> None:
    assert rulebook.add(codec.parse(text), "user", place, paths).text == text
    assert rulebook.add(codec.parse("Bash(z)"), "user", place, paths).text == "Bash(z)"
    assert {r.text for r in rulefile.read(paths.user_rules, "user").rules} == {text, "Bash(z)"}


def test_a_rule_file_that_is_a_link_stays_one(paths: Paths, place: Place, tmp_path: Path) -> None:
    kept = written(tmp_path / "dotfiles" / "rules.toml", "format = 1\n")
    paths.config.mkdir()
    paths.user_rules.symlink_to(kept)
    rulebook.add(codec.parse("Bash(a)"), "user", place, paths)
    assert paths.user_rules.is_symlink()
    assert "Bash(a)" in kept.read_text()


def test_a_folder_that_cannot_be_written_leaves_everything_as_it_was(paths: Paths, place: Place) -> None:
    written(paths.config, "a file where the folder should be")
    with pytest.raises(RuleError, match=r"cannot be (read|written)"):
        rulebook.add(codec.parse("Bash(a)"), "user", place, paths)


def test_times_are_written_as_the_contract_writes_them(paths: Paths, place: Place) -> None:
    for text in ("Bash(a)", "Bash(b)"):
        rulebook.add(replace(codec.parse(text), until=4102444800.0, added=1796040000.0), "user", place, paths)
    rulebook.remove("Bash(a)", "user", place, paths)
    written = paths.user_rules.read_text()
    assert written.endswith("until = 2100-01-01T00:00:00Z\nadded = 2026-11-30T12:00:00Z\n")
    (kept,) = rulefile.read(paths.user_rules, "user").rules
    assert (kept.until, kept.added) == (4102444800.0, 1796040000.0)


def test_rules_are_removed_by_their_text(paths: Paths, place: Place) -> None:
    for text in ("Bash(a)", "Bash(b)"):
        rulebook.add(codec.parse(text), "project", place, paths)
    rulebook.add(codec.parse("Bash(a)", Decision.DENY), "project", place, paths)
    assert rulebook.remove("Bash(a)", "project", place, paths) == 2
    assert rulebook.remove("Bash(a)", "project", place, paths) == 0
    assert [r.text for r in rulebook.load(place, paths).rules if r.source.layer == "project"] == ["Bash(b)"]


def _add(paths: Paths, place: Place, who: int) -> None:
    for n in range(5):
        rulebook.add(codec.parse(f"Bash(tool{who} {n})"), "user", place, paths)
        rulebook.add(codec.parse("Bash(shared)"), "user", place, paths)


@pytest.mark.slow
def test_eight_processes_at_once_lose_nothing(paths: Paths, place: Place) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add, args=(paths, place, who)) for who in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    texts = [r.text for r in rulefile.read(paths.user_rules, "user").rules]
    assert sorted(texts) == sorted(["Bash(shared)", *(f"Bash(tool{who} {n})" for who in range(8) for n in range(5))])
    assert [p.name for p in paths.config.iterdir() if not p.name.endswith(".lock")] == ["rules.toml"]


class TestRepository:
    TEXT = 'mode = "plan"\n\n[[rule]]\nallow = "Bash(make:*)"\n\n[[rule]]\ndeny = "Bash(rm:*)"\n'

    def test_its_allow_rules_count_only_when_its_content_is_trusted(self, paths: Paths, place: Place) -> None:
        file = written(Path(place.workspace) / ".hitl" / "config.toml", self.TEXT)

        def told() -> list[str]:
            return [r.text for r in rulebook.load(place, paths).rules if r.source.layer == "repository"]

        assert told() == ["Bash(rm:*)"]
        assert rulebook.load(place, paths).untrusted == file
        state = rulebook.trust_state(place, paths)
        assert (state.file, state.trusted) == (file, False)
        assert "allow Bash(make:*)" in state.shown
        rulebook.trust(place, paths, state.digest)
        assert rulebook.trust_state(place, paths).trusted
        assert told() == ["Bash(make:*)", "Bash(rm:*)"]
        written(file, self.TEXT + '\n[[rule]]\nallow = "Bash(curl:*)"\n')
        changed = rulebook.trust_state(place, paths)
        assert not changed.trusted
        assert '+allow = "Bash(curl:*)"' in changed.shown
        assert told() == ["Bash(rm:*)"]
        written(file, self.TEXT)
        assert rulebook.untrust(place, paths)
        assert not rulebook.untrust(place, paths)
        assert told() == ["Bash(rm:*)"]

    def test_all_of_a_table_that_it_grants_is_shown(self, paths: Paths, place: Place) -> None:
        server = 'command = "serve"\nargs = ["\\u001b[2J", "a b"]\nenv = { KEY = "x" }\n'
        written(Path(place.workspace, ".hitl", "config.toml"), f"[mcp.files]\n{server}")
        assert rulebook.trust_state(place, paths).shown.splitlines()[1:] == [
            '  server files: command = "serve", args = ["\\u001b[2J", "a b"], env = {"KEY": "x"}'
        ]

    def test_what_was_not_shown_is_not_trusted(self, paths: Paths, place: Place) -> None:
        file = written(Path(place.workspace) / ".hitl" / "config.toml", self.TEXT)
        digest = rulebook.trust_state(place, paths).digest
        written(file, self.TEXT + "\n# changed\n")
        with pytest.raises(RuleError, match="has changed since it was shown"):
            rulebook.trust(place, paths, digest)
        assert not rulebook.trust_state(place, paths).trusted

    def test_a_mistake_in_it_stops_the_program(self, paths: Paths, place: Place) -> None:
        written(Path(place.workspace) / ".hitl" / "config.toml", '[[rule]]\ndeny = "Bash()"\n')
        with pytest.raises(RuleError, match=r"config.toml:2: the pattern of `Bash\(\)` is empty"):
            rulebook.load(place, paths)


class TestPacks:
    @pytest.fixture(autouse=True)
    def _packs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        written(
            tmp_path / "rules" / "read-only.toml", '[[rule]]\nallow = "Bash(ls:*)"\n\n[[rule]]\nallow = "Bash(wc:*)"\n'
        )
        written(tmp_path / "rules" / "git.toml", '[[rule]]\nallow = "Bash(git add:*)"\n')
        monkeypatch.setattr(rulebook.layers, "packs", lambda: tmp_path / "rules")

    def test_read_only_is_on_and_others_are_switched(self, paths: Paths, place: Place) -> None:
        assert rulebook.load(place, paths).on == ("read-only",)
        rulebook.switch("git", True, "user", place, paths)
        assert rulebook.load(place, paths).on == ("read-only", "git")
        rulebook.switch("git", False, "project", place, paths)
        rulebook.switch("read-only", False, "user", place, paths)
        assert rulebook.load(place, paths).on == ()

    def test_one_rule_of_a_pack_is_switched_off_and_on(self, paths: Paths, place: Place) -> None:
        rulebook.switch_rule("Bash(ls:*)", False, "user", place, paths)
        assert [r.text for r in rulebook.load(place, paths).rules] == ["Bash(wc:*)"]
        rulebook.switch_rule("Bash(ls:*)", True, "user", place, paths)
        assert [r.text for r in rulebook.load(place, paths).rules] == ["Bash(ls:*)", "Bash(wc:*)"]

    @pytest.mark.parametrize("text", ["Bash(wc)", "Bash(nonsense:*)", "tree", ""])
    def test_a_rule_that_no_pack_has_is_not_switched_off_in_silence(
        self, text: str, paths: Paths, place: Place
    ) -> None:
        for file in (paths.user_rules, paths.user_config):
            written(file, f'format = 1\noff = ["Bash(wc:*)", "{text}"]\n')
            with pytest.raises(RuleError) as caught:
                rulebook.load(place, paths)
            assert (caught.value.file, caught.value.line) == (str(file), 2)
            assert f"no pack has the rule {text!r}" in caught.value.problem
            written(file, 'off = ["Bash(wc:*)", "Bash(git add:*)"]\n')
            assert "Bash(wc:*)" not in [rule.text for rule in rulebook.load(place, paths).rules]
            file.unlink()

    def test_a_pack_that_does_not_exist_is_named(self, paths: Paths, place: Place) -> None:
        written(paths.user_rules, "packs = {gti = true}\n")
        with pytest.raises(RuleError, match="there is no pack 'gti'"):
            rulebook.load(place, paths)


def test_ten_thousand_rules_load_to_the_last_line(paths: Paths, place: Place) -> None:
    tables = "".join(f'[[rule]]\nallow = "Bash(tool{n}:*)"\nadded = 2026-11-30T12:00:00Z\n\n' for n in range(10_000))
    written(paths.user_rules, "format = 1\n\n" + tables)
    rules = [r for r in rulebook.load(place, paths).rules if r.source.layer == "user"]
    assert (len(rules), rules[-1].source.line) == (10_000, 3 + 4 * 9_999)
