"""The shell text of real agent commands, run by bash where every program is a recorder, against what the reader says.

The sample lies beside the checkout (`../shared/corpus`); without it the test is skipped.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parents[3] / "shared" / "corpus" / "agent-commands-sample.jsonl"
# Redirections and folder changes that could reach outside of the scratch folder, and built-ins that reach processes.
_REACHES = re.compile(
    r"[<>]\s*[&|]?\s*['\"]?(?:[/~$]|\.\.)|\bcd\s+['\"]?(?:[/~$-]|\.\.)|\b(?:kill|exec|ulimit|pushd|popd|disown)\b|\bcd\s*(?:$|[;&|])"
)


@pytest.mark.skipif(not SAMPLE.exists(), reason=f"there is no {SAMPLE.name} beside the checkout")
@pytest.mark.slow
def test_bash_does_nothing_with_real_commands_that_the_reader_did_not_say(scratch: Any) -> None:
    faults, read = [], 0
    for line in SAMPLE.read_text().splitlines():
        text = json.loads(line)["command"]
        if (
            _REACHES.search(text.replace("2>/dev/null", "").replace(">/dev/null", ""))
            or "find" in text
            or "xargs" in text
        ):
            continue
        missed = scratch.disagreements(text)
        read += missed is not None
        if missed:
            faults.append(f"{text!r}\n    " + "\n    ".join(missed))
    assert not faults, f"{len(faults)} of {read}:\n" + "\n".join(faults[:20])
    assert read > 500
