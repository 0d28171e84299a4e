"""Haystack, HS-30 to HS-35: the questions of a run put by a console, with typed words as answers."""

from __future__ import annotations

import io
import os
import pickle
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO

import pytest
from rich.console import Console

from hitl_cli import Approval, Suspended, approve, tool
from hitl_cli.journal import Call
from hitl_cli.ui.plain import PlainConsole, RichConsole
from tests.seeds.stage import Stage, outcome, results

Makes = Callable[..., Any]


@pytest.fixture(params=["plain", "rich"])
def console(request: pytest.FixtureRequest) -> Makes:
    """A console with these words typed at it, and what it shows."""

    def makes(*typed: str) -> tuple[Any, io.StringIO]:
        shown, input = io.StringIO(), io.StringIO("".join(f"{line}\n" for line in typed))
        if request.param == "plain":
            return PlainConsole(input, shown), shown
        return RichConsole(Console(file=shown, width=200, highlight=False), input), shown

    return makes


async def test_HS_30_the_panel_shows_tool_description_and_arguments_and_asks_until_the_choice_is_clear(
    console: Makes, stage: Stage
) -> None:
    """Stricter: there is no default. An empty line, the likeliest slip, does not run anything."""
    answers, shown = console("", "what", "yy", "y")
    agent = stage.agent(
        [("deploy", {"x": "[bold]web[/bold]"})],
        "done",
        tools=[stage.works("deploy", approve=True)],
        responder=answers,
    )
    run = await stage.run(agent)
    assert (run.text, stage.ran) == ("done", ["deploy [bold]web[/bold]"])
    text = shown.getvalue()
    for words in ("deploy", "Do some work.", "x: [bold]web[/bold]"):
        assert words in text
    assert text.count("Please answer y, n,") == 3


async def test_HS_30_a_call_without_arguments_says_so(console: Makes, stage: Stage) -> None:
    answers, shown = console("y")
    agent = stage.agent([("ping", {})], "done", tools=[stage.works("ping", approve=True)], responder=answers)
    await stage.run(agent)
    assert "(no arguments)" in shown.getvalue()


def test_HS_30_what_was_typed_before_the_question_stood_there_is_no_answer() -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")  # typed ahead
    with os.fdopen(theirs, "r") as input:
        shown = Answering(ours, b"n\n\n")
        run = Suspended(session="s", pending=(Approval(id="i", call=Call("c", "deploy", {}), reason="x"),))
        given = PlainConsole(input, shown)(run)
    os.close(ours)
    assert given is not None
    assert type(given["i"]).__name__ == "Reject"


class Answering(io.StringIO):
    """A screen; when the choice is on it, `words` are typed."""

    def __init__(self, terminal: int, words: bytes) -> None:
        super().__init__()
        self.terminal, self.words = terminal, words

    def write(self, text: str) -> int:
        if "y yes" in text:
            os.write(self.terminal, self.words)
        return super().write(text)


@pytest.mark.parametrize(("typed", "told"), [("use staging", "use staging"), ("", None)], ids=["a reason", "none"])
async def test_HS_31_no_asks_for_a_reason_that_may_stay_empty(
    typed: str, told: str | None, console: Makes, stage: Stage
) -> None:
    answers, shown = console("n", typed)
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)], responder=answers)
    await stage.run(agent)
    assert "may stay empty" in shown.getvalue()
    assert stage.ran == []
    assert results(agent)[0].endswith(told or "nothing was changed.")


async def test_HS_32_modify_goes_through_the_arguments_one_by_one(console: Makes, stage: Stage) -> None:
    @tool(approve=True)
    def order(item: str, count: int, options: dict[str, Any], tags: list[str]) -> str:
        """Order something."""
        stage.ran.append(f"{count} {item} {options} {tags}")
        return "ordered"

    answers, shown = console("m", "7 kettles", "", '{"hot": ', '{"hot": {"by": 3}}', '["a", "b"]')
    input = {"item": "tea", "count": 2, "options": {"hot": False}, "tags": []}
    agent = stage.agent([("order", input)], "done", tools=[order], responder=answers)
    await stage.run(agent)
    assert stage.ran == ["2 7 kettles {'hot': {'by': 3}} ['a', 'b']"]  # a text as typed, an empty line keeps, JSON else
    assert shown.getvalue().count("That is not JSON") == 1
    for name, current in (("item", "tea"), ("count", "2"), ("options", '{"hot": false}'), ("tags", "[]")):
        assert f"{name} (empty: {current})" in shown.getvalue()


@pytest.mark.parametrize(
    ("typed", "runs"),
    [("y", True), ("YES", True), ("Yes", True), ("n", False), ("No", False), ("NO", False)],
)
async def test_HS_33_the_answer_counts_in_any_case(typed: str, runs: bool, console: Makes, stage: Stage) -> None:
    answers, _ = console(typed, "")
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)], responder=answers)
    run = await stage.run(agent)
    assert (run.text, stage.ran) == ("done", ["deploy"] if runs else [])


@pytest.mark.parametrize("typed", ["m", "Modify", "MODIFY"])
async def test_HS_33_a_call_without_arguments_cannot_be_modified(typed: str, console: Makes, stage: Stage) -> None:
    answers, shown = console(typed, "n", "")
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)], responder=answers)
    await stage.run(agent)
    assert "This call has no arguments to modify." in shown.getvalue()


async def test_HS_33_at_the_end_of_input_the_question_goes_on_waiting(console: Makes, stage: Stage) -> None:
    answers, _ = console("perhaps")
    agent = stage.agent([("deploy", {})], tools=[stage.works("deploy", approve=True)], responder=answers)
    run = await stage.run(agent)
    assert (outcome(run), stage.ran) == ("Suspended", [])


PIPED = """
from hitl_cli import Suspended, Approval
from hitl_cli.journal import Call
from hitl_cli.ui.plain import PlainConsole
call = Call("1.1.0", "deploy", {"x": "web"})
print(PlainConsole()(Suspended(session="s", pending=(Approval(id="i", call=call, reason="no rule"),))))
"""


def test_HS_33_it_reads_standard_input_and_leaves_standard_output_to_the_program() -> None:
    done = subprocess.run([sys.executable, "-c", PIPED], input="maybe\nmodify\nmail\n", capture_output=True, text=True)
    assert done.stdout == "{'i': Edit(input={'x': 'mail'}, rules=())}\n"
    assert "Please answer" in done.stderr


class Talking(io.StringIO):
    """What is typed in one window. Before it gives its first line it lets the other window try to speak."""

    def __init__(self, words: str, before: Callable[[], None] = lambda: None) -> None:
        super().__init__(words)
        self.before = before

    def readline(self, *size: int) -> str:  # type: ignore[override]
        before, self.before = self.before, lambda: None
        before()
        return super().readline(*size)


class Noting(io.StringIO):
    """A screen that notes in `log` who wrote on it."""

    def __init__(self, name: str, log: list[str]) -> None:
        super().__init__()
        self.name, self.log = name, log

    def write(self, text: str) -> int:
        self.log.append(self.name)
        return super().write(text)


@pytest.mark.parametrize("kind", ["plain", "rich"])
def test_HS_34_one_question_at_a_time_in_the_whole_process(kind: str) -> None:
    log: list[str] = []

    def console(name: str, input: TextIO) -> Any:
        screen = Noting(name, log)
        return PlainConsole(input, screen) if kind == "plain" else RichConsole(Console(file=screen), input)

    def pending(name: str) -> Suspended:
        return Suspended(session=name, pending=(Approval(id=name, call=Call("c", name, {}), reason="x"),))

    second = threading.Thread(target=lambda: console("second", Talking("n\nlate\n"))(pending("second")))

    def speak_up() -> None:
        second.start()
        second.join(0.2)  # it has all the time it needs, and may not use it

    first = console("first", Talking("what\ny\n", speak_up))
    assert first(pending("first")) == {"first": approve()}
    second.join()
    assert log == sorted(log)  # all that the first said stands before all that the second said


def test_HS_35_a_console_is_stored_without_its_screen(stage: Stage) -> None:
    shown = io.StringIO()
    stored = pickle.dumps(RichConsole(Console(file=shown)))
    assert pickle.loads(stored) == RichConsole(console=None)


async def test_HS_35_a_console_that_was_stored_asks_as_before(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    console = pickle.loads(pickle.dumps(RichConsole(Console(file=io.StringIO()))))
    agent = stage.agent([("deploy", {})], "done", tools=[stage.works("deploy", approve=True)], responder=console)
    assert (await stage.run(agent)).text == "done"
    assert "deploy" in capfd.readouterr().err


def test_HS_35_without_rich_the_error_names_what_is_missing() -> None:
    code = f"import sys; sys.modules['rich'] = None\n{PIPED.replace('PlainConsole', 'RichConsole')}"
    done = subprocess.run([sys.executable, "-c", code], input="y\n", capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith(("ModuleNotFoundError", "ImportError"))
    assert "rich" in last
