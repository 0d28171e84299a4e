"""A command waits for a person, who accepts a rule with it; another call is run elsewhere; the rule settles the rest."""

import asyncio
import tempfile
from pathlib import Path

from hitl_cli import Agent, Place, RunEnded, Suspended, approve, external_tool, open_model, result
from hitl_cli.tools import Jobs, builtin

SCHEMA = {"type": "object", "properties": {"accuracy": {"enum": ["high", "low"]}}}


def answer(asked):
    print(asked.kind, asked.call.name, dict(asked.call.input))
    if asked.kind == "external":
        return result("52.5 N, 13.4 E")
    print("  rules on offer:", *(offer.rule for offer in asked.suggested))
    return approve(asked.suggested[-1:])


async def main(folder):
    place = Place(folder, (folder,), folder)
    tools = builtin(place, Path(folder, "outputs"), jobs=Jobs())
    locate = external_tool("locate", "Where the device is.", SCHEMA)
    model = open_model("script:agentscope.toml", cwd=Path(__file__).parent)
    agent = Agent(model, [*tools, locate], mode="default", place=place)
    events = agent.stream("Make two folders and find out where I am.")
    while events:
        async for event in events:
            if isinstance(event, RunEnded):
                run = event.run
        events = None
        if isinstance(run, Suspended):
            events = agent.stream_resume(run, {asked.id: answer(asked) for asked in run.pending})
    print(run.unwrap().text, sorted(path.name for path in Path(folder).iterdir()))
    await agent.close()


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(str(Path(folder).resolve())))
