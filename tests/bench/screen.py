"""What streaming costs: processor time per thousand tokens of Markdown, and that it does not grow with what came before."""

from __future__ import annotations

import time
from collections.abc import Iterator

from hitl_cli.journal import Began, Call, ModelReply, Recorded, Replied, Result, Settings, Settled
from hitl_cli.models import TextDelta
from hitl_cli.ui.render import Teller
from tests.bench.figures import Figure

PIECE = 4  # characters of a token, about what English text has
THOUSAND = 1000 * PIECE
SAID = """
## What was wrong

The **parser** took `--flag` for a word, so that a list such as this one was cut short:

1. read the arguments, one after another, until a dash comes
2. take what follows for an option, *unless* two dashes came before
3. give the rest to the command, see [the manual](https://example.org/manual)

```python
def parse(arguments: list[str]) -> dict[str, str]:
    found = {}
    for argument in arguments:
        if argument.startswith("--"):
            name, _, value = argument[2:].partition("=")
            found[name] = value
    return found
```

| option | value |
| --- | --- |
| `--depth` | how far it looks, a number |
| `--quiet` | says nothing but errors |

It works now; the tests for both cases pass, and nothing else had to be changed for it.
"""


def streamed(teller: Teller, text: str) -> tuple[float, int]:
    """Processor time of a text that comes token by token, and the bytes that were printed for it."""
    began, printed = time.process_time(), 0
    for at in range(0, len(text), PIECE):
        printed += len(teller.tell(TextDelta(text[at : at + PIECE])).encode())
    return time.process_time() - began, printed


def figures() -> Iterator[Figure]:
    text = SAID * (THOUSAND // len(SAID) + 1)
    streamed(Teller(100, True), text)  # imports
    teller = Teller(100, True)
    parts = [streamed(teller, text) for _ in range(60)]
    scale = THOUSAND / len(text)
    first, last = (min(spent for spent, _ in some) * scale for some in (parts[:10], parts[-10:]))
    yield Figure(
        "streaming 1,000 tokens of Markdown", first * 1000, "ms", None, "processor time, rendered and coloured"
    )
    yield Figure("  after 60,000 tokens / at first", last / first, "times", 1.3, "the same screen, never drawn again")
    sizes = [printed for _, printed in parts]
    ratio = max(sizes) / min(sizes)
    yield Figure("  bytes printed for the last part / for the first", ratio, "times", 1.05, f"{sizes[0]:,} bytes")
    yield told()


def told() -> Figure:
    """A command's output of 10 MB as a result on the screen (the tools clip it long before: this is the worst case)."""
    output = "one line of output, as a build prints them by the thousand\n" * (10 * 2**20 // 59)
    call = Call("1.1.0", "Bash", {"command": "make"})
    block = {"type": "tool_use", "id": "a", "name": "Bash", "input": call.input}
    events = [
        Recorded(1, 0.0, Began(1, "Build it", Settings("m", "default", "/"))),
        Recorded(2, 0.0, Replied(1, 1, ModelReply((block,), "tool_use"), (call,))),
    ]
    teller = Teller(100, True)
    for event in events:
        teller.tell(event)
    began = time.process_time()
    teller.tell(Recorded(3, 1.0, Settled("1.1.0", Result(output))))
    return Figure("a result of 10 MB told on the screen", (time.process_time() - began) * 1000, "ms", 500)
