"""Files named in a message go along with it, as far as the rules let them be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitl_cli import Agent
from hitl_cli.access import Place
from hitl_cli.attachments import MOST, Attached, attach, mentions
from hitl_cli.journal import Settings
from hitl_cli.permissions.codec import parse
from hitl_cli.permissions.policy import Policy
from hitl_cli.permissions.rule import Decision
from hitl_cli.tools import Jobs, builtin
from tests.agent.told import Told

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "shot.png").write_bytes(PNG)
    (folder / "with blanks.txt").write_text("x\n")
    (tmp_path / "outside.txt").write_text("far\n")
    return folder


@pytest.fixture
def agent(work: Path) -> Any:
    def make(*replies: Any, allow: tuple[str, ...] = ("Read(**)",), deny: tuple[str, ...] = ()) -> Agent:
        place = Place(str(work), (str(work),), str(work.parent))
        rules = [parse(r) for r in allow] + [parse(r, Decision.DENY) for r in deny]
        tools = builtin(place, work.parent / "outputs", jobs=Jobs())
        settings = Settings("told", "default", str(work))
        return Agent(Told(*replies), tools, mode="default", rules=Policy(rules, place), place=place, settings=settings)

    return make


def told(attached: Attached) -> tuple[list[str], tuple[str, ...]]:
    return [str(b.get("text", b["type"])) for b in attached.content], attached.problems


def test_a_text_file_is_attached_as_read_shows_it(agent):
    attached = attach(agent(), None, "Look at @calc.py, please", person=True)
    assert told(attached) == (["The file calc.py:\n     1\tdef add(a, b):\n     2\t    return a - b"], ())


def test_a_picture_is_attached_as_one_by_its_content_not_by_its_name(agent, work):
    (work / "fake.png").write_text("no picture\n")
    attached = attach(agent(), None, "@shot.png @fake.png", person=True)
    assert [b["type"] for b in attached.content] == ["text", "image", "text"]
    assert attached.content[1]["source"]["media_type"] == "image/png"


def test_a_picture_that_is_too_large_is_told(agent, work):
    (work / "big.png").write_bytes(PNG + b"\0" * 4_000_000)
    attached = attach(agent(), None, "@big.png", person=True)
    assert attached.content == ()
    assert "is an image of more than 3,750,000 bytes" in attached.problems[0]


def test_names_end_where_the_sentence_says_and_blanks_need_quotes(work):
    cwd = str(work)
    text = 'See @calc.py:2, (@shot.png) and @"with blanks.txt". Not me@calc.py, @nobody or @calc.py again.'
    assert list(mentions(text, cwd)) == ["calc.py", "shot.png", "with blanks.txt"]


def test_a_folder_is_listed(agent, work):
    (work / "src").mkdir()
    (work / "src/a.py").write_text("")
    assert told(attach(agent(), None, "@src", person=True)) == (["The folder src:\na.py"], ())


def test_a_denied_file_is_not_attached_and_is_told(agent):
    attached = attach(agent(deny=("Read(calc.py)",)), None, "@calc.py", person=True)
    assert told(attached) == ([], ("@calc.py is not attached: reading `calc.py` is denied by Read(calc.py)",))


def test_what_would_be_asked_about_is_attached_for_a_person_alone(agent):
    assert len(attach(agent(), None, "@../outside.txt", person=True).content) == 1
    unasked = attach(agent(), None, "@../outside.txt", person=False)
    assert told(unasked) == ([], ("@../outside.txt is not attached: no rule covers reading `~/outside.txt`",))


def test_keys_are_not_attached_even_for_a_person(agent, work):
    (work.parent / ".ssh").mkdir()
    (work.parent / ".ssh/id_rsa").write_text("key")
    attached = attach(agent(), None, "@../.ssh/id_rsa", person=True)
    assert attached.content == ()
    assert "ssh keys open other machines" in attached.problems[0]


def test_too_many_are_left_to_the_model(agent, work):
    for n in range(MOST + 1):
        (work / f"f{n}").write_text("x\n")
    attached = attach(agent(), None, " ".join(f"@f{n}" for n in range(MOST + 1)), person=True)
    assert len(attached.content) == MOST
    assert "too much attached already" in attached.problems[0]


def test_an_attached_file_counts_as_read_and_its_notes_are_not_sent(agent, work):
    edit = ("Edit", {"file_path": "calc.py", "old_string": "a - b", "new_string": "a + b"})
    made = agent([edit], "Done.", allow=("Read(**)", "Edit(**)"))
    attached = attach(made, None, "Fix @calc.py", person=True)
    assert made.sync.run("Fix @calc.py", content=attached.content).unwrap().text == "Done."
    assert "a + b" in (work / "calc.py").read_text()
    made.sync.close()


def test_a_file_that_is_not_there_is_told_and_what_is_no_name_of_a_file_is_not(agent):
    text = 'See @nope.py, @"no such.txt", @nobody, @types/node and @pytest.fixture.'
    assert attach(agent(), None, text, person=True).problems == (
        "@nope.py was not found.",
        "@no such.txt was not found.",
    )
