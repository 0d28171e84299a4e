"""Calls that must wait end the run as requests; a resume brings a result for one and other arguments for another."""

import asyncio
from pathlib import Path

from hitl_cli import Agent, NotCompleted, edit, external_tool, open_model, result, tool


@tool
def list_files() -> str:
    """List the files."""
    return "data, old.log"


@tool(approve=lambda input, context: context != "admin")
async def delete_file(path: str) -> str:
    """Delete a file."""
    print("deleting", path)
    return f"deleted {path}"


read_clipboard = external_tool("read_clipboard", "What the user copied last.", {"type": "object"})


async def main() -> None:
    model = open_model("script:vibes.toml", cwd=Path(__file__).parent)
    agent = Agent(model, [list_files, delete_file, read_clipboard])
    try:
        run = (await agent.run("Clean up.", context="guest")).unwrap()
    except NotCompleted as waiting:
        print(waiting)
        approval, external = waiting.run.pending
        answers = {approval.id: edit({"path": "/old.log"}), external.id: result("an address")}
        run = (await agent.resume(waiting.run, answers, context="guest")).unwrap()
    print(run.text)
    await agent.close()


asyncio.run(main())
