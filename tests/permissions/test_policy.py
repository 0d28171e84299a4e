"""The judgement over accesses stated by hand: its order, what covers what, the modes, and what it says."""

from __future__ import annotations

import pytest

from hitl_cli.access import Access, Act, Command, Host, Opaque, Place, ReadPath, ToolUse, Unknown, WritePath
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import By, Decision, Mode, Rule, Source, Verdict
from hitl_cli.shell.scan import SEARCHED

PLACE = Place("/w", ("/w", "/extra"), "/home/u", ("/home/u/.config/hitl", "/w/.hitl"))
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY


def rules(*texts: str) -> list[Rule]:
    """`Bash(x)` is an allow rule, `? Bash(x)` an ask rule, `- Bash(x)` a deny rule."""
    kinds = {"?": ASK, "-": DENY}
    return [codec.parse(t.lstrip("?- "), kinds.get(t[0], ALLOW), Source("user")) for t in texts]


def judge(accesses: list[Access], *texts: str, mode: Mode = "default", tool: str = "Bash", **more: object) -> Verdict:
    return Policy(rules(*texts), PLACE).judge(accesses, mode=mode, now=1000.0, tool=tool, **more)  # type: ignore[arg-type]


def outcome(
    accesses: list[Access], *texts: str, mode: Mode = "default", tool: str = "Bash", **more: object
) -> tuple[Decision, By]:
    verdict = judge(accesses, *texts, mode=mode, tool=tool, **more)
    assert verdict.part is not None
    return verdict.decision, verdict.part.by


def command(text: str, *acts: Act, **more: object) -> Command:
    return Command(tuple(text.split()), acts, text=text, names=(text.split()[0],), cwd="/w", **more)  # type: ignore[arg-type]


LOG = command("git log -1")


class TestOrder:
    def test_deny_beats_ask_beats_allow_wherever_they_stand(self) -> None:
        assert outcome([LOG], "Bash(git log:*)", "? Bash(git:*)", "- Bash(git log:*)") == (DENY, "rule")
        assert outcome([LOG], "- Bash(git log:*)", "Bash(git log:*)") == (DENY, "rule")
        assert outcome([LOG], "Bash(git log:*)", "? Bash(git:*)") == (ASK, "rule")
        assert outcome([LOG], "Bash(git log:*)") == (ALLOW, "rule")
        assert outcome([LOG]) == (ASK, "none")

    def test_the_floor_is_asked_before_the_programs_own_policy(self) -> None:
        key = [ReadPath("/home/u/.ssh/id_rsa")]
        assert outcome(key, "Read(~/**)", tool="Read", own=ALLOW) == (ASK, "floor")
        assert outcome(key, "- Read(~/**)", tool="Read", own=ALLOW) == (DENY, "rule")

    def test_the_programs_own_policy_comes_before_allow_rules_and_after_ask_rules(self) -> None:
        assert outcome([LOG], "Bash(git log:*)", own=DENY) == (DENY, "policy")
        assert outcome([LOG], own=ALLOW) == (ALLOW, "policy")
        assert outcome([LOG], "? Bash(git:*)", own=ALLOW) == (ASK, "rule")

    def test_a_read_only_tool_is_allowed_unless_a_rule_says_otherwise(self) -> None:
        use = [ToolUse("lookup", {"name": "x"})]
        assert outcome(use, tool="lookup", read_only=True) == (ALLOW, "read-only")
        assert outcome(use, "- lookup", tool="lookup", read_only=True) == (DENY, "rule")
        assert outcome(use, "? lookup(name:x*)", tool="lookup", read_only=True) == (ASK, "rule")
        assert outcome(use, "? lookup(name:y*)", tool="lookup", read_only=True) == (ALLOW, "read-only")

    def test_a_rule_ends_at_its_time(self) -> None:
        from hitl_cli.records import replace

        rule = rules("Bash(git log:*)")[0]
        for until, decision in ((999.0, ASK), (1000.0, ASK), (1001.0, ALLOW), (None, ALLOW)):
            policy = Policy([replace(rule, until=until)], PLACE)
            assert policy.judge([LOG], mode="default", now=1000.0).decision is decision

    def test_more_rules_make_another_policy_and_leave_the_first_as_it_is(self) -> None:
        first = Policy(rules(), PLACE)
        grown = first
        for n in range(10):
            grown = grown.plus(rules(f"Bash(tool{n}:*)"))
        grown = grown.plus(rules("Bash(git log:*)"))
        assert grown.judge([LOG], mode="default", now=0).decision is ALLOW
        assert grown.judge([command("tool3 x")], mode="default", now=0).decision is ALLOW
        assert first.judge([LOG], mode="default", now=0).decision is ASK


class TestCommands:
    def test_allow_needs_every_part_and_deny_any(self) -> None:
        parts: list[Access] = [LOG, command("make deploy"), command("head -5")]
        verdict = judge(parts, "Bash(git log:*)", "Bash(head:*)")
        assert (verdict.decision, verdict.reason) == (ASK, "no rule covers `make deploy`; part 2 of 3")
        assert judge(parts, "Bash(git log:*)", "Bash(head:*)", "Bash(make deploy)").decision is ALLOW
        assert judge(parts, "Bash", "- Bash(head:*)").decision is DENY

    def test_a_free_part_needs_no_rule(self) -> None:
        assert judge([command("cd src", free="it stays in the workspace"), LOG], "Bash(git log:*)").decision is ALLOW

    def test_a_prefix_covers_an_act_only_when_it_spells_the_word(self) -> None:
        parts: list[Access] = [command("git log --output=x", Act(2, "writes a file"))]
        assert judge(parts, "Bash(git log:*)", "Bash").decision is ASK
        assert judge(parts, "Bash(git log --output=x)").decision is ALLOW
        assert judge(parts, "Bash(git log --output=x:*)").decision is ALLOW
        assert judge(parts, "Bash(git log --output=*:*)").decision is ALLOW
        assert judge(parts, "Bash(git log -*:*)").decision is ASK
        assert judge(parts, "Bash(git * --output=x)").decision is ALLOW
        assert judge(parts, "Bash(git log:*)").reason == (
            "allow rule Bash(git log:*) does not spell `--output=x`, which writes a file"
        )

    def test_an_unknown_word_that_may_act_is_never_spelled(self) -> None:
        star = Unknown("*", glob=True)
        parts: list[Access] = [Command(("sort", star), (Act(1, "may be an option"),), text="sort *", cwd="/w")]
        assert judge(parts, "Bash(sort:*)", "Bash(sort '*')").decision is ASK

    def test_another_form_may_be_named_as_far_as_the_program(self) -> None:
        wrapped = command("npm test", forms=(("timeout", "5", "npm", "test"),), spells=(3,))
        for text, decision in (
            ("Bash(npm test)", ALLOW),
            ("Bash(timeout 5 npm:*)", ALLOW),
            ("Bash(timeout 5 npm test)", ALLOW),
            ("Bash(timeout:*)", ASK),
            ("Bash(timeout 5:*)", ASK),
        ):
            assert judge([wrapped], text).decision is decision, text

    @pytest.mark.parametrize(
        "text",
        ["rm -rf dist", "rm -fr dist", "rm -r -f dist", "rm --recursive --force dist", "rm dist -rf", "rm -rfv a b"],
    )
    def test_a_deny_rule_is_met_by_its_options_in_any_order_and_spelling(self, text: str) -> None:
        assert judge([command(text)], "Bash", "- Bash(rm -rf:*)").decision is DENY

    @pytest.mark.parametrize("text", ["rm -r dist", "rm dist", "git push --force-with-lease", "grep rm -rf"])
    def test_a_deny_rule_is_not_met_by_other_options(self, text: str) -> None:
        assert judge([command(text)], "Bash", "- Bash(rm -rf:*)", "- Bash(git push --force:*)").decision is ALLOW

    def test_a_deny_rule_looks_at_every_name_and_form(self) -> None:
        assert judge([command("/bin/rm x")], "Bash", "- Bash(rm:*)").decision is DENY
        assert (
            judge([Command(("busybox", "rm"), names=("busybox", "rm"), text="x")], "Bash", "- Bash(rm:*)").decision
            is DENY
        )
        hidden = command("git push", also=(("sudo", "git", "push"),))
        assert judge([hidden], "Bash", "- Bash(sudo:*)").decision is DENY

    def test_what_a_deny_rule_may_forbid_is_asked_about(self) -> None:
        sub: list[Access] = [Command(("git", Unknown("$X", single=True)), text="git $X", cwd="/w")]
        verdict = judge(sub, "Bash", "- Bash(git push:*)")
        assert (verdict.decision, verdict.part and verdict.part.by) == (ASK, "rule")
        assert judge(sub, "Bash", "- Bash(npm publish:*)").decision is ALLOW
        words = ("python3", "-c", "os.system('rm -rf x')")
        code: list[Access] = [Command(words, names=("python3", "python"), text="python3", cwd="/w")]
        assert judge(code, "Bash(python3:*)", "- Bash(rm:*)").decision is ASK

    def test_no_allow_rule_covers_an_opaque_part_and_deny_rules_search_it(self) -> None:
        part: list[Access] = [Opaque("an unclosed quote", "git push '", ("git", "push"))]
        assert outcome(part, "Bash", "Bash(git push:*)") == (ASK, "opaque")
        assert outcome(part, "Bash", "- Bash(git push:*)") == (DENY, "rule")
        assert outcome(part, "Bash", mode="bypass") == (ALLOW, "mode")
        assert outcome([Opaque("why", "cat .env '", ("cat", ".env"))], "- Read(.env)", mode="bypass") == (ASK, "rule")

    @pytest.mark.parametrize(
        ("mode", "decision"),
        [("default", ASK), ("accept-edits", ASK), ("bypass", ASK), ("plan", DENY), ("dont-ask", DENY)],
    )
    @pytest.mark.parametrize("text", ["{} $((", "{} 'x", "bash <<< $X {}", "{}" + "; a" * 2_001])
    def test_what_deny_rules_could_not_search_is_run_in_no_mode(
        self, text: str, mode: Mode, decision: Decision
    ) -> None:
        text = text.format("a " * SEARCHED + "\ngit push\n")
        found = accesses_of("Bash", {"command": text}, Place("/w", ("/w",), "/h"))
        assert judge(list(found), "Bash", "- Bash(git push:*)", mode=mode).decision is decision
        assert judge(list(found), mode=mode, own=ALLOW).decision is not ALLOW

    @pytest.mark.parametrize("line", ["echo x > f", "ls > f", "git log > f; ls", "printf x >> f"])
    @pytest.mark.parametrize("mode", ["bypass", "accept-edits"])
    def test_where_the_mode_allows_a_part_the_mode_is_the_reason(self, line: str, mode: Mode) -> None:
        found = accesses_of("Bash", {"command": line}, Place("/w", ("/w",), "/h"))
        verdict = judge(list(found), "Bash(ls:*)", "Bash(git log:*)", mode=mode)
        assert (verdict.decision, verdict.part and verdict.part.by) == (ALLOW, "mode")

    @pytest.mark.parametrize("path", ["src/f", ".git/hooks/x", ".vscode/x", "/etc/x", "~/.bashrc"])
    def test_mode_plan_names_what_it_does_not_write(self, path: str) -> None:
        verdict = judge(
            list(accesses_of("Bash", {"command": f"echo > {path}"}, Place("/w", ("/w",), "/h"))), mode="plan"
        )
        assert verdict.decision is DENY
        assert verdict.reason.startswith("mode plan writes nothing: writing `")

    def test_nothing_to_judge_asks(self) -> None:
        assert judge([]).decision is ASK
        assert judge([], mode="bypass").decision is ALLOW
        assert judge([], mode="dont-ask").decision is DENY


class TestFiles:
    def test_a_command_covers_its_files_inside_the_workspace_and_no_others(self) -> None:
        cat = command("cat x")
        assert judge([cat, ReadPath("/w/x", by_command=0)], "Bash(cat:*)").decision is ALLOW
        assert judge([cat, ReadPath("/extra/x", by_command=0)], "Bash(cat:*)").decision is ALLOW
        assert judge([cat, ReadPath("/etc/x", by_command=0)], "Bash(cat:*)").decision is ASK
        assert judge([cat, ReadPath("/etc/x", by_command=0)], "Bash(cat:*)", "Read(/etc/**)").decision is ALLOW
        assert judge([cat, ReadPath("/etc/x", by_command=0, listing=True)], "Bash(cat:*)").decision is ALLOW
        assert judge([cat, ReadPath("/w/l", by_command=0, real="/etc/x")], "Bash(cat:*)").decision is ASK

    def test_an_exact_rule_consents_to_the_very_files_it_spells(self) -> None:
        parts: list[Access] = [command("cat /etc/x"), ReadPath("/etc/x", by_command=0)]
        assert judge(parts, "Bash(cat /etc/x)").decision is ALLOW
        assert judge(parts, "Bash(cat /etc/x:*)").decision is ALLOW
        assert judge(parts, "Bash(cat:*)").decision is ASK
        linked: list[Access] = [command("cat /etc/x"), ReadPath("/etc/x", by_command=0, real="/srv/y")]
        assert judge(linked, "Bash(cat /etc/x)").decision is ASK

    def test_an_option_that_writes_is_covered_by_a_rule_for_the_path(self) -> None:
        parts: list[Access] = [
            command("git diff --output=build/p", Act(2, "writes a file")),
            WritePath("/w/build/p", by_command=0, at=2),
        ]
        assert judge(parts, "Bash(git diff:*)").decision is ASK
        assert judge(parts, "Bash(git diff:*)", "Write(build/**)").decision is ALLOW
        assert judge(parts, "Bash(git diff --output=build/p:*)").decision is ALLOW

    def test_a_redirection_needs_a_write_rule_and_an_input_only_a_place(self) -> None:
        assert judge([LOG, WritePath("/w/out")], "Bash(git log:*)").decision is ASK
        assert judge([LOG, WritePath("/w/out")], "Bash(git log:*)", "Write(out)").decision is ALLOW
        assert judge([LOG, WritePath("/w/out")], "Bash(git log:*)", "Edit(out)").decision is ALLOW
        assert judge([LOG, WritePath("/dev/null")], "Bash(git log:*)").decision is ALLOW
        assert judge([LOG, ReadPath("/w/in")], "Bash(git log:*)").decision is ALLOW
        assert judge([LOG, ReadPath("/etc/in")], "Bash(git log:*)").decision is ASK

    def test_allow_needs_both_the_written_and_the_real_path_and_deny_either(self) -> None:
        link = [WritePath("/w/src/l", real="/w/lib/x")]
        assert judge(link, "Write(src/**)", tool="Write").decision is ASK
        assert judge(link, "Write(src/**)", "Write(lib/**)", tool="Write").decision is ALLOW
        assert judge(link, "Write(**)", "- Write(src/**)", tool="Write").decision is DENY
        assert judge(link, "Write(**)", "- Write(lib/**)", tool="Write").decision is DENY

    def test_another_name_of_the_workspace_is_the_workspace(self) -> None:
        through = [WritePath("/link/src/a", real="/w/src/a", alias="/w/src/a")]
        assert judge(through, "Write(src/**)", tool="Write").decision is ALLOW
        assert judge(through, "Write(src/**)", "- Write(/link/**)", tool="Write").decision is DENY

    def test_edit_rules_cover_write_and_not_the_other_way(self) -> None:
        path = [WritePath("/w/a")]
        assert judge(path, "Edit(a)", tool="Write").decision is ALLOW
        assert judge(path, "Write(a)", tool="Edit").decision is ASK
        assert judge(path, "Edit(**)", "- Write(a)", tool="Edit").decision is DENY

    def test_read_rules_open_and_close_searches(self) -> None:
        folder = [ReadPath("/w/secrets")]
        assert judge(folder, "Read(**)", tool="Grep").decision is ALLOW
        assert judge(folder, "Grep", "- Read(secrets/**)", tool="Grep").decision is DENY
        assert judge([ReadPath("/w")], "Grep", "- Read(secrets/**)", tool="Grep").decision is ALLOW

    def test_a_pattern_that_may_name_a_denied_file_is_asked_about(self) -> None:
        cat = command("cat .e*")
        assert judge([cat, ReadPath("/w/.e*", by_command=0, glob=True)], "Bash(cat:*)", "- Read(.env)").decision is ASK
        assert (
            judge([cat, ReadPath("/w/*.py", by_command=0, glob=True)], "Bash(cat:*)", "- Read(.env)").decision is ALLOW
        )
        assert judge([cat, ReadPath("/**", by_command=0, glob=True)], "Bash(cat:*)").decision is ALLOW
        assert judge([cat, ReadPath("/**", by_command=0, glob=True)], "Bash(cat:*)", "- Read(.env)").decision is ASK
        assert judge([cat, ReadPath("/etc/*", by_command=0, glob=True)], "Bash(cat:*)").decision is ASK
        listed = ReadPath("/**", by_command=0, glob=True, listing=True)
        assert judge([cat, listed], "Bash(cat:*)", "- Read(.env)").decision is ALLOW
        rm = command("rm x")
        assert judge([rm, WritePath("/**", by_command=0, glob=True, removes=True)], "Bash(rm:*)").decision is ASK
        assert judge([rm, WritePath("/w/b/*.o", by_command=0, glob=True, removes=True)], "Bash(rm:*)").decision is ALLOW
        assert judge([rm, WritePath("/w/*/../../x", by_command=0, glob=True)], "Bash(rm:*)").decision is ASK

    def test_what_a_search_leaves_out(self) -> None:
        policy = Policy(rules("- Read(.env)", "- Grep(big/**)"), PLACE)
        assert not policy.readable("/w/a/.env", now=0)
        assert not policy.readable("/w/a/x", "/w/.env", now=0)
        assert policy.readable("/w/big/x", now=0)
        assert not policy.readable("/w/big/x", now=0, tool="Grep")


class TestFloorAndGuardedPlaces:
    @pytest.mark.parametrize(
        "path",
        [
            "/w/.hitl/config.toml",
            "/home/u/.config/hitl/rules.toml",
            "/w/.git/hooks/pre-commit",
            "/w/.git/config",
            "/w/.GIT/Config",
            "/w/.git/config.worktree",
            "/w/vendor/x/.git/hooks/post-checkout",
            "/home/u/.bashrc",
            "/home/u/.config/fish/config.fish",
            "/home/u/.gitconfig",
            "/home/u/.config/git/config",
            "/home/u/.ssh/authorized_keys",
            "/home/u/.aws/credentials",
            "/etc/profile.d/x.sh",
            "/var/spool/cron/crontabs/root",
            "/dev/sda",
        ],
    )
    def test_writing_there_always_asks(self, path: str) -> None:
        wide = ("Write(**)", "Write(~/**)", "Write(/**)", f"Write({path})", "Write")
        for mode in ("default", "accept-edits", "bypass", "declared"):
            assert outcome([WritePath(path)], *wide, tool="Write", mode=mode) == (ASK, "floor")
        assert outcome([WritePath("/w/l", real=path)], *wide, tool="Write") == (ASK, "floor")

    @pytest.mark.parametrize(
        "path", ["/home/u/.ssh/id_rsa", "/home/u/.netrc", "/etc/shadow", "/proc/self/environ", "/dev/mem"]
    )
    def test_reading_there_always_asks(self, path: str) -> None:
        assert outcome([ReadPath(path)], "Read(/**)", "Read", tool="Read", mode="bypass") == (ASK, "floor")

    @pytest.mark.parametrize(
        "path", ["/w/.hitl/config.toml", "/w/.git/config", "/home/u/.bashrc", "/home/u/.ssh/id_rsa.pub"]
    )
    def test_reading_there_is_harmless(self, path: str) -> None:
        assert judge([ReadPath(path)], "Read(/**)", tool="Read").decision is ALLOW

    @pytest.mark.parametrize("path", ["/", "/w", "/home/u", "/home", "/etc", "/w/."])
    def test_removing_a_root_a_home_or_the_workspace_always_asks(self, path: str) -> None:
        parts: list[Access] = [command(f"rm -rf {path}"), WritePath(path, by_command=0, removes=True)]
        assert outcome(parts, "Bash(rm:*)", f"Bash(rm -rf {path})", mode="bypass") == (ASK, "floor")

    @pytest.mark.parametrize("path", ["/w/.g*/hooks/x", "/home/u/.ss*/x", "/home/u/.config/hitl/*", "/w/.hitl/c*"])
    def test_a_pattern_that_may_name_such_a_place_always_asks(self, path: str) -> None:
        parts: list[Access] = [command("cp a b"), WritePath(path, by_command=0, glob=True)]
        assert outcome(parts, "Bash(cp:*)", mode="bypass") == (ASK, "floor")

    def test_removing_all_in_a_folder_always_asks(self) -> None:
        parts: list[Access] = [command("rm -rf *"), WritePath("/w/*", by_command=0, removes=True, glob=True)]
        assert outcome(parts, "Bash(rm:*)", mode="bypass") == (ASK, "floor")

    @pytest.mark.parametrize(
        ("path", "naming"),
        [
            ("/w/.git/info/exclude", "Write(.git/info/exclude)"),
            ("/w/.git", "Write(.git)"),
            ("/w/.vscode/tasks.json", "Write(.vscode/**)"),
            ("/w/a/.idea/x.xml", "Write(**/.idea/*.xml)"),
            ("/w/.husky/pre-commit", "Write(.husky/pre-commit)"),
            ("/w/.npmrc", "Write(.npmrc)"),
            ("/w/.yarnrc.yml", "Write(.yarnrc.yml)"),
            ("/w/.mcp.json", "Write(.mcp.json)"),
            ("/w/.envrc", "Write(.envrc)"),
            ("/w/.env.local", "Write(.env.*)"),
            ("/w/.ENV", "Write(.ENV)"),
        ],
    )
    def test_a_guarded_place_needs_a_rule_that_names_it(self, path: str, naming: str) -> None:
        for wide in ("Write(**)", "Write", "Write(/w/**)", "Write(*)"):
            assert outcome([WritePath(path)], wide, tool="Write") == (ASK, "guarded")
        assert judge([WritePath(path)], naming, tool="Write").decision is ALLOW
        assert judge([WritePath(path)], tool="Write", mode="accept-edits").decision is ASK
        assert judge([WritePath(path)], tool="Write", mode="bypass").decision is ALLOW

    @pytest.mark.parametrize("path", ["/w/.gitignore", "/w/.github/x.yml", "/w/environment", "/w/src/git/hooks/x"])
    def test_names_that_only_look_alike_are_not_guarded(self, path: str) -> None:
        assert judge([WritePath(path)], "Write(**)", tool="Write").decision is ALLOW

    def test_a_command_reaches_a_guarded_file_only_when_its_rule_spells_it(self) -> None:
        parts: list[Access] = [command("touch .env"), WritePath("/w/.env", by_command=0)]
        assert judge(parts, "Bash(touch:*)").decision is ASK
        assert judge(parts, "Bash(touch .env)").decision is ALLOW


class TestModes:
    def test_accept_edits_allows_writes_inside_the_workspace(self) -> None:
        assert outcome([WritePath("/w/a")], tool="Write", mode="accept-edits") == (ALLOW, "mode")
        assert outcome([WritePath("/etc/a")], tool="Write", mode="accept-edits") == (ASK, "none")
        assert outcome([WritePath("/w/a", real="/etc/a")], tool="Write", mode="accept-edits") == (ASK, "none")
        assert outcome([WritePath("/w/a")], "? Write(a)", tool="Write", mode="accept-edits") == (ASK, "rule")
        move: list[Access] = [
            command("mv a b"),
            WritePath("/w/a", by_command=0, removes=True),
            WritePath("/w/b", by_command=0),
        ]
        assert judge(move, mode="accept-edits").decision is ALLOW
        assert judge([*move, WritePath("/etc/c", by_command=0)], mode="accept-edits").decision is ASK
        assert judge([command("mkdir")], mode="accept-edits").decision is ASK
        assert judge([LOG], mode="accept-edits").decision is ASK

    def test_plan_lets_reading_through_and_denies_the_rest(self) -> None:
        pack = Rule(ALLOW, "Bash", "git log:*", Source("pack", "/rules/read-only.toml", 3))
        reading = Policy([pack, *rules("Bash(make:*)", "Write(**)", "? Bash(git show:*)")], PLACE)

        def plan(access: Access, tool: str = "Bash") -> tuple[Decision, By]:
            verdict = reading.judge([access], mode="plan", now=0, tool=tool)
            assert verdict.part
            return verdict.decision, verdict.part.by

        assert plan(LOG) == (ALLOW, "rule")
        assert plan(command("make test")) == (DENY, "mode")
        assert plan(command("git show x")) == (ASK, "rule")
        assert plan(WritePath("/w/a"), "Write") == (DENY, "mode")
        assert plan(WritePath("/w/.git/config"), "Write") == (DENY, "mode")
        assert plan(ReadPath("/w/a"), "Read") == (ALLOW, "mode")
        assert plan(Opaque("why", "x")) == (DENY, "mode")
        assert plan(ToolUse("deploy", {}), "deploy") == (DENY, "mode")
        assert plan(ToolUse("Plan", {}), "Plan") == (ASK, "mode")

    def test_dont_ask_denies_what_would_ask(self) -> None:
        assert outcome([LOG], mode="dont-ask") == (DENY, "mode")
        assert outcome([LOG], "Bash(git log:*)", mode="dont-ask") == (ALLOW, "rule")
        assert outcome([WritePath("/w/a")], tool="Write", mode="dont-ask") == (DENY, "mode")
        assert outcome([WritePath("/w/.git/config")], "Write", tool="Write", mode="dont-ask") == (DENY, "mode")

    def test_bypass_allows_all_but_deny_ask_and_the_floor(self) -> None:
        assert outcome([LOG], mode="bypass") == (ALLOW, "mode")
        assert outcome([LOG], "? Bash(git:*)", mode="bypass") == (ASK, "rule")
        assert outcome([LOG], "- Bash(git:*)", mode="bypass") == (DENY, "rule")

    def test_declared_asks_where_the_tool_declares_it(self) -> None:
        use = [ToolUse("deploy", {})]
        assert outcome(use, tool="deploy", mode="declared") == (ALLOW, "mode")
        assert outcome(use, tool="deploy", mode="declared", declared=True) == (ASK, "none")
        assert outcome(use, "deploy", tool="deploy", mode="declared", declared=True) == (ALLOW, "rule")


class TestHostsAndTools:
    @pytest.mark.parametrize(
        ("host", "text", "decision"),
        [
            (Host("", "https", "example.org"), "WebFetch(domain:example.org)", ALLOW),
            (Host("", "https", "a.example.org"), "WebFetch(domain:example.org)", ASK),
            (Host("", "https", "a.b.example.org"), "WebFetch(domain:*.example.org)", ALLOW),
            (Host("", "https", "example.org"), "WebFetch(domain:*.example.org)", ASK),
            (Host("", "https", "evilexample.org"), "WebFetch(domain:*.example.org)", ASK),
            (Host("", "https", "example.org:8443"), "WebFetch(domain:example.org)", ASK),
            (Host("", "https", "example.org:8443"), "WebFetch(domain:example.org:8443)", ALLOW),
            (Host("", "http", "example.org"), "WebFetch(domain:example.org)", ASK),
            (Host("", "http", "example.org"), "WebFetch", ALLOW),
            (Host("", "file", ""), "WebFetch", ASK),
            (Host("", "https", "example.org:8443"), "- WebFetch(domain:example.org)", DENY),
            (Host("", "https", "xn--bcher-kva.example"), "WebFetch(domain:bücher.example)", ALLOW),
        ],
    )
    def test_hosts(self, host: Host, text: str, decision: Decision) -> None:
        assert judge([host], text, tool="WebFetch").decision is decision

    @pytest.mark.parametrize(
        ("tool", "text", "decision"),
        [
            ("mcp__github__get", "mcp__github__get", ALLOW),
            ("mcp__github__get", "mcp__github", ALLOW),
            ("mcp__github__get", "mcp__github__*", ALLOW),
            ("mcp__github_evil__run", "mcp__github", ASK),
            ("mcp__github__get_all", "mcp__github__get", ASK),
            ("mcp__github__get", "- mcp__github", DENY),
        ],
    )
    def test_servers(self, tool: str, text: str, decision: Decision) -> None:
        assert judge([ToolUse(tool, {})], text, tool=tool).decision is decision

    def test_arguments(self) -> None:
        assert judge([ToolUse("deploy", {"env": "staging-1"})], "deploy(env:stag*)", tool="deploy").decision is ALLOW
        assert judge([ToolUse("deploy", {"env": "prod"})], "deploy(env:stag*)", tool="deploy").decision is ASK
        assert judge([ToolUse("deploy", {})], "deploy(env:*)", tool="deploy").decision is ASK
        assert judge([ToolUse("deploy", {"n": 3})], "deploy(n:3)", tool="deploy").decision is ALLOW


def test_a_verdict_says_which_rule_where() -> None:
    rule = codec.parse("Bash(git log:*)", ALLOW, Source("user", "/home/u/rules.toml", 7))
    verdict = Policy([rule], PLACE).judge([LOG], mode="default", now=0)
    assert verdict.rule == rule
    assert str(rule.source) == "/home/u/rules.toml:7"
    assert not verdict.safety


def test_an_ask_that_no_rule_can_turn_is_told_apart() -> None:
    assert judge([Opaque("why", "x")]).safety
    assert judge([WritePath("/w/.git/config")], tool="Write").safety
    assert judge([LOG], "? Bash(git:*)").safety
    assert not judge([LOG]).safety
    assert not judge([WritePath("/w/.env")], tool="Write").safety
