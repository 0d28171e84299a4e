"""The decision corpus: what must be allowed is allowed, what must not be is not, and what is denied is denied.

`decisions.jsonl` is the shared corpus, beside the checkout where it is at hand. `cases.jsonl` is our own, of the same
kinds. For what can be argued about, DECIDED says which way we went, and why.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.layout import judged, read, right

SHARED = Path(__file__).parents[3] / "shared" / "corpus" / "decisions.jsonl"
OWN = Path(__file__).parent / "cases.jsonl"

# Cases marked as debatable that we read otherwise than the corpus does.
DECIDED = {
    "symlink-inside-ok": (
        "ask",
        "An allow needs the path as written and the path it leads to; the name that the rule does not cover could be "
        "pointed elsewhere between the verdict and the write.",
    ),
    "deny-evasion-script-file": (
        "allow",
        "Who allows every command and every write allows running a script that was just written; deny rules see "
        "commands, not what programs do. Inline code is searched, files are not.",
    ),
}


def wrong(file: Path, scratch: Path) -> list[str]:
    found = []
    for case, decision in judged(read(file), scratch):
        if case["id"] in DECIDED:
            if decision != DECIDED[case["id"]][0]:
                found.append(f"{case['id']}: decided {DECIDED[case['id']][0]}, got {decision}")
        elif not right(case, decision):
            found.append(f"{case['id']}: want {case['expect']}, got {decision}: {case['input']} {case['rules']}")
    return found


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpus is not beside this checkout")
def test_every_case_of_the_shared_corpus_comes_out_right(scratch: Path) -> None:
    assert wrong(SHARED, scratch) == []


def test_every_case_of_our_own_comes_out_right(scratch: Path) -> None:
    assert wrong(OWN, scratch) == []


def test_our_own_cases_are_of_every_kind_and_named_once() -> None:
    cases = read(OWN)
    assert len({case["id"] for case in cases}) == len(cases)
    kinds = {
        "false-prompt",
        "argument-injection",
        "deny-evasion",
        "path",
        "wrapper",
        "env",
        "persistence",
        "redirection",
    }
    kinds |= {"compound", "expansion", "substitution", "builtin-state", "rule-syntax", "symlink", "self-escalation"}
    assert kinds <= {case["kind"] for case in cases}
