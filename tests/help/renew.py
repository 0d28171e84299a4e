"""Make anew all that is generated from the program: `python tests/help/renew.py`, then read the difference.

That is the table of the completions, that of the slash commands, the page of examples, the pictures, and in the README
and the pages what commands print.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).parent.parent.parent
sys.path.insert(0, str(TOP))

from hitl_cli.cli.complete import folder  # noqa: E402
from tests.completions import table  # noqa: E402
from tests.help import examples, pictures, slash  # noqa: E402
from tests.help.story import Reader, rewritten  # noqa: E402


def main() -> None:
    (folder() / "commands.json").write_text(table.text(), encoding="utf-8")
    examples.PAGE.write_text("\n".join(examples.sections()), encoding="utf-8")
    keys = pictures.FOLDER / "keys.md"
    keys.write_text(slash.renewed(keys.read_text(encoding="utf-8")), encoding="utf-8")
    for name, svg in pictures.taken().items():
        (pictures.FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
    for page in (TOP / "README.md", *sorted(pictures.FOLDER.glob("*.md"))):
        with tempfile.TemporaryDirectory() as home:
            reader = Reader(Path(home))
            page.write_text(rewritten(page.read_text(encoding="utf-8"), reader), encoding="utf-8")
            reader.close()


if __name__ == "__main__":
    main()
