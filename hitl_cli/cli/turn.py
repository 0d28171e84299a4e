"""What was typed for a turn, as a record: the options of every command that runs one.

How each is typed stands in its annotation, which `declared.Command` reads.
"""

from __future__ import annotations

from typing import Annotated

from hitl_cli.cli.declared import Option
from hitl_cli.cli.options import BREAKS, MODES, Store, one_of, positive
from hitl_cli.records import Struct, field
from hitl_cli.times import duration


class Turn(Struct, frozen=True):
    """What was typed; None or empty where nothing was."""

    model: Annotated[str | None, Option("--model", "claude-… or script:FILE.", metavar="NAME")] = None
    mode: Annotated[
        str | None,
        Option("--mode", ", ".join(MODES) + ".", check=one_of(*MODES), metavar="MODE"),
    ] = None
    allow: Annotated[list[str], Option("--allow", "Allow what the rule covers.", metavar="RULE")] = field(
        default_factory=list
    )
    ask: Annotated[list[str], Option("--ask", "Ask about what the rule covers.", metavar="RULE")] = field(
        default_factory=list
    )
    deny: Annotated[list[str], Option("--deny", "Deny what the rule covers.", metavar="RULE")] = field(
        default_factory=list
    )
    add_dir: Annotated[list[str], Option("--add-dir", "One more folder to work in.", metavar="DIR")] = field(
        default_factory=list
    )
    max_steps: Annotated[
        int | None,
        Option("--max-steps", "Requests to the model in a turn.", check=positive, metavar="N"),
    ] = None
    max_tokens: Annotated[
        int | None,
        Option("--max-tokens", "Input and output tokens of a turn.", check=positive, metavar="N"),
    ] = None
    max_cost: Annotated[float | None, Option("--max-cost", "US dollars of a turn.", check=positive, metavar="USD")] = (
        None
    )
    break_: Annotated[
        list[str],
        Option("--break", "Hold before:tool, after:model, …", check=one_of(*BREAKS), metavar="PHASE:STEP"),
    ] = field(default_factory=list)
    expires: Annotated[
        str | None,
        Option("--expires", "How long questions may wait, such as 8h.", check=duration, metavar="TIME"),
    ] = None
    store: Store = None
    plain: Annotated[bool, Option("--plain", "Numbered lines, for screen readers.")] = False
    no_color: Annotated[bool, Option("--no-color", "No colours.")] = False
    quiet: Annotated[bool, Option("--quiet", "Nothing but the answer and errors.")] = False
    verbose: Annotated[bool, Option("--verbose", "Every step on standard error.")] = False
