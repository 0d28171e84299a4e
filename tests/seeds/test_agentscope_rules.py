"""AgentScope, AS-31 to AS-54: rules, what they match, what is suggested, and the modes."""

from __future__ import annotations

import json
import os
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Decision, Rule, approve, tool
from hitl_cli.errors import RuleError
from hitl_cli.interrupts import dump_answer, load_answer
from hitl_cli.permissions import codec
from hitl_cli.permissions.rule import Source
from hitl_cli.rulebook import pack
from tests.seeds.bench import Bench
from tests.seeds.stage import parsed

MODES = ("default", "accept-edits", "plan", "dont-ask", "bypass")
READ_ONLY = pack("read-only")  # on wherever nobody switched it off


@tool
def deploy(env: str) -> str:
    """Deploy."""
    return "ran"


def test_AS_31_a_rule_has_a_tool_a_pattern_a_decision_and_a_source_and_survives_being_written_down() -> None:
    for pattern in ("git log:*", None):
        rule = Rule(Decision.DENY, "Bash", pattern, Source("user", "/etc/rules.toml", 3), until=1e9)
        assert codec.from_table(codec.to_table(rule), rule.source) == rule
    answer = approve(["Bash(git log:*)", "deploy"], scope="user", until=5.0)
    assert load_answer(json.loads(json.dumps(dump_answer(answer)))) == answer


@pytest.mark.parametrize(
    ("rules", "decision"),
    [
        (["deploy", "? deploy", "- deploy"], "deny"),
        (["- deploy", "? deploy", "deploy"], "deny"),
        (["deploy", "? deploy"], "ask"),
        (["deploy"], "allow"),
        ([], "ask"),
    ],
)
def test_AS_32_deny_beats_ask_beats_allow_and_what_nothing_settles_asks(
    rules: list[str], decision: str, bench: Bench
) -> None:
    assert bench.decides("deploy", {"env": "a"}, rules, tools=[deploy]) == (
        "allow" if decision == "allow" else decision
    )
    assert bench.bash("make", *(rule.replace("deploy", "Bash(make)") for rule in rules)) == decision


@pytest.mark.parametrize(("rules", "decision"), [([], "allow"), (["? look"], "ask"), (["? look", "- look"], "deny")])
def test_AS_32_a_read_only_tool_needs_no_rule_but_ask_and_deny_rules_come_first(
    rules: list[str], decision: str, bench: Bench
) -> None:
    @tool(read_only=True)
    def look() -> str:
        """Look."""
        return "ran"

    assert bench.decides("look", {}, rules, tools=[look]) == decision


def test_AS_33_a_rule_without_a_pattern_covers_every_call_and_one_with_a_pattern_some(bench: Bench) -> None:
    """Different: a pattern for any other tool names an argument, `Tool(argument:glob)`; a bare text is a mistake."""
    assert bench.decides("deploy", {"env": "a"}, ["deploy"], tools=[deploy]) == "allow"
    for env, decision in (("staging", "allow"), ("stage", "allow"), ("prod", "ask")):
        assert bench.decides("deploy", {"env": env}, ["deploy(env:stag*)"], tools=[deploy]) == decision
    assert bench.decides("deploy", {"env": "a"}, ["deploy(x:*)"], tools=[deploy]) == "ask"  # there is no such argument
    with pytest.raises(RuleError, match=r"Write `deploy\(argument:glob\)`"):
        parsed("deploy(x)")


def test_AS_34_for_a_tool_that_nobody_knows_one_rule_for_all_of_it_is_on_offer(bench: Bench) -> None:
    [offer] = bench.asked("deploy", {"env": "a"}, tools=[deploy]).suggested
    assert (offer.rules, offer.covers) == (("deploy",), "every call of deploy")
    assert bench.decides("deploy", {"env": "b"}, list(offer.rules), tools=[deploy]) == "allow"


@pytest.mark.parametrize(
    ("command", "offers"),
    [
        ("git commit -m 'x'", [("git commit:*",), ("git:*",)]),
        (
            "npm install && npm run build && npm test",
            [("npm install", "npm run build", "npm test"), ("npm install:*", "npm run build:*", "npm test:*")],
        ),
        ("a1 x && a2 x && a1 x && a2 x && a3 x && a3 x", [("a1 x", "a2 x", "a3 x"), ("a1:*", "a2:*", "a3:*")]),
        ("a x; b x; c x; d x; e x; f x", []),
        ("npm", [("npm",)]),
        ("python -m pytest", [("python -m pytest",), ("python -m pytest:*",)]),
        ("cd src && echo hi && make test", [("make test",), ("make test:*",)]),
    ],
)
def test_AS_35_a_ladder_of_rules_is_on_offer_for_a_command(
    command: str, offers: list[tuple[str, ...]], bench: Bench
) -> None:
    """Different: from the very command to the program, one rule for each part that needs one; all of them or none.

    A person who wants less than "every `git commit`" can have it. More than five parts are more than a person looks over.
    """
    found = bench.offers("Bash", command=command)
    assert found == [tuple(f"Bash({rule})" for rule in offer) for offer in offers]
    for offer in found:
        assert bench.bash(command, *offer) == "allow"


@pytest.mark.parametrize("command", ["cd src", "echo hi", "pwd", "true"])
def test_AS_35_what_needs_no_rule_is_not_asked_about(command: str, bench: Bench) -> None:
    assert bench.bash(command) == "allow"


def test_AS_36_harmless_assignments_are_set_aside_and_any_other_asks(bench: Bench) -> None:
    """Stricter: what a rule is offered for is what it covers, and no assignment that could change the program is."""
    for command in ("CI=true npm run test", "NODE_ENV=production DEBUG=1 npm run test"):
        assert ("Bash(npm run test:*)",) in bench.offers("Bash", command=command)
        assert bench.bash(command, "Bash(npm run test:*)") == "allow"
    assert bench.offers("Bash", command="API_KEY=a npm run deploy") == []
    for command in ("API_KEY=a npm run test", "PATH=x npm run test", "PYTHONPATH=x npm run test"):
        assert bench.bash(command, "Bash(npm run test:*)") == "ask"
    assert bench.bash("ls", *READ_ONLY) == "allow"
    for command in ("PATH=x ls", "LD_PRELOAD=x ls"):
        assert bench.bash(command, *READ_ONLY, "Bash(ls:*)") == "ask"


@pytest.mark.parametrize(
    ("command", "decision"),
    [("git", "allow"), ("git add", "allow"), ("git add x", "allow"), ("gitk", "ask"), ("git-lfs pull", "ask")],
)
def test_AS_37_a_prefix_covers_the_program_alone_and_with_more_words(command: str, decision: str, bench: Bench) -> None:
    assert bench.bash(command, "Bash(git:*)") == decision


@pytest.mark.parametrize(
    ("pattern", "command", "decision"),
    [
        ("git *", "git", "allow"),
        ("git *", "git add", "allow"),
        ("git *", "git add x", "allow"),
        ("git * x", "git add x", "allow"),
        ("git * x", "git add y", "ask"),
        ("npm run test*", "npm run test-unit", "allow"),
        ("npm run test*", "npm run test now", "ask"),
        (r"make \*", r"make \*", "allow"),
        (r"make \*", "make all", "ask"),
        ("make '*'", "make '*'", "allow"),
        (r"make a\\b", r"make 'a\b'", "allow"),
    ],
)
def test_AS_38_a_star_stands_for_words_and_can_be_meant_literally(
    pattern: str, command: str, decision: str, bench: Bench
) -> None:
    """Different: `*` is read over words, not over the text: inside a word it stays there, so it cannot reach past it."""
    assert bench.bash(command, f"Bash({pattern})") == decision


def test_AS_39_a_pattern_without_a_wildcard_is_the_whole_command(bench: Bench) -> None:
    """Stricter: as an allow rule a piece of text would cover whatever holds it. Denying `install` to every program is
    still one rule, with its star written."""
    assert bench.bash("npm run deploy", "Bash(npm run deploy)") == "allow"
    for command in ("npm run deploy --now", "x npm run deploy", "echo $(npm run deploy); rm x"):
        assert bench.bash(command, "Bash(npm run deploy)") == "ask"
    for command, decision in (("npm install x", "deny"), ("pip install y", "deny"), ("npm test", "allow")):
        assert bench.bash(command, "Bash", "- Bash(* install:*)") == decision


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m x && touch y",
        "git commit -m x || touch y",
        "git commit -m x; touch y",
        "git commit -m x & touch y",
        "git commit -m x\ntouch y",
        "git commit -m x | touch y",
        "git commit -m $(touch y)",
    ],
)
def test_AS_40_allow_needs_every_part_of_a_command_and_deny_and_ask_any(command: str, bench: Bench) -> None:
    """Stricter: the rule for one part says nothing about the others."""
    assert bench.bash(command, "Bash(git commit:*)") == "ask"
    assert bench.bash(command, "Bash(git commit:*)", "Bash(touch y)") == "allow"
    assert bench.bash(command, "Bash", "? Bash(touch:*)") == "ask"
    assert bench.bash(command, "Bash", "- Bash(touch:*)") == "deny"


def test_AS_41_rules_for_files_are_globs_and_a_ladder_of_them_is_on_offer(bench: Bench) -> None:
    """Different: the file, its folder, the workspace; `*` stops at a separator, and `..` is resolved before matching."""
    for name in ("Write", "Edit"):
        input = {"content": "x"} if name == "Write" else {"old_string": "x", "new_string": "y"}
        offers = bench.offers(name, file_path="src/a.py", **input)
        assert offers == [(f"{name}(src/a.py)",), (f"{name}(src/**)",), (f"{name}(**)",)]
    assert bench.offers("Write", file_path="a.py", content="x") == [("Write(./a.py)",), ("Write(**)",)]
    for path, deep, flat in (
        ("src/a.py", "allow", "allow"),
        ("src/b/c.py", "allow", "ask"),
        ("lib/a.py", "ask", "ask"),
        ("src/../x", "ask", "ask"),
        ("src/../src/a.py", "allow", "allow"),
        ("src/../../x", "ask", "ask"),
    ):
        assert (bench.writes(path, "Write(src/**)"), bench.writes(path, "Write(src/*)")) == (deep, flat), path
    assert bench.writes("", "Write(**)") == "ask"


@pytest.mark.parametrize("mode", MODES)
def test_AS_42_what_only_reads_runs_in_every_mode_unless_a_rule_says_otherwise(mode: str, bench: Bench) -> None:
    @tool(read_only=True)
    def look() -> str:
        """Look."""
        return "ran"

    def decides(*rules: str) -> list[str]:
        read: dict[str, dict[str, Any]] = {"look": {}, "Bash": {"command": "ls"}, "Read": {"file_path": "a"}}
        both = [*READ_ONLY, *chain.from_iterable((f"{r} look", f"{r} Bash(ls)", f"{r} Read") for r in rules)]
        return [bench.decides(name, input, both, mode=mode, tools=[look]) for name, input in read.items()]

    assert decides() == ["allow"] * 3
    assert decides("?") == ["deny" if mode == "dont-ask" else "ask"] * 3
    assert decides("-") == ["deny"] * 3


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat a",
        "head -5 a",
        "grep x a",
        "find . -name a",
        "git status",
        "git log -5",
        "git diff HEAD",
        "wc a | sort",
    ],
)
def test_AS_43_a_command_that_only_reads_needs_no_rule_of_ones_own(command: str, bench: Bench) -> None:
    assert bench.bash(command, *READ_ONLY) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "tee FILE",
        "echo a\nrm b",
        "git branch -D x",
        "git tag -d v",
        "git diff --output=f",
        "rg --pre=x y",
        "find . '-delete'",
        "find . -exec rm {} +",
        "find . -fprint x",
        "ls > x",
        "ls && make",
        "cat $(make)",
        "sort -o x y",
    ],
)
def test_AS_43_a_command_that_could_do_more_than_read_asks(command: str, bench: Bench) -> None:
    """Stricter: options are known one by one, so the first seven, which were once taken for reading, ask."""
    assert bench.bash(command, *READ_ONLY) == "ask"


def test_AS_44_structure_is_read_and_every_command_in_it_needs_its_rule(bench: Bench) -> None:
    """Looser: loops, conditions, subshells and substitutions are looked into, not refused."""
    for command in ("(ls)", "for i in a b; do ls $i; done", "if true; then ls; fi", "ls $(ls)", "[[ -f x ]] && ls"):
        assert bench.bash(command, "Bash(ls:*)") == "allow", command
    for command in ("(ls; x)", "for i in a b; do x $i; done", "if x; then ls; fi", "ls $(x)", "ls <(x)", "ls `x`"):
        assert bench.bash(command, "Bash(ls:*)") == "ask", command


@pytest.mark.parametrize("command", ["$X a", "$(ls) a", "`ls` a", "ls 'open", "ls $(", "rm -rf /", "f() { ls; }; f"])
def test_AS_44_what_cannot_be_proved_asks_whatever_is_allowed(command: str, bench: Bench) -> None:
    rules = ["Bash", "Bash(ls:*)", "Bash(rm:*)", "Write(**)", "Read(**)"]
    asked = bench.asked("Bash", {"command": command}, rules)
    assert (asked.safety, asked.suggested) == (True, ())


@pytest.mark.parametrize("path", ["~/.bashrc", "~/.ssh/config", "~/.gitconfig", "~/.netrc", "~/.pypirc", ".git/config"])
def test_AS_45_the_places_that_decide_what_runs_later_always_ask(path: str, bench: Bench) -> None:
    """Stricter: two tiers in place of a list that can be emptied. This one no rule clears, not even one that names it."""
    rules = ["Write(**)", "Write(~/**)", f"Write({path})"]
    for spelling in (path, path.upper() if path.startswith(".git") else path):
        asked = bench.asked("Write", {"file_path": spelling, "content": "x"}, rules)
        assert (asked.safety, asked.suggested) == (True, ())
        assert bench.writes(spelling, *rules, mode="bypass") == "ask"
    assert bench.bash(f"echo x > {path}", "Bash", *rules) == "ask"
    assert bench.bash(f"cp a {path}", "Bash", *rules) == "ask"


@pytest.mark.parametrize("path", [".env", ".ENV", "a/.env.local", ".vscode/x", ".idea/x", ".git/info/x", ".npmrc"])
def test_AS_45_guarded_places_need_a_rule_that_names_them(path: str, bench: Bench) -> None:
    """The other tier: a wide rule does not reach these, a person who names one has thought of it."""
    assert bench.writes(path, "Write(**)") == "ask"
    assert (
        "needs a rule that names it" in bench.asked("Write", {"file_path": path, "content": "x"}, ["Write(**)"]).reason
    )
    assert bench.decides("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, ["Edit(**)"]) == "ask"
    assert bench.bash(f"echo x > {path}", "Bash", "Write(**)") == "ask"
    assert bench.bash(f"cp a {path}", "Bash", "Write(**)") == "ask"
    assert bench.writes(path, f"Write({path})") == "allow"


def test_AS_45_names_that_only_look_alike_are_ordinary_files(bench: Bench) -> None:
    assert {bench.writes(path, "Write(**)") for path in ("env.txt", ".github/x", "my.env", "ssh/config")} == {"allow"}


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf ../x",
        "sudo rm x",
        "dd if=x of=/dev/sda",
        "mkfs /dev/sda1",
        "mkfs.ext4 /dev/sda1",
        "fdisk /dev/sda",
        "echo x > /dev/sda",
    ],
)
def test_AS_46_a_rule_for_the_program_does_not_cover_what_destroys(command: str, bench: Bench) -> None:
    assert bench.bash(command, f"Bash({command.split()[0]}:*)") == "ask"


@pytest.mark.parametrize(
    ("command", "widest"),
    [
        ("rm -rf x", None),
        ("sudo rm x", None),
        ("dd if=x of=y", None),
        ("mkfs x", None),
        ("chmod 777 x", "Bash(chmod 777 x)"),
        ("chmod -R 777 x", "Bash(chmod -R 777 x)"),
        ("chown -R me x", None),
        ("kill -9 12", None),
    ],
)
def test_AS_46_dangerous_commands_ask_and_no_wide_rule_is_on_offer_for_them(
    command: str, widest: str | None, bench: Bench
) -> None:
    """Looser: no list of words asks for ever. Who writes down `Bash(chmod:*)` has it, but nobody is led there."""
    offers = bench.offers("Bash", command=command)
    assert offers[-1:] == ([(widest,)] if widest else [])
    program = command.split()[0]
    assert bench.bash(command, f"Bash({program}:*)") == ("ask" if program == "sudo" else "allow")


@pytest.mark.parametrize(
    "command", ["git add .", "ddrescue a b", "echo 'rm -rf /'", "git commit -m 'kill -9'", "formatter a"]
)
def test_AS_46_words_that_only_look_dangerous_are_words(command: str, bench: Bench) -> None:
    assert bench.bash(command, f"Bash({command.split()[0]}:*)") == "allow"


ACCEPTED = ["5p", "1,5p", "$p", "s/a/b/", "s/a/b/g", "s/a/b/gp", "s/a/b/2", "1{p;d}", "1!d", "s/a/b/ # said"]
REFUSED = ["w out", "W out", "s/a/b/w out", "1e ls", "e", "s/a/b/e", "E", "s/a/b/x", "s/a/b", "r /etc/passwd"]


@pytest.mark.parametrize("script", ACCEPTED)
def test_AS_47_a_sed_script_that_only_edits_text_only_reads_and_with_i_edits_its_file(
    script: str, bench: Bench
) -> None:
    """Looser: the script is read by a small reader of sed, so braces, negation and comments are understood."""
    assert bench.bash(f"sed -n '{script}' a", *READ_ONLY) == "allow"
    in_place = f"sed -i '{script}' "
    assert bench.bash(in_place + "a", *READ_ONLY) == "ask"
    assert bench.bash(in_place + "a", *READ_ONLY, mode="accept-edits") == "allow"
    for elsewhere in (".env", "/etc/hosts", "../a", ".git/config"):
        assert bench.bash(in_place + elsewhere, *READ_ONLY, mode="accept-edits") == "ask", elsewhere


@pytest.mark.parametrize("script", REFUSED)
def test_AS_47_a_sed_script_that_writes_runs_or_is_not_understood_asks(script: str, bench: Bench) -> None:
    for command in (f"sed -n '{script}' a", f"sed -i '{script}' a"):
        assert bench.bash(command, *READ_ONLY, "Bash(sed:*)") == "ask"


def test_AS_47_broken_quoting_asks_whatever_is_allowed(bench: Bench) -> None:
    assert bench.asked("Bash", {"command": 'sed "s/a/b a'}, ["Bash"]).safety


@pytest.mark.parametrize("target", ["/", "'/'", "~", '"$HOME"', "/usr", "/etc/", "*", "./*", "sub/*", ".", "..", "//"])
@pytest.mark.parametrize("command", ["rm -rf {}", "rm {}", "rmdir {}", "ls && rm -rf -- {}"])
def test_AS_48_removing_what_everything_else_stands_on_asks_whatever_is_allowed(
    command: str, target: str, bench: Bench
) -> None:
    rules = ["Bash", "Bash(rm:*)", "Bash(rmdir:*)", "Write(**)", "Write(/**)"]
    text = command.format(target)
    assert bench.asked("Bash", {"command": text}, rules).safety
    assert bench.bash(text, *rules, mode="accept-edits") == "ask"


def test_AS_48_a_folder_inside_the_workspace_is_a_matter_of_rules(bench: Bench) -> None:
    """A quoted `~` is such a folder: the shell does not take it for the home, and neither do we."""
    for command in ("rm -rf sub", "rmdir sub", "rm sub/x", "rm -rf '~'"):
        assert bench.bash(command) == "ask"
        assert bench.bash(command, "Bash(rm:*)", "Bash(rmdir:*)") == "allow"


def test_AS_49_mode_default_asks_about_all_that_nothing_allows(bench: Bench) -> None:
    assert (bench.writes("a"), bench.bash("make")) == ("ask", "ask")
    assert (bench.writes("a", "Write(a)"), bench.bash("make", "Bash(make)")) == ("allow", "allow")


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("mkdir q", "allow"),
        ("touch q", "allow"),
        ("rm -r sub", "allow"),
        ("rmdir sub", "allow"),
        ("mv a sub/a", "allow"),
        ("cp a q", "allow"),
        ("sed -i s/a/b/ a", "allow"),
        ("cp a ../q", "ask"),
        ("cp a q ../q", "ask"),
        ("mv ../a q", "ask"),
        ("touch", "ask"),
        ("touch .env", "ask"),
        ("touch .git/config", "ask"),
        ("make", "ask"),
        ("mkdir q && make", "ask"),
    ],
)
def test_AS_50_mode_accept_edits_lets_files_of_the_workspace_be_changed(
    command: str, decision: str, bench: Bench
) -> None:
    assert bench.bash(command, mode="accept-edits") == decision


def test_AS_50_mode_accept_edits_lets_files_be_written_and_safety_asks_still_ask(bench: Bench) -> None:
    paths = ("a", "sub/b", "../a", "/etc/a", ".env", ".git/config")
    decisions = [bench.writes(path, mode="accept-edits") for path in paths]
    assert decisions == ["allow", "allow", "ask", "ask", "ask", "ask"]


def test_AS_51_mode_plan_runs_what_reads_and_denies_the_rest_whatever_is_allowed(bench: Bench) -> None:
    allowed = ["Write(**)", "Bash(make)", "deploy", *READ_ONLY]
    assert bench.writes("a", *allowed, mode="plan") == "deny"
    assert bench.bash("make", *allowed, mode="plan") == "deny"
    assert bench.decides("deploy", {"env": "a"}, allowed, mode="plan", tools=[deploy]) == "deny"
    assert bench.bash("ls", *allowed, mode="plan") == "allow"
    assert bench.decides("Read", {"file_path": "a"}, mode="plan") == "allow"
    assert bench.bash("make", *allowed, "? Bash(make)", mode="plan") == "ask"
    assert bench.writes("a", *allowed, "? Write(a)", mode="plan") == "ask"
    assert bench.writes(".git/config", mode="plan") == "deny"
    assert bench.bash("ls", *allowed, "- Bash(ls)", mode="plan") == "deny"


def test_AS_52_mode_bypass_asks_only_for_ask_rules_and_for_the_floor(bench: Bench) -> None:
    """Stricter: what no rule could ever clear asks here as well. A mode for peace is not one for losing the disk."""
    assert (bench.bash("make", mode="bypass"), bench.writes("/etc/x", mode="bypass")) == ("allow", "allow")
    assert bench.bash("eval $X", mode="bypass") == "allow"  # what cannot be proved is not asked about
    assert bench.bash("make", "- Bash(make)", mode="bypass") == "deny"
    assert bench.bash("make", "? Bash(make)", mode="bypass") == "ask"
    for command in ("rm -rf /", "rm -rf ~", "echo x >> ~/.bashrc", "dd if=x of=/dev/sda"):
        assert bench.bash(command, mode="bypass") == "ask"


@pytest.mark.parametrize(
    "command", ["make", "npm test", "python x.py", "git push", "touch a", "curl example.org", "rm -rf /"]
)
def test_AS_53_mode_dont_ask_refuses_what_would_ask_and_says_which_rule_would_help(command: str, bench: Bench) -> None:
    """Stricter: edits in the workspace are refused as well, unless a rule allows them."""
    asked = bench.asked("Bash", {"command": command})
    run = bench.run("Bash", {"command": command}, mode="dont-ask")
    [denied] = run.denied
    assert denied["by"] == "mode dont-ask"
    assert denied["help"] == (asked.suggested[0].rule if asked.suggested else "")
    told = run.messages[2]["content"][0]["content"]
    assert asked.reason in told


def test_AS_53_mode_dont_ask_runs_what_reads_and_what_a_rule_allows(bench: Bench) -> None:
    assert bench.bash("ls", *READ_ONLY, mode="dont-ask") == "allow"
    assert bench.bash("make", "Bash(make)", mode="dont-ask") == "allow"
    assert bench.writes("a", "Write(a)", mode="dont-ask") == "allow"
    assert bench.writes("a", mode="dont-ask") == "deny"
    assert bench.bash("make", "Bash(make)", "? Bash(make)", mode="dont-ask") == "deny"


def test_AS_54_a_folder_is_inside_when_it_is_so_with_its_links_followed(bench: Bench, tmp_path: Path) -> None:
    workspace = Path(bench.place.cwd)
    (workspace / "sub").mkdir()
    (tmp_path / "ws-two").mkdir()
    os.symlink(tmp_path / "ws-two", workspace / "out")
    os.symlink(workspace / "sub", workspace / "in")
    for path, decision in (
        ("sub/x", "allow"),
        ("in/x", "allow"),
        ("out/x", "ask"),
        (f"{tmp_path}/ws/sub/x", "allow"),
        (f"{tmp_path}/ws-two/x", "ask"),
        ("../ws/sub/x", "allow"),
        ("../ws-two/x", "ask"),
        ("~/x", "ask"),
    ):
        assert bench.writes(path, mode="accept-edits") == decision, path
        assert bench.bash(f"touch {path}", mode="accept-edits") == decision, path
