"""The pages of `hitl help`: each is followed from top to bottom, and what it shows is what happens.

Where the program has changed, `python tests/help/renew.py` writes anew what pages show.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import hitl_cli
from hitl_cli import config
from hitl_cli.cli.pages import FOLDER, topics
from hitl_cli.tools.servers import servers_from_settings
from tests.help import examples, slash
from tests.help.story import Reader, blocks

PAGES = sorted(FOLDER.glob("*.md"))


@pytest.mark.slow  # the program is started for each command
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page: Path, reader: Reader) -> None:
    for printed in reader.follow(page.read_text(encoding="utf-8")):
        assert printed.real == printed.told, f"{page.name}:{printed.step.line}: {printed.step.text}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_its_words_fit_80_columns(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert [line for line in lines if len(line) > 80 and not line.startswith("    ")] == []
    assert len(lines) <= 150 or page.stem == "examples"


def test_the_page_of_keys_lists_the_slash_commands() -> None:
    text = (FOLDER / "keys.md").read_text(encoding="utf-8")
    assert slash.renewed(text) == text


def test_the_page_of_settings_lists_every_key() -> None:
    text = (FOLDER / "settings.md").read_text()
    table = text.partition("    key  ")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in table.splitlines()[1:]] == list(config.READERS)


def test_the_servers_on_the_page_of_servers_are_settings() -> None:
    text = (FOLDER / "mcp.md").read_text(encoding="utf-8").partition("## External")[0]
    tables = tomllib.loads("\n".join("\n".join(block) for _, block in blocks(text)))
    servers = servers_from_settings(tables["mcp"], {"FILES_TOKEN": "x"})
    assert [(s.name, s.command, s.url) for s in servers] == [
        ("files", "mcp-server-files", ""),
        ("tickets", "", "https://tickets.example.org/mcp"),
    ]


def test_the_page_of_examples_holds_the_programs_that_are_run_as_tests() -> None:
    text = examples.PAGE.read_text(encoding="utf-8")
    assert [piece for piece in examples.sections() if piece not in text] == []


def test_the_page_of_the_library_names_all_that_is_public() -> None:
    text = (FOLDER / "python.md").read_text()
    assert [name for name in hitl_cli.__all__ if not re.search(rf"\b{name}s?\b", text)] == []


def test_the_page_of_json_lines_names_each_line_of_the_schema() -> None:
    schema = json.loads((FOLDER / "jsonlines.schema.json").read_text())["$defs"]
    kinds = [name.partition("_") for name in schema if name.startswith(("out_", "in_"))]
    text = (FOLDER / "jsonlines.md").read_text()
    parts = dict(
        zip(("out", "in"), re.split(r"^## What hitl (?:writes|reads)\n", text, flags=re.MULTILINE)[1:], strict=True)
    )
    assert [(way, kind) for way, _, kind in kinds if not re.search(rf"^    {kind}  ", parts[way], re.MULTILINE)] == []


def test_the_list_of_pages_names_each_with_its_title(reader: Reader) -> None:
    shown = [line.split(None, 3) for line in reader.run("hitl help").splitlines()[: len(PAGES)]]
    assert shown == [["hitl", "help", name, title] for name, title in topics().items()]
    assert list(topics()) == [page.stem for page in PAGES]


def test_a_page_that_does_not_exist_is_answered_with_the_nearest(reader: Reader) -> None:
    assert reader.run("hitl help rule; echo $?") == (
        "hitl: There is no page 'rule'.\n  Did you mean `hitl help rules`?\n2"
    )
