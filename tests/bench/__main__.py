"""`python -m tests.bench [--json] [NAME…]`: measure how fast the program is, and how much memory it takes.

Not part of the tests: a busy machine would fail them. Names are the modules beside this one; all of them without a name.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.figures import Figure, as_object, table

NAMES = ("start", "prompt", "turn", "judging", "store", "screen", "memory")


def machine() -> str:
    """The kind of machine, never its name."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure speed and memory.")
    options.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    options.add_argument("--json", action="store_true", help="JSON instead of a table")
    given = options.parse_args()
    unknown = set(given.names) - set(NAMES)
    if unknown:
        options.error(f"no measure {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    found: dict[str, list[Figure]] = {}
    for name in given.names or NAMES:
        print(f"measuring {name} …", file=sys.stderr)
        found[name] = list(importlib.import_module(f"tests.bench.{name}").figures())
    load = os.getloadavg()
    at = datetime.now(UTC).date().isoformat()
    if given.json:
        groups = {name: [as_object(f) for f in figures] for name, figures in found.items()}
        print(json.dumps({"machine": machine(), "date": at, "load": load, "figures": groups}, indent=2))
    else:
        print(f"{machine()}, {at}, load {load[0]:.1f} {load[1]:.1f} {load[2]:.1f}")
        print(table(f for figures in found.values() for f in figures))
    return 0 if all(f.met for figures in found.values() for f in figures) else 1


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[2])
    sys.exit(main())
