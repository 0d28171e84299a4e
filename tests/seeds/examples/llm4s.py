"""Everything a turn can wait for is an interrupt with an id: an approval, a tool's question, a breakpoint, a review."""

from pathlib import Path

from hitl_cli import Agent, Context, Middleware, Suspended, approve, guardrail_review, open_model, proceed, reply, tool


class LargeSums(Middleware):
    async def around_tool(self, call, next, ctx):
        if call.input["amount"] > 500 and not ctx.approved:
            ctx.needs_approval("a large sum")
        return await next(call)


@tool
def transfer(to: str, amount: int, ctx: Context) -> str:
    """Send money."""
    return f"{to} got {amount} from {ctx.ask('Which account?', str)}"


brief = guardrail_review("brief", lambda text: "too long" if len(text) > 40 else None, ["output"])
model = open_model("script:llm4s.toml", cwd=Path(__file__).parent)
agent = Agent(model, [transfer], middleware=[LargeSums(), brief], break_after={"tool"})
run = agent.sync.run("Send Ann 900.")
says = {
    "approval": approve(),
    "question": reply("savings"),
    "breakpoint": proceed(),
    "review": reply({"edit": "Done."}),
}
while isinstance(run, Suspended):
    for i in run.pending:
        print(i.kind, i.id)
    run = agent.sync.resume(run, {i.id: says[i.kind] for i in run.pending})
print(run.unwrap().text)
agent.sync.close()
