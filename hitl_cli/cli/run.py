"""`hitl run`: one turn, or under a host program a whole conversation, where no keyboard is.

Nothing here ever asks or assumes yes. What would need a person is refused (`--auto-deny`), or kept for `hitl answer`, or
put to the host program that speaks JSON lines on standard input.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.options import Output, one_of
from hitl_cli.cli.turn import Turn
from hitl_cli.errors import UsageError

if TYPE_CHECKING:
    from hitl_cli.cli.assemble import Assembly


def run(
    message: Annotated[str | None, Argument("What to do; also read from standard input.")] = None,
    print_: Annotated[str | None, Option("-p --print", hidden=True)] = None,
    session: Annotated[str | None, Option("--session", "Continue this session.", metavar="ID")] = None,
    continue_: Annotated[bool, Option("-c --continue", "Continue this folder's newest session.")] = False,
    output: Output = None,
    input: Annotated[
        str,
        Option("--input", "text or stream-json.", check=one_of("text", "stream-json"), metavar="FORMAT"),
    ] = "text",
    on_ask: Annotated[
        str,
        Option("--on-ask", "What would ask: park it or deny it.", check=one_of("park", "deny"), metavar="park|deny"),
    ] = "park",
    auto_deny: Annotated[bool, Option("--auto-deny", "Short for --on-ask deny.")] = False,
    *,
    turn: Turn,
) -> int:
    """Run one turn without a terminal; nothing is ever asked here."""
    from hitl_cli.cli import assemble, stdin
    from hitl_cli.responders import deny_all

    if message is not None and print_ is not None:
        raise UsageError("There are two messages.\n  Give one of MESSAGE and -p MESSAGE.")
    if session and continue_:
        raise UsageError("--session and --continue name two sessions.\n  Give one of them.")
    given = message if message is not None else print_
    hosted = input == "stream-json"
    form = output or ("stream-json" if hosted else "text")
    text = given if hosted else stdin.message(given)
    responder = deny_all if auto_deny or on_ask == "deny" else None
    assembly = assemble.assemble(turn, session=session, newest=continue_, responder=responder)
    assembly.require_model()
    if hosted:
        from hitl_cli.cli import host

        return asyncio.run(host.serve(assembly, turn, text, form))
    assert text is not None
    return asyncio.run(_one_turn(assembly, text, text if given is None else given, form, turn))


async def _one_turn(assembly: Assembly, text: str, named: str, output: str, turn: Turn) -> int:
    """`named` is the part of the text in which files may be named: what is piped in behind a message is data."""
    from hitl_cli.cli.watch import watched

    async with watched(assembly, turn, output) as watch:
        return await watch.to_the_end(watch.message(text, named))
