"""Deny and ask rules are met by an option however it is written."""

from __future__ import annotations

import pytest

from hitl_cli.access import Place
from hitl_cli.permissions import codec
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision
from hitl_cli.shell.programs.families import FAMILIES, row_of
from hitl_cli.shell.reader import read

PLACE = Place("/ws", ("/ws",), "/home/u")


def decided(text: str, rule: str) -> str:
    """What is said of `text` when all is allowed and `rule` is denied."""
    barred = (rule, "git nothing --verbose:*")
    rules = [codec.parse("Bash", Decision.ALLOW), *[codec.parse(f"Bash({each})", Decision.DENY) for each in barred]]
    verdict = Policy(rules, PLACE).judge(read(text, PLACE).accesses, mode="bypass", now=0.0, tool="Bash")
    return verdict.decision.name.lower()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("rm --rec x", "rm --recursive:*"),
        ("rm --recurs x", "rm -r:*"),
        ("rm --forc --rec x", "rm -rf:*"),
        ("rm -vIidrf x", "rm -rf:*"),
        ("sudo rm --rec x", "rm --recursive:*"),
        ("ssh h rm --rec x", "rm --recursive:*"),
        ("bash -c 'uv run rm --rec x'", "rm --recursive:*"),
        ("git commit --ame", "git commit --amend:*"),
        ("git commit -m x --ame", "git commit * --amend:*"),
        ("git -C . push --f", "git push --force:*"),
        ("git push x --forc " + "--ver --verb=1 " * 50, "git push * --force:*"),
        ("git push --no-ver", "git push --no-verify:*"),
        ("git push --force-with-l=main", "git push --force-with-lease:*"),
        ("git push --force-with-lease=main", "git push --force-with-lease:*"),
        ("git push origin -uf", "git push * -f:*"),
        ("kubectl delete --all=true pod", "kubectl delete --all:*"),
        ("terraform apply --auto-approve", "terraform apply -auto-approve:*"),
        ("terraform apply -auto-approve", "terraform apply --auto-approve:*"),
        ("terraform apply -auto-approve=true", "terraform apply -auto-approve:*"),
        ("curl -sXPOST h", "curl * -X POST:*"),
        ("curl --request=POST h", "curl --request POST:*"),
        ("gtar --extr -f x", "tar --extract:*"),
        ("mytool --force=x", "mytool --force:*"),
    ],
)
def test_an_option_written_in_another_way_meets_a_rule(text: str, rule: str) -> None:
    assert decided(text, rule) == "deny"


def test_of_a_program_without_a_row_a_cut_name_may_meet_a_rule() -> None:
    assert decided("mytool --forc", "mytool --force:*") == "ask"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("git push --force-with-lease", "git push --force:*"),
        ("git push -- --forc", "git push --force:*"),
        ("git push --verify", "git push --no-verify:*"),
        ("git log --oneline", "git log --one:*"),
        ("git branch -D x", "git branch -d:*"),
        ("npm install --save x", "npm install --save-dev:*"),
        ("docker run --priv i", "docker run --privileged:*"),
        ("ls --color=auto", "ls -c:*"),
        ("find . -depth", "find -d:*"),
    ],
)
def test_another_option_does_not(text: str, rule: str) -> None:
    assert decided(text, rule) == "allow"


def test_every_long_option_of_a_row_is_met_when_it_is_cut_or_has_a_value() -> None:
    missed = []
    for program in " ".join(FAMILIES.values()).split():
        row = row_of(program)
        assert row is not None
        for option, what in row.compile().known.items():
            if option[:2] != "--" or len(option) < 5:
                continue
            rule = f"{program} {option}:*"
            text = f"{program} {option}=x"
            if what.takes != ";" and decided(text, rule) != "deny":
                missed.append(text)
            text = f"{program} {option[:-1]}"
            if row.abbreviates and row.subs is None and option[:-1] not in row.known and decided(text, rule) != "deny":
                missed.append(text)
    assert not missed, missed


@pytest.mark.parametrize(
    "text", ["python3 -c 'os.system(\"{}\")'", "python3 - <<'EOF'\nos.system('{}')\nEOF", "node <<< 'x(`{}`)'"]
)
def test_code_is_searched_where_an_interpreter_takes_it_from(text: str) -> None:
    assert decided(text.replace("{}", "rm x"), "rm:*") == "ask"
    assert decided(text.replace("{}", "ls"), "rm:*") == "allow"
    assert decided("cat > f <<EOF\nrm x\nEOF", "rm:*") == "allow"
