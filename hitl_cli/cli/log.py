"""`hitl log`: every decision, in the order of time. A view of the journals, not a second record."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Annotated, Any

from hitl_cli.cli.declared import Option
from hitl_cli.cli.keeping import near
from hitl_cli.cli.opened import local, opened, stamp
from hitl_cli.cli.options import Store, moment, one_of
from hitl_cli.journal import Answered, Judged, Recorded, Who
from hitl_cli.masking import mask_data
from hitl_cli.store import Store as Stored
from hitl_cli.times import gone_by
from hitl_cli.ui.clean import clean

DECISIONS = ("allow", "ask", "deny", "approve", "edit", "reject", "reply", "result", "proceed")


def log(
    session: Annotated[str | None, Option("--session", "Of this session.", metavar="ID")] = None,
    tool: Annotated[str | None, Option("--tool", "Of this tool.", metavar="NAME")] = None,
    decision: Annotated[
        str | None,
        Option("--decision", f"{', '.join(DECISIONS)}.", check=one_of(*DECISIONS), metavar="DECISION"),
    ] = None,
    since: Annotated[str | None, Option("--since", "A date or a length such as 7d.", metavar="TIME")] = None,
    until: Annotated[str | None, Option("--until", "A date or a length such as 1h.", metavar="TIME")] = None,
    as_json: Annotated[bool, Option("--json", "JSON lines.")] = False,
    store: Store = None,
) -> int:
    """Every decision: what was allowed, asked, refused, by whom."""
    with opened(store) as found:
        id = found.find(session) if session is not None else None
        first = moment("--since", since, gone_by) if since is not None else 0.0
        last = moment("--until", until, gone_by) if until is not None else None
        for row in rows(found, id, first, last):
            if tool not in (None, row["tool"]) or decision not in (None, row["decision"]):
                continue
            row = mask_data(row)
            print(json.dumps(row, ensure_ascii=False) if as_json else _text(row))
    return 0


def rows(store: Stored, session: str | None, since: float, until: float | None) -> Iterator[dict[str, Any]]:
    """One row a decision. A verdict says what decided; an answer says who gave it and what it granted."""
    judged: dict[tuple[str, str], Judged] = {}
    for id, record in store.entries(["judged", "answered"], session=session, since=since, until=until):
        entry = record.entry
        if isinstance(entry, Judged):
            judged[id, entry.call] = entry
            yield _row(
                id, record, entry, entry.decision, {"rule": entry.rule, "layer": entry.layer, "part": entry.part}
            )
        elif isinstance(entry, Answered):
            for interrupt, answer in entry.answers.items():
                call = interrupt.partition(":")[0]
                about = judged.get((id, call)) or _judged_before(store, id, call, record.seq)
                ((kind, said),) = answer.items()
                more = {"interrupt": interrupt, "granted": said.get("rules", []), "reason": said.get("reason", "")}
                digest = entry.digests.get(interrupt)
                yield _row(id, record, about, kind, {**more, **({"digest": digest} if digest else {})}, entry.who)


def _judged_before(store: Stored, session: str, call: str, seq: int) -> Judged | None:
    """The verdict that an answer answers, when it lies before the time that was asked for."""
    records = [r.entry for r in store.read(session) if r.seq < seq and isinstance(r.entry, Judged)]
    return next((j for j in reversed(records) if j.call == call), None)


def _row(
    session: str, record: Recorded, about: Judged | None, decision: str, more: dict[str, Any], who: Who | None = None
) -> dict[str, Any]:
    who = who or (about.who if about else Who("none"))
    return {
        "time": stamp(record.at),
        "session": session,
        "seq": record.seq,
        "call": about.call if about else "",
        "tool": about.tool if about else "",
        "digest": about.digest if about else "",
        "decision": decision,
        "by": {"kind": who.kind, "detail": who.detail},
        "rule": "",
        "layer": "",
        "part": about.part if about else "",
        "what": about.what if about else "",
        "reason": about.reason if about else "",
        "granted": [],
        "interrupt": "",
        **more,
    }


def _text(row: dict[str, Any]) -> str:
    about = " ".join(filter(None, [row["tool"], row["what"] or row["part"] or row["interrupt"] or row["call"]]))
    why = f": {row['reason']}" if row["reason"] and row["decision"] == "reject" else ""
    granted = "".join(f"  + {g['rule']} ({g.get('scope', 'session')})" for g in row["granted"])
    line = f"{local(row['time'])}  {row['session']}  {row['decision']:<7}  {about}  {_by(row)}{why}{granted}"
    return " ".join(clean(line).split("\n"))


def _by(row: dict[str, Any]) -> str:
    """Who decided, in short: a file of a pack by its name alone, as in `rules explain`."""
    kind, detail = row["by"]["kind"], row["by"]["detail"]
    if kind == "none":
        return "nobody was there to ask"
    if kind == "rule" and " (" in detail:
        rule, _, file = detail.rpartition(" (")
        detail = f"{rule} ({os.path.basename(file) if row['layer'] == 'pack' else near(file)}"
    return f"by {kind} {detail}".rstrip()
