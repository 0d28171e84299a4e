"""How options are read: bundles, glued values, abbreviations, `--`, and words that are not known."""

from __future__ import annotations

import pkgutil
import shlex
from collections.abc import Mapping
from importlib import import_module

import pytest

from hitl_cli.access import Act, Place, Unknown, Word
from hitl_cli.shell import programs
from hitl_cli.shell.programs import study
from hitl_cli.shell.programs.families import FAMILIES, row_of
from hitl_cli.shell.programs.reading import Reading
from hitl_cli.shell.programs.table import Option, Row

PLACE = Place(cwd="/w", roots=("/w",), home="/home/u")
PROGRAMS = sorted(name for names in FAMILIES.values() for name in names.split())


def test_every_program_is_named_with_the_family_that_has_its_row() -> None:
    tables = {}
    for module in pkgutil.iter_modules(programs.__path__, "hitl_cli.shell.programs."):
        if (table := getattr(import_module(module.name), "PROGRAMS", None)) is not None:
            tables[module.name.rpartition(".")[2]] = list(table)
    assert {family: names.split() for family, names in FAMILIES.items()} == tables
    assert len(PROGRAMS) == len(set(PROGRAMS))


def of(text: str, *more: Word) -> Reading:
    return study((*shlex.split(text), *more), PLACE, "/w")


def acting(found: Reading) -> list[Word]:
    return [found.words[act.at] for act in sorted(found.acts, key=lambda act: act.at)]


def findings(found: Reading) -> dict[str, object]:
    """All that was found, apart from what it was found with."""
    kinds = ("words", "acts", "reads", "writes", "at", "removes", "lists", "urls", "names", "also", "folder", "opaque")
    return {kind: value for kind in (*kinds, "only") if (value := getattr(found, kind))}


def test_a_program_without_a_row_has_no_acts_and_its_operands_are_not_judged() -> None:
    assert findings(of("frobnicate --output x .git/config")) == {
        "words": ("frobnicate", "--output", "x", ".git/config"),
        "names": ("frobnicate",),
        "also": (("frobnicate", "x", ".git/config"),),
    }


def test_a_system_folder_in_front_of_a_program_is_taken_off() -> None:
    assert findings(of("/usr/bin/sort -o out in")) == {
        "words": ("sort", "-o", "out", "in"),
        "acts": (Act(1, "writes a file"),),
        "reads": ["in"],
        "writes": ("out",),
        "at": (1,),
        "names": ("sort",),
        "also": (("sort", "in"),),
    }


@pytest.mark.parametrize("program", ["./sort", "~/bin/sort", "node_modules/.bin/sort", "/tmp/sort", "bin/sort"])
def test_another_folder_in_front_of_a_program_stays(program: str) -> None:
    found = of(f"{program} -o out")
    assert found.words[0] == program
    assert found.names == ("sort",)
    assert acting(found) == ["-o"]


def test_another_name_of_a_program_is_the_same_for_deny_rules() -> None:
    assert of("gawk '{print}'").names == ("gawk", "awk")
    assert of("ls").names == ("ls",)


@pytest.mark.parametrize(
    "text",
    [
        "sort -o X f",
        "sort -oX f",
        "sort -no X f",
        "sort -rnoX f",
        "sort f -o X",
        "sort f -- g -o",
        "sort --output X f",
        "sort --output=X f",
        "sort --outp=X f",
        "sort --o X f",
        "sort -k 1 -o X",
        "sort -t -o X -o Y",
        "sort -k -- -o X",
    ],
)
def test_an_option_is_found_in_every_spelling(text: str) -> None:
    words = shlex.split(text)
    wrote = of(text).writes
    assert wrote == (() if text == "sort f -- g -o" else ("Y",) if "Y" in words else ("X",))


def test_a_value_is_not_taken_for_an_option() -> None:
    assert acting(of("sort -t -o f")) == []
    assert acting(of("git log --grep --outer=x")) == []
    assert acting(of("find . -name -delete")) == []
    assert acting(of("rg -e --pre src")) == []


@pytest.mark.parametrize(
    "words",
    ["log", "diff", "show", "diff-tree HEAD", "rev-list HEAD", "shortlog", "reflog show", "stash list", "stash show"],
)
def test_no_option_of_git_hides_the_file_that_git_opens_before_it_refuses_the_option(words: str) -> None:
    row = row_of("git")
    for word in ("git", *words.split()):
        row = (row.subs or {}).get(word, row) if row else row
    assert row is not None
    for option in row.compile().known:
        found = of(f"git {words} {option} --output=x")
        assert "--output=x" in acting(found), option
        assert "x" in found.writes, option


def test_two_dashes_end_the_options_but_not_when_they_may_be_a_value() -> None:
    assert acting(of("git diff -- --output=x")) == []
    assert acting(of("git log --grep -- --output=x")) == ["--output=x"]
    assert acting(of("eslint --frobnicate -- --plugin=x")) == ["--plugin=x"]


def test_a_cut_name_that_may_mean_an_option_that_acts_is_that_option() -> None:
    assert acting(of("sort --comp=./x f")) == ["--comp=./x"]
    assert acting(of("sort --c f")) == ["--c"]
    assert acting(of("sort --check f")) == []


def test_what_only_keeps_nothing_is_no_writing() -> None:
    assert of("curl -s -o /dev/null https://example.org/").acts == ()
    assert of("wget -qO - https://example.org/").writes == ()


UNQUOTED = Unknown("$x")
QUOTED = Unknown('"$x"', single=True)


@pytest.mark.parametrize("word", [UNQUOTED, QUOTED, Unknown("*", glob=True), Unknown("-$x", prefix="-")])
def test_a_word_that_may_be_an_option_that_acts_is_an_act(word: Unknown) -> None:
    assert acting(of("git log", word)) == [word]
    assert acting(of("sort", word)) == [word]


@pytest.mark.parametrize(
    "word",
    [
        Unknown("./*.txt", glob=True, prefix="./"),
        Unknown("src/*.py", glob=True, prefix="src/"),
        Unknown('"src/$x"', prefix="src/", single=True),
        Unknown('"$(f)/README.md"', single=True, safe=True),
    ],
)
def test_a_word_that_cannot_be_an_option_is_an_operand(word: Unknown) -> None:
    found = of("sort", word)
    assert found.acts == ()
    assert found.reads == [word]


def test_a_word_that_may_become_several_may_bring_an_option_with_it() -> None:
    assert acting(of("sort", Unknown("src/$x", prefix="src/"))) != []


def test_a_word_that_is_not_known_is_no_act_where_no_option_acts() -> None:
    assert findings(of("wc -l", UNQUOTED)) == {
        "words": ("wc", "-l", UNQUOTED),
        "reads": [UNQUOTED],
        "names": ("wc",),
        "also": (("wc", UNQUOTED),),
    }
    assert of("grep", QUOTED, "f").acts == ()


def test_after_two_dashes_every_word_is_an_operand() -> None:
    assert of("git log --", UNQUOTED).acts == ()


def test_a_value_may_be_unknown_when_it_is_one_word() -> None:
    assert of("git commit -m", QUOTED).acts == ()
    assert of("git log --grep", QUOTED).acts == ()
    assert acting(of("git log --grep", UNQUOTED)) == [UNQUOTED]
    assert of("git log", Unknown('--grep="$x"', prefix="--grep=", single=True)).acts == ()
    assert of("sort", Unknown('-k"$x"', prefix="-k", single=True)).acts == ()
    assert acting(of("sort", Unknown('-n"$x"', prefix="-n", single=True))) != []


def test_an_unknown_value_of_a_writing_option_is_written() -> None:
    word = Unknown('--output="$x"', prefix="--output=", single=True)
    found = of("sort", word)
    assert (acting(found), len(found.writes)) == ([word], 1)


def test_a_sub_command_that_is_not_known_is_an_act() -> None:
    assert acting(of("git", UNQUOTED)) != []
    assert acting(of("git", QUOTED)) != []


def test_deny_rules_see_the_words_without_what_stands_before_the_sub_command() -> None:
    assert ("git", "push") in of("git --git-dir=.git --work-tree=. push").also
    assert ("git", "push", "-f", "origin") in of("git -c core.pager=x push -f origin").also
    assert ("kubectl", "delete", "pod", "x") in of("kubectl -n prod delete pod x").also
    assert ("cargo", "publish") in of("cargo +nightly publish").also
    assert of("git push").also == ()


def test_deny_rules_see_the_words_without_options_wherever_these_stand() -> None:
    assert ("make", "deploy") in of("make -s deploy").also
    assert ("npm", "run", "deploy") in of("npm run -s deploy").also
    assert ("npm", "publish") in of("npm --prefix . publish").also
    assert ("gh", "pr", "merge", "1") in of("gh pr --repo a/b merge 1").also
    assert ("gh", "pr", "merge", "1") in of("gh -R a/b pr merge 1").also
    assert ("aws", "s3", "rm", "s3://y") in of("aws --profile x s3 rm s3://y").also


def test_deny_rules_see_the_program_that_a_runner_starts() -> None:
    assert ("rm", "-rf", "x") in of("uv run rm -rf x").starts
    assert ("rm", "-rf", "x") in of("npx -y rm -rf x").starts
    assert ("rm", "-rf", "x") in of("docker exec -it web rm -rf x").starts
    assert ("rm", "x") in of("kubectl exec pod -- rm x").starts
    assert ("rm", "x") in of("git bisect run rm x").starts
    assert ("pip", "install", "x") in of("python3 -m pip install x").starts


def test_a_version_behind_the_name_is_the_same_program() -> None:
    assert of("python3.12 x.py").names == ("python3.12", "python3", "python")


def test_a_folder_that_an_option_enters_is_followed_inside_the_workspace_only() -> None:
    assert of("git -C sub -C deep log").folder == "sub/deep"
    assert of("git -C sub log").words == ("git", "log")
    assert acting(of("git -C /tmp log")) == ["-C"]
    assert acting(of("git -C sub/../.. log")) == ["-C"]
    assert acting(of("git -C ~ log")) == ["-C"]
    assert acting(of("git -C", QUOTED, "log")) != []
    assert acting(study(("git", "-C", "sub", "log"), PLACE, None)) == ["-C"]
    assert of("make -C sub test").folder == "sub"
    assert acting(of("make -C ../x test")) == ["-C"]


def test_every_row_names_its_source_and_its_effects_can_be_read() -> None:
    seen: dict[int, Row] = {}

    def check(row: Row, inherited: Mapping[str, Option] | None) -> None:
        if id(row) in seen:
            return
        seen[id(row)] = row.compile(inherited)
        for sub in [*(row.subs or {}).values(), *([row.other] if row.other else [])]:
            check(sub, row.known if row.shared else None)

    for name in PROGRAMS:
        row = row_of(name)
        assert row is not None
        check(row, None)
    assert len(seen) > 300
    for row in seen.values():
        assert row.source
        for name, option in row.known.items():
            assert name[0] in "-+", name
            assert option.takes in ("", "=", "==", "?", ";")
            assert not option.does.startswith(("=", "?", ";", "-")), (name, option)


def test_reading_a_row_twice_says_the_same() -> None:
    assert of("tar xzf a.tgz -C build") == of("tar xzf a.tgz -C build")


def single_dashed() -> list[tuple[tuple[str, ...], str]]:
    """The long names, with one dash, that programs and sub-commands have for options that act and take a value."""
    rows = [((program,), row.compile()) for program in PROGRAMS if (row := row_of(program)) is not None]
    for words, row in [*rows]:
        shared = row.known if row.shared else None
        rows += [((*words, sub), inner.compile(shared)) for sub, inner in (row.subs or {}).items()]
    return [
        (words, name)
        for words, row in rows
        if row.single
        for name, option in row.known.items()
        if len(name) > 2 and name[1] != "-" and option.takes == "=" and option.acts
    ]


@pytest.mark.parametrize(("words", "name"), single_dashed())
@pytest.mark.parametrize("value", ["/etc/x", Unknown("$x", single=True)])
def test_two_dashes_are_as_good_as_one_where_long_options_have_one(
    words: tuple[str, ...], name: str, value: Word
) -> None:
    def acts(option: str) -> list[Act]:
        glued = (
            f"{option}={value}" if isinstance(value, str) else Unknown(f"{option}=$x", False, f"{option}=", False, True)
        )
        return study((*words, glued), PLACE, "/w").acts

    assert acts("-" + name) == acts(name) != []


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_takes_any_words_without_an_error(program: str) -> None:
    odd: list[tuple[Word, ...]] = [
        (),
        ("",),
        ("-",),
        ("--",),
        ("--", "--"),
        ("-o",),
        ("--output",),
        ("=", "-=", "--=x", "+", "+x=y"),
        (UNQUOTED, "x", QUOTED),
        ("-x", UNQUOTED, "-f", QUOTED),
        ("x", "y", "z", "-", "a=b", "@f", "h:p", "{}", ";"),
        ("-e", "", "-c", "", "-i", "", "-m", ""),
        (Unknown("--x=$y", prefix="--x="), Unknown("-$y", prefix="-"), Unknown("*", glob=True)),
    ]
    for words in odd:
        study((program, *words), PLACE, "/w")
        study((program, *words), PLACE, None)


@pytest.mark.parametrize(
    "text",
    [
        "$(nproc)",
        '"$(nproc)"',
        "$(git merge-base main HEAD)..HEAD",
        '"$(git rev-parse --short HEAD)"',
        "v$(date +%Y%m%d)",
        "`pwd`/x",
        "origin/$(git branch --show-current)",
    ],
)
def test_the_output_of_some_commands_is_known_to_be_no_option(text: str) -> None:
    prefix = text.strip('"').partition("$")[0].partition("`")[0]
    assert of("git log", Unknown(text, prefix=prefix)).acts == ()


@pytest.mark.parametrize(
    "text",
    [
        "$(cat x)",
        "$(git rev-parse --output=x)",
        "$(git log --format=%s -1)",
        "$(nproc; cat x)",
        "$(nproc)$x",
        "$(date +' --output=x')",
        "$(echo $(nproc))",
        "${x}$(nproc)",
    ],
)
def test_the_output_of_others_may_be_anything(text: str) -> None:
    assert of("git log", Unknown(text)).acts != []


def test_a_dash_before_a_known_output_is_still_a_dash() -> None:
    assert of("git log", Unknown("-$(nproc)", prefix="-")).acts != []
    assert of("make", Unknown("-j$(nproc)", prefix="-j")).acts == ()


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("git clean -fdx", "-n --no-dry-run"),
        ("git clean -fdx", "--dry-run --no-d"),
        ("git rm a", "--cached --no-cached"),
        ("git apply p", "--check --no-check"),
        ("git apply p", "--stat --no-sta"),
        ("git merge-file a b c", "-p --no-stdout"),
        ("git format-patch -1", "--stdout --no-stdout"),
        ("black a", "--check --no-check"),
        ("ruff format a", "--check=false"),
        ("wget https://h/x", "--spider --no-spider"),
    ],
)
def test_an_option_that_is_taken_back_makes_nothing_harmless(text: str, pair: str) -> None:
    plain, taken_back = of(text), of(f"{text} {pair}")
    assert (taken_back.writes, taken_back.removes) == (plain.writes, plain.removes)
    assert plain.writes or plain.removes
    assert findings(of(f"{text} {pair.split()[0].removesuffix('=false')} --no-other")).get("writes") is None


def test_what_a_row_remembers_of_flags_has_a_bound_and_changes_nothing() -> None:
    words = [f"-{a}{b}{c}" for a in "abcdefghij" for b in "lnvzqwy12345" for c in "lnvzqwy12345"]
    words += [f"--{word[1:]}" for word in words] + ["-" + "l" * 5000]
    first = [findings(of("rg x", word)) for word in words]
    flags = row_of("rg").flags  # type: ignore[union-attr]
    assert len(flags) <= 500
    assert all(len(word) < 40 for word in flags)
    assert [findings(of("rg x", word)) for word in words] == first
    assert [given.name for given in of("rg -uu -n x").given] == ["-u", "-u", "-n"]


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("rg -u -- -e f", ["-e", "f"]),  # a flag of the row takes no value
        ("rg -.u -- -e f", ["-e", "f"]),
        ("rg --x=1 -- -e f", ["-e", "f"]),
        ("rg -e p -- -e f", ["-e", "f"]),
        ("rg --x -- -e f", []),  # `--` may be the value of what is not listed
        ("rg -uX -- -e f", []),
        ("rg --x -- -- -e f", []),
        ("grep --x -- -e f", ["-e", "f"]),  # all options with a value are listed
    ],
)
def test_a_double_dash_ends_the_options_unless_it_may_be_a_value(text: str, operands: list[str]) -> None:
    for _ in range(2):  # also where the row remembers the option
        assert of(text).operands == operands
