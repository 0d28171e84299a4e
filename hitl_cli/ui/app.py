"""The REPL on this terminal: drawn where a cursor can be moved, else line by line."""

from __future__ import annotations

import os
import sys

from hitl_cli.ui.keyboard import in_lines, is_capable
from hitl_cli.ui.setup import Setup


def repl(setup: Setup) -> int:
    """Run the REPL until the person leaves; the exit code."""
    if setup.config.plain or not is_capable():
        from hitl_cli.ui.plainrepl import PlainRepl

        in_lines()
        return PlainRepl(setup).run()
    import asyncio

    from prompt_toolkit.input import create_input
    from prompt_toolkit.patch_stdout import patch_stdout

    from hitl_cli.ui.prompt import Prompt
    from hitl_cli.ui.terminal import open_output

    setup.colour = setup.colour and not os.environ.get("NO_COLOR")
    prompt = Prompt(setup, create_input(), open_output(sys.stdout))
    with patch_stdout():
        asyncio.run(prompt.run())
    return 0
