"""A side effect happens only after a yes: a no leaves none, a yes exactly one. Then the user fills in what only they know."""

from pathlib import Path

from hitl_cli import Agent, Suspended, approve, open_model, reject, reply, tool

effects: list[str] = []


@tool(approve=True)
def charge_card(amount: int) -> str:
    """Charge the customer's card."""
    effects.append(f"charged {amount}")
    return "charged"


@tool(user_fields=["address"])
def send_receipt(text: str, address: str) -> str:
    """Send a receipt."""
    effects.append(f"sent {text!r} to {address}")
    return "sent"


agent = Agent(open_model("script:agno.toml", cwd=Path(__file__).parent), [charge_card, send_receipt])
for verdict in (reject("ask again next month"), approve()):
    effects.clear()
    run = agent.sync.run("Charge 5 and send me a receipt.")
    while isinstance(run, Suspended):
        print(run)
        says = {"approval": verdict, "question": reply({"address": "ann@example.org"})}
        run = agent.sync.resume(run, {asked.id: says[asked.kind] for asked in run.pending})
    print(run.text, effects)
agent.sync.close()
