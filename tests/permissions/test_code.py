"""Code that an interpreter is given: the words of a deny rule are looked for in it, wherever it comes from."""

from __future__ import annotations

import pytest

from hitl_cli.access import Place
from hitl_cli.accesses import accesses_of
from hitl_cli.permissions.codec import parse
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision
from hitl_cli.shell.programs.interpreters import INTERPRETERS

PYTHON = "'import os; os.system(\"rm x\")'"
GIVEN = f"""perl -e 'system("rm x")'
    perl -lne '`rm x`' f
    ruby -e 'system "rm", "x"'
    node -e 'require("child_process").execSync("rm x")'
    node --eval='run("rm x")'
    deno eval 'new Deno.Command("rm")'
    bun -e 'run("rm x")'
    tsx -e 'run("rm x")'
    php -r 'system("rm x");'
    lua5.4 -e 'os.execute("rm x")'
    expect -c 'spawn rm x'
    expect <<< 'spawn rm x'
    awk 'BEGIN{{system("rm x")}}'
    awk 'BEGIN{{"rm x" | getline}}'
    sed '1e rm x' f
    mlr -n put 'end {{ system("rm x") }}'
    vim -c '!rm x' f
    sqlite3 db '.shell rm x'
    psql -c '\\! rm x'
    gdb -ex 'shell rm x'
    guile -c '(system "rm x")'
    octave --eval 'system("rm x")'
    osascript -e 'do shell script "rm x"'
    python -c {PYTHON}
    python3.12 -Ic {PYTHON}
    .venv/bin/python -c {PYTHON}
    /opt/x/bin/python3.12 -c {PYTHON}
    PYTHONPATH=. python -c {PYTHON}
    env A=b python -c {PYTHON}
    sudo python -c {PYTHON}
    timeout 5 python -c {PYTHON}
    uv run python -c {PYTHON}
    poetry run python -c {PYTHON}
    conda run -n e python -c {PYTHON}
    docker exec c python -c {PYTHON}
    npx tsx -e 'run("rm x")'
    python <<< {PYTHON}
    python - <<< {PYTHON}
    python /dev/stdin <<< {PYTHON}
    uv run python - <<< {PYTHON}
    python <(echo {PYTHON})
    echo {PYTHON} | python
    echo {PYTHON} | python -
    printf 'system("rm x")' | perl
    echo '.shell rm x' | sqlite3 db
    echo '!rm x' | ed f""".splitlines()
DATA = """echo rm | python -c 'import json'
    echo rm x | node -e 'read()'
    python s.py
    echo {} | python -m json.tool""".splitlines()


def decision(place: Place, command: str) -> Decision:
    policy = Policy([parse("Bash(rm:*)", Decision.DENY)], place)
    return policy.judge(accesses_of("Bash", {"command": command.strip()}, place), mode="bypass", now=0).decision


@pytest.mark.parametrize("command", GIVEN)
def test_a_denied_word_in_code_is_seen(disk: Place, command: str) -> None:
    assert decision(disk, command) is not Decision.ALLOW


@pytest.mark.parametrize("program", sorted(INTERPRETERS - {"emacsclient", "ex", "vi", "ed", "vim", "nvim", "emacs"}))
def test_it_is_seen_for_every_interpreter(disk: Place, program: str) -> None:
    for command in (
        f"{program} -e 'a(\"rm x\")'",
        f"echo 'a(\"rm x\")' | {program}",
        f"./b/{program} <<< 'a(\"rm x\")'",
    ):
        assert decision(disk, command) is not Decision.ALLOW, command


@pytest.mark.parametrize("command", DATA)
def test_what_is_no_code_is_not_searched(disk: Place, command: str) -> None:
    assert decision(disk, command) is Decision.ALLOW
