"""The README is followed to the letter: files are written, commands run, and what it shows is what happens.

Where the program has changed, `python tests/help/renew.py` writes anew what it shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.help import pictures
from tests.help.story import Reader

TOP = Path(__file__).parent.parent
README = (TOP / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    someone = Reader(tmp_path)
    yield someone
    someone.close()


@pytest.mark.slow
def test_the_readme_shows_what_its_commands_print(reader: Reader) -> None:
    for printed in reader.follow(README):
        assert printed.real == printed.told, f"README.md:{printed.step.line}: {printed.step.text}"


def test_the_first_two_commands_stand_where_ci_reads_them() -> None:
    for title, starts in (("Try it:", "python3 -m venv"), ("Run the tests:", "python3 -m venv")):
        assert README.partition(f"\n{title}\n\n    ")[2].startswith(starts)


def test_what_the_readme_names_is_there() -> None:
    pages = set(re.findall(r"`hitl help ([a-z-]+)`", README))
    missing = [name for name in sorted(pages) if not (TOP / f"hitl_cli/help/{name}.md").exists()]
    pictured = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert (missing, [path for path in pictured if not (TOP / path).exists()]) == ([], [])


def test_the_pictures_show_what_the_program_shows() -> None:
    drawn = {name: (pictures.FOLDER / f"{name}.svg").read_text(encoding="utf-8") for name in pictures.NAMES}
    assert {name: pictures.words(svg) for name, svg in pictures.taken().items()} == {
        name: pictures.words(svg) for name, svg in drawn.items()
    }
