"""Commands that tell how things stand: session, cost, context, settings, rules."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress

from hitl_cli import rulebook
from hitl_cli.instructions import near
from hitl_cli.journal import Grant, Usage
from hitl_cli.models import prices
from hitl_cli.ui.bottom import from_home
from hitl_cli.ui.clean import clean
from hitl_cli.ui.commands.host import Host


def status(repl: Host, argument: str) -> None:
    talk, setup, home = repl.talk, repl.setup, repl.setup.place.home
    rows = {
        "session": talk.session or "(begins with the first message)",
        "model": talk.partner.settings.model,
        "mode": talk.mode,
        "folder": from_home(setup.place.cwd, home),
        "roots": ", ".join(from_home(root, home) for root in talk.agent.place.roots),
        "store": from_home(str(setup.paths.store), home),
        "breaks": ", ".join(talk.partner.breaks) or "none",
        "waiting": f"{len(talk.pending)} here, {repl.waiting} in all",
    }
    repl.say("\n".join(f"{name:<9}{value}" for name, value in rows.items()), "")


def cost(repl: Host, argument: str) -> None:
    """What was spent, by model, and of what day the prices are."""
    usages = repl.talk.account.usages
    lines = [f"{clean(model) or 'model'}: {_spent(used)}" for model, used in usages.items()]
    if len(usages) > 1:
        lines.append(f"in all: {_spent(repl.talk.account.usage)}")
    lines.append(f"Prices as of {prices.AS_OF}; a model that is not among them has none.")
    repl.say("\n".join(lines if usages else ["Nothing was spent yet.", lines[-1]]), "")


def _spent(used: Usage) -> str:
    price = "price unknown" if used.cost is None else f"${used.cost:.4f}"
    return (
        f"input {used.input:,} · output {used.output:,} · read from cache {used.cache_read:,} · "
        f"written to cache {used.cache_write:,} tokens · {price}"
    )


async def context(repl: Host, argument: str) -> None:
    """What the next request will hold, in parts; which figures were counted by the service and which are estimated."""
    held = await repl.talk.agent.context(repl.talk.session)
    by = "measured" if held.measured and not held.since else "partly measured" if held.measured else "estimated"
    rows = [("the next request", held.used, f"{by}, {held.percent}% of the model's {held.window:,}")]
    if held.measured:
        rows.append(("  last request", held.measured, "measured, with its reply"))
        rows.append(("  said since", held.since, "estimated"))
    rows += [
        ("instructions", held.instructions, "estimated"),
        ("tools", held.tools, f"estimated, {len(repl.talk.agent.tools)} of them"),
        ("conversation", held.conversation, "estimated"),
    ]
    lines = [f"{name:<17}{count:>9,} tokens  {how}" for name, count, how in rows]
    repl.say("\n".join([*lines, "/compact lets a summary stand for what was said."]), "")


def config(repl: Host, argument: str) -> None:
    config = repl.setup.config
    names = [name for name in config.__struct_fields__ if name != "origins"]
    values = {name: getattr(config, name) for name in names}
    shown = {
        name: "-" if value in (None, "", (), {}) else str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
    }
    repl.say("\n".join(f"{n:<11} {shown[n]:<24} {config.origins.get(n, 'default')}" for n in names), "")


def permissions(repl: Host, argument: str) -> None:
    """List rules, all or those with a text in them, or `allow|ask|deny RULE` to add one for the person, `remove RULE` to
    take one away."""
    place, paths = repl.setup.place, repl.setup.paths
    word, _, text = argument.partition(" ")
    if word in ("allow", "ask", "deny"):
        grant = Grant(word, text.strip(), "user")  # type: ignore[arg-type]
        kept = rulebook.add(rulebook.granted(grant), "user", place, paths)
        repl.say(f"Kept: {word} {kept.text} in {near(str(kept.source), place)}")
    elif word == "remove":
        gone = sum(rulebook.remove(text.strip(), scope, place, paths) for scope in ("user", "project"))
        repl.say(f"{gone} removed." if gone else f"No rule {text.strip()} of yours; /permissions lists them.")
    else:
        book = rulebook.load(place, paths)
        rules = [r for r in book.rules if r.source.layer != "pack"]
        session = [f"{g.decision:<6}{g.rule}  (session)" for g in repl.talk.partner.settings.rules]
        rules.sort(key=lambda rule: -rule.decision)
        listed = [f"{r.decision!s:<6}{r.text}  ({near(str(r.source), place)})" for r in rules]
        found = [line for line in (*session, *listed) if argument.casefold() in line.casefold()]
        none = (
            f"No rule holds {argument}. To keep one: /permissions allow RULE" if argument else "No rules of yours yet."
        )
        packs = f"packs: {', '.join(book.on) or 'none'}"
        repl.say("\n".join([*(found or [none]), *([] if argument else [packs])]), "")
    repl.talk.partner.renew_rules()


def mcp(repl: Host, argument: str) -> None:
    """The servers of the settings, and the tools that they gave."""
    servers = repl.setup.config.mcp
    if not servers:
        repl.say("No servers are set up. Tables [mcp.NAME] in config.toml name them.", "")
    for server in servers:
        head = f"mcp__{server}__"
        tools = [name.removeprefix(head) for name in repl.talk.agent.tools if name.startswith(head)]
        repl.say(f"{server}: {', '.join(tools) or 'not connected'}", "" if tools else "warn")


async def doctor(repl: Host, argument: str) -> None:
    """The same as `hitl doctor`, in a process of its own, about the model of this session."""
    output = await asyncio.to_thread(_examined, repl.setup.place.cwd, repl.width, repl.talk.partner.settings.model)
    repl.say(output.replace("\r", "").rstrip(), "")


def _examined(cwd: str, width: int, model: str) -> str:
    """What `hitl doctor` says at a terminal of this width: it looks at the terminal, too."""
    ours, theirs = os.openpty()
    env = {**os.environ, "COLUMNS": str(width), "NO_COLOR": "1", "HITL_MODEL": model}
    command = [sys.executable, "-m", "hitl_cli", "doctor"]
    with (
        os.fdopen(ours, "rb", buffering=0) as output,
        subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs),
    ):
        os.close(theirs)
        said = b""
        with suppress(OSError):  # EIO is the end of what a terminal says
            while piece := output.read(65536):
                said += piece
    return said.decode("utf-8", "replace")
