"""`/jobs`: the commands that this session left running in the background."""

from __future__ import annotations

from hitl_cli.tools.declare import Failed
from hitl_cli.tools.jobs import Job
from hitl_cli.ui.clean import clean
from hitl_cli.ui.commands.host import Host


async def jobs(repl: Host, argument: str) -> None:
    """All of them, or the output of one, or with `end` its end."""
    word, _, name = argument.partition(" ")
    if word == "end" and name.strip() == "all":
        await end_all(repl)
    elif word == "end" and name.strip():
        job = _find(repl, name.strip())
        await job.end()
        repl.say(f"{job.name} {job.status}")
    elif word == "end":
        raise ValueError("/jobs end NAME, or /jobs end all")
    elif argument:
        job = _find(repl, argument)
        repl.say(clean(job.output()) or "(no output)", "")
        repl.say(f"({job.name} {job.status})")
    else:
        texts = [(job, clean(job.text).partition("\n")[0]) for job in _jobs(repl)]
        listed = [f"{job.name:<8}{job.status:<26}{text}" for job, text in texts]
        more = "/jobs NAME shows the output, /jobs end NAME ends one."
        repl.say("\n".join([*listed, more] if listed else ["Nothing runs in the background."]), "")


async def end_all(repl: Host) -> None:
    """End what the session left running; a line says so when there was anything."""
    running = [job for job in _jobs(repl) if not job.over.is_set()]
    for job in running:
        await job.end()
    if running:
        repl.say(f"Ended in the background: {', '.join(clean(job.text) for job in running)}")


def _jobs(repl: Host) -> list[Job]:
    session = repl.talk.session
    return repl.setup.workshop.jobs.of(session) if session else []


def _find(repl: Host, name: str) -> Job:
    try:
        return repl.setup.workshop.jobs.find(repl.talk.session or "", name)
    except Failed as error:
        raise ValueError(str(error)) from None
