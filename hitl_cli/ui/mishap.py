"""A mistake of the program's own: one line for the person, the traceback in a file for a report."""

from __future__ import annotations

import os
import time
import traceback
from contextlib import suppress

from hitl_cli.paths import Paths, private


def mishap(error: BaseException, paths: Paths) -> str:
    """The line; the traceback is added to `errors.log` in the state folder."""
    told = f"Something went wrong inside hitl: {type(error).__name__}: {error}."
    file = paths.state / "errors.log"
    with suppress(OSError):
        private(file.parent)
        with open(file, "a", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
            out.write(time.strftime("%Y-%m-%dT%H:%M:%S ") + "".join(traceback.format_exception(error)))
        told += f" Details: {file}"
    return told
