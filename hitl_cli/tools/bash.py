"""`Bash`, and the jobs it leaves running: `BashOutput` and `BashKill`.

The shell that runs is the shell whose text was judged: no start-up file, no variable that makes bash run or read
something else first, no exported function. Nothing it starts can wait for input, and nothing it starts outlives the
session unnoticed: what a command leaves running becomes a job, and jobs end with the session.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from hitl_cli.access import Place
from hitl_cli.interrupts import Preview
from hitl_cli.journal import Json, Result
from hitl_cli.tooldef import Context, Input, Tool
from hitl_cli.tools.declare import Failed, body, schema, shown, states, words
from hitl_cli.tools.jobs import Job, Jobs
from hitl_cli.tools.processes import Spool, start

TIMEOUT, MAX_TIMEOUT = 120_000, 600_000  # milliseconds

# What would make bash read, run or mean something that the text does not say (bash(1), "Shell Variables").
_DROPPED = frozenset(
    {"BASH_ENV", "ENV", "CDPATH", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "BASH_XTRACEFD", "BASH_LOADABLES_PATH"}
    | {"EXECIGNORE", "FIGNORE", "GLOBIGNORE", "IFS", "POSIXLY_CORRECT", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4"}
    | {"TMOUT"}
)
# What would wait for a person, told that none is there; a pager or editor would.
_NOBODY = {
    "DEBIAN_FRONTEND": "noninteractive",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "SSH_ASKPASS_REQUIRE": "never",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
}


def environment(of: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command, from that of the program."""
    kept = {
        name: value
        for name, value in of.items()
        if name not in _DROPPED and not name.startswith("BASH_FUNC_") and not value.startswith("() {")
    }
    return kept | _NOBODY


def bash_tool(place: Place, outputs: Path, jobs: Jobs) -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        job = await _started(input, ctx, outputs, jobs)
        if input.get("background"):
            jobs.add(job)
            return Result(f"started in the background as job {job.name}", data={"job": job.name})
        limit = min(int(input.get("timeout") or TIMEOUT), MAX_TIMEOUT)
        try:
            in_time = await job.command.finished(limit / 1000)
            left = await job.command.left() if in_time else []
        except asyncio.CancelledError:
            await asyncio.shield(job.command.end())
            raise
        if not in_time:
            await job.command.end()
            return _result(job, [f"timed out after {limit / 1000:g} s and was ended"], failed=True)
        failed = job.command.process.returncode != 0
        notes = [job.command.ending] if failed else []
        if left:
            jobs.add(job)
            notes.append(f"still running in the background as job {job.name}: {_counted(left)}")
        else:
            job.command.close()
        return _result(job, notes, failed=failed, goes_on=bool(left))

    return Tool(
        name="Bash",
        approve=True,
        description=words("bash"),
        schema=schema(
            ("command",),
            command={"type": "string", "minLength": 1, "description": "The text for bash -c."},
            timeout={
                "type": "integer",
                "minimum": 1,
                "description": f"Time limit in milliseconds: {TIMEOUT} unless given, at most {MAX_TIMEOUT}.",
            },
            background={"type": "boolean", "description": "Start it and go on; see BashOutput and BashKill."},
            description={"type": "string", "description": "What it is for, in five to ten words for the person."},
        ),
        run=run,
        accesses=states("Bash"),
        preview=_preview,
        serial=True,
        instructions=f"Commands and relative paths start in {shown(place.cwd)}.",
    )


def output_tool(jobs: Jobs) -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        if not input.get("job"):
            listed = [f"{job.name}  {job.status}  {job.text}" for job in jobs.of(ctx.session)]
            return Result("\n".join(listed) or "no jobs")
        job = jobs.find(ctx.session, str(input["job"]))
        await job.wait(min(int(input.get("wait") or 0), MAX_TIMEOUT) / 1000)
        return _unread(job)

    return Tool(
        name="BashOutput",
        description=words("bash_output"),
        schema=schema(
            (),
            job={"type": "string", "description": "The job; without one all jobs are listed."},
            wait={"type": "integer", "minimum": 0, "description": "Milliseconds to wait for it to end first."},
        ),
        run=run,
        read_only=True,
    )


def _unread(job: Job) -> Result:
    text, _ = job.unread()
    return Result("\n".join(part for part in (text, f"({job.status})") if part), data={"job": job.name})


def kill_tool(jobs: Jobs) -> Tool:
    @body
    async def run(input: Input, ctx: Context) -> Result:
        job = jobs.find(ctx.session, str(input["job"]))
        await job.end()
        return _unread(job)

    return Tool(
        name="BashKill",
        description=words("bash_kill"),
        schema=schema(("job",), job={"type": "string", "description": "The job to end."}),
        run=run,
        read_only=True,
    )


async def _started(input: Input, ctx: Context, outputs: Path, jobs: Jobs) -> Job:
    bash = shutil.which("bash")
    if bash is None:
        raise Failed("bash was not found on PATH: install it, or start hitl with a PATH that has it")
    if not os.path.isdir(ctx.place.cwd):
        raise Failed(f"the working folder {shown(ctx.place.cwd)} is gone")
    text = str(input["command"])
    if "\0" in text:
        raise Failed("a command cannot hold a NUL character")
    spool = Spool(outputs / ctx.session / f"{ctx.call}.txt")
    argv = (bash, "--noprofile", "--norc", "-c", text)
    try:
        command = await start(argv, ctx.place.cwd, environment(os.environ), spool, ctx.progress, jobs.begun)
    except OSError as error:
        raise Failed(f"bash could not be started: {error.strerror}") from None
    command.closed = lambda: jobs.over(command.process.pid)
    return Job(ctx.session, ctx.call, text, command)


def _result(job: Job, notes: list[str], *, failed: bool, goes_on: bool = False) -> Result:
    """Output, then how it ended; the file stays only where it holds more than is shown, or is still written."""
    spool = job.command.spool
    text, cut = job.unread()
    data: dict[str, Json] = {"exit": job.command.process.returncode, "bytes": spool.size}
    if cut:
        data["output"] = str(spool.path)
    elif not goes_on:
        spool.discard()
    if goes_on:
        data["job"] = job.name
    lines = [text, *(f"({note})" for note in (*notes, spool.problem) if note)]
    told = "\n".join(line for line in lines if line) or "(no output)"
    return Result(told, ok=not failed, kind="error" if failed else "ran", data=data)


def _counted(pids: list[int]) -> str:
    return "1 process" if len(pids) == 1 else f"{len(pids)} processes"


def _preview(input: Input, place: Place) -> Preview:
    return Preview("command", "Bash", str(input["command"]), purpose=str(input.get("description") or ""))
