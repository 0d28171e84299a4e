"""What was typed for a turn, as a record: the options of every command that runs one.

How each is typed stands in its annotation, which `options.turn_options` reads; `hitl` alone starts without that, and so
without typer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from hitl_cli.records import Struct, field

if TYPE_CHECKING:
    import typer

    from hitl_cli.cli.options import BREAKS, MODES, _length, _positive, one_of


class Turn(Struct, frozen=True):
    """What was typed; None or empty where nothing was."""

    model: Annotated[
        str | None, typer.Option("--model", help="claude-… or script:FILE.", show_default=False, metavar="NAME")
    ] = None
    mode: Annotated[
        str | None,
        typer.Option("--mode", help=", ".join(MODES) + ".", callback=one_of(*MODES), metavar="MODE"),
    ] = None
    allow: Annotated[list[str], typer.Option("--allow", help="Allow what the rule covers.", metavar="RULE")] = field(
        default_factory=list
    )
    ask: Annotated[list[str], typer.Option("--ask", help="Ask about what the rule covers.", metavar="RULE")] = field(
        default_factory=list
    )
    deny: Annotated[list[str], typer.Option("--deny", help="Deny what the rule covers.", metavar="RULE")] = field(
        default_factory=list
    )
    add_dir: Annotated[list[str], typer.Option("--add-dir", help="One more folder to work in.", metavar="DIR")] = field(
        default_factory=list
    )
    max_steps: Annotated[
        int | None,
        typer.Option("--max-steps", help="Requests to the model in a turn.", callback=_positive, metavar="N"),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", help="Input and output tokens of a turn.", callback=_positive, metavar="N"),
    ] = None
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", help="US dollars of a turn.", callback=_positive, metavar="USD")
    ] = None
    break_: Annotated[
        list[str],
        typer.Option(
            "--break", help="Hold before:tool, after:model, …", callback=one_of(*BREAKS), metavar="PHASE:STEP"
        ),
    ] = field(default_factory=list)
    expires: Annotated[
        str | None,
        typer.Option("--expires", help="How long questions may wait, such as 8h.", callback=_length, metavar="TIME"),
    ] = None
    store: Annotated[str | None, typer.Option("--store", help="Another store of sessions.", metavar="PATH")] = None
    plain: Annotated[bool, typer.Option("--plain", help="Numbered lines, for screen readers.")] = False
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Nothing but the answer and errors.")] = False
    verbose: Annotated[bool, typer.Option("--verbose", help="Every step on standard error.")] = False
