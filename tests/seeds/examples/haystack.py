"""Who is asked about which tool is a policy; how a person is asked is a console. Typed here: y, then a smaller amount."""

from pathlib import Path

from hitl_cli import Agent, always, never, once, open_model, tool
from hitl_cli.ui.plain import PlainConsole


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def get_bank_balance(account: str) -> str:
    """Look up the balance of an account."""
    return f"The balance of {account} is 1000."


@tool
def transfer(to: str, amount: int) -> str:
    """Send money."""
    return f"{to} got {amount}."


agent = Agent(
    open_model("script:haystack.toml", cwd=Path(__file__).parent),
    [add, get_bank_balance, transfer],
    policy={"add": never, ("get_bank_balance", "get_phone_number"): once, "*": always},
    responder=PlainConsole(),
)
run = agent.sync.run("What is 2 + 3, what is my balance, and please send Ann 100.").unwrap()
for block in run.messages[2]["content"]:
    print(block["content"] if isinstance(block["content"], str) else [part["text"] for part in block["content"]])
print(run.text)
agent.sync.close()
