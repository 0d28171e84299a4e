"""`hitl sessions`: what is stored, and what may be done with it."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from typing import Annotated, Any

from hitl_cli import sessions
from hitl_cli.cli.declared import Argument, Option
from hitl_cli.cli.keeping import near
from hitl_cli.cli.opened import age, opened, patiently, stamp
from hitl_cli.cli.options import Json, Session, Store, one_of
from hitl_cli.errors import UsageError
from hitl_cli.paths import locate
from hitl_cli.store import Head
from hitl_cli.ui.clean import cells, clean

TITLE = 50  # columns of the titles, unless one is longer


def list_(
    here: Annotated[bool, Option("--here", "Only those of this folder.")] = False,
    as_json: Json = False,
    store: Store = None,
) -> int:
    """All sessions, newest first."""
    with opened(store) as found:
        heads = found.heads(cwd=os.getcwd() if here else None)
    if as_json:
        print(json.dumps([row(head) for head in heads], ensure_ascii=False, indent=2))
        return 0
    titles = [clean(h.title) + (f"  {len(h.pending)} waiting" if h.pending else "") for h in heads]
    width = min(max(map(cells, titles), default=0), TITLE)
    for head, title in zip(heads, titles, strict=True):
        title += " " * (width - cells(title))
        print(f"{head.session}  {age(head.updated):>7}  {head.status:<11}  {title}  {clean(near(head.cwd))}")
    if not heads:
        print("There is no session yet.")
    return 0


def rename(session: Session, title: Annotated[str, Argument("The new title.")], store: Store = None) -> int:
    """Give a session another title."""
    if not title.strip():
        raise UsageError("A title is not empty.")
    with opened(store) as found:
        id = found.find(session)
        patiently(lambda: sessions.rename(found, id, title.strip()))
    return 0


def fork(session: Session, store: Store = None) -> int:
    """Begin a new session with everything this one holds; prints its id."""
    with opened(store) as found:
        print(sessions.fork(found, found.find(session)))
    return 0


def export(
    session: Session,
    format: Annotated[
        str, Option("--format", "markdown or json.", check=one_of("markdown", "json"), metavar="FORMAT")
    ] = "markdown",
    to: Annotated[str | None, Option("--to", "A file to write.", metavar="FILE")] = None,
    store: Store = None,
) -> int:
    """A session as Markdown or JSON, with secrets masked."""
    with opened(store) as found:
        id = found.find(session)
        records = found.read(id)
        head = sessions.head_of(found, id)
    if format == "json":
        text = json.dumps(sessions.as_object(head, records), ensure_ascii=False, indent=2)
    else:
        text = sessions.as_markdown(head, records)
    if to is None:
        print(text)
        return 0
    try:
        with os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except FileExistsError:
        raise UsageError(f"{to} exists.\n  Name another file, or remove that one.") from None
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}.") from None
    return 0


def delete(
    which: Annotated[list[str], Argument("Sessions to delete.")],
    store: Store = None,
) -> int:
    """Delete sessions and everything in them, waiting questions too."""
    with opened(store) as found:
        for id in dict.fromkeys(found.find(session) for session in which):
            patiently(partial(found.delete, id))
            shutil.rmtree(locate().outputs / id, ignore_errors=True)
            print(f"deleted {id}")
    return 0


def row(head: Head) -> dict[str, Any]:
    return {
        "session": head.session,
        "title": head.title,
        "cwd": head.cwd,
        "status": head.status,
        "updated": stamp(head.updated),
        "turns": head.turns,
        "pending": len(head.pending),
    }
