"""The five short programs, one for each system that hitl takes its features from: run as they stand, compared whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "examples"
SAID = {
    "agentscope": """\
approval Bash {'command': 'mkdir site'}
  rules on offer: Bash(mkdir site) Bash(mkdir:*)
approval locate {'accuracy': 'high'}
  rules on offer: locate
external locate {'accuracy': 'high'}
Both are there. ['blog', 'site']
""",
    "haystack": """\
5
The balance of 56789 is 1000.
['Note: the user changed the input of transfer before it ran. It ran with {"to": "Ann", "amount": 10}.', 'Ann got 10.']
Done what you allowed.
""",
    "agno": """\
waiting for 1 approval (charge_card)
I did not charge you. []
waiting for 1 approval (charge_card)
waiting for 1 question (send_receipt)
Paid, and the receipt is on its way. ['charged 5', "sent 'Paid 5.' to ann@example.org"]
""",
    "vibes": """\
waiting for 1 approval (delete_file), 1 external result (read_clipboard)
deleting /old.log
Only the old log is gone.
""",
    "llm4s": """\
approval 1.1.0:approval
question 1.1.0:ask
breakpoint 1.1:after_tool
review 1.2:after_agent.brief
Done.
""",
}
TYPED = {"haystack": "y\nm\n\n10\n"}  # yes; then modify: keep the name, another amount
ASKED = {
    "haystack": """\
Question 1 of 2
get_bank_balance
1: account: 56789
tool   Look up the balance of an account.
why    the program's own policy decides
y yes once, n no, x no to all, a always, m modify, d never, ? explain, p park, s stop: Question 2 of 2
transfer
1: to: Ann
2: amount: 100
tool   Send money.
why    the program's own policy decides
y yes once, n no, a always, m modify, d never, ? explain, p park, s stop: to (empty: Ann): amount (empty: 100): \
"""
}


@pytest.mark.parametrize("name", SAID)
def test_the_example_says_what_it_should(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py")],
        input=TYPED.get(name, ""),
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, SAID[name], ASKED.get(name, ""))
    assert not list(tmp_path.iterdir())


def test_every_example_is_short_and_is_run() -> None:
    programs = {path.stem: path.read_text().count("\n") for path in FOLDER.glob("*.py")}
    assert sorted(programs) == sorted(SAID)
    assert max(programs.values()) <= 40
