"""Which key does what outside the input line: modes, stopping, leaving, errands; and all keys of a panel.

A panel owns every key while it is open. The keys reach it by prompt_toolkit's names (`y`, `enter`, `escape b`,
`<any>` with its text, `<bracketed-paste>` with the pasted text), none of them as a command of the input line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Always, Condition, Filter, has_completions, is_searching, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

ALWAYS = Always()
NAMED = tuple(key for key in Keys if key.value.startswith(("c-", "s-", "f")) or key in (
    Keys.Up, Keys.Down, Keys.Left, Keys.Right, Keys.Home, Keys.End, Keys.Insert, Keys.Delete, Keys.PageUp, Keys.PageDown,
    Keys.Escape, Keys.BackTab,
))  # fmt: skip


def panel_keys(press: Callable[[str, str], None]) -> KeyBindings:
    """`press(name, data)` for every key; `data` is what the terminal sent."""
    keys = KeyBindings()

    def name(key: KeyPress) -> str:
        return key.key.value if isinstance(key.key, Keys) else key.key

    def pressed(event: KeyPressEvent) -> None:
        last = event.key_sequence[-1]
        press(" ".join(name(key) for key in event.key_sequence), last.data)

    for key in NAMED:
        keys.add(key)(pressed)
    keys.add(Keys.BracketedPaste)(pressed)
    keys.add(Keys.Any)(pressed)
    keys.add(Keys.Escape, Keys.Any)(pressed)
    keys.add(Keys.Escape, Keys.Backspace)(pressed)
    return keys


class Acts(Protocol):
    """What the keys do."""

    def interrupt(self) -> None: ...
    def leave(self) -> None: ...
    def stop(self) -> None: ...
    def next_mode(self) -> None: ...
    def expand(self) -> None: ...
    def take_back(self) -> None: ...
    def edit_draft(self) -> None: ...

    @property
    def draft(self) -> str: ...
    @property
    def panel_open(self) -> bool: ...
    @property
    def running(self) -> bool: ...
    @property
    def queued(self) -> bool: ...


def app_keys(acts: Acts) -> KeyBindings:
    keys = KeyBindings()
    composing = Condition(lambda: not acts.panel_open)
    empty = Condition(lambda: not acts.draft)
    running = Condition(lambda: acts.running)
    typing_vi = Condition(lambda: _app_mode() is EditingMode.VI) & vi_insert_mode & ~empty

    def bind(*key: Keys | str, filter: Filter = ALWAYS, act: Callable[[], None]) -> None:
        @keys.add(*key, filter=composing & filter)
        def _(event: KeyPressEvent) -> None:
            act()

    bind("c-c", act=acts.interrupt, filter=~is_searching)
    bind("c-d", act=acts.leave, filter=empty)
    bind("escape", act=acts.stop, filter=running & ~has_completions & ~is_searching & ~typing_vi)
    bind("s-tab", act=acts.next_mode, filter=~has_completions)
    bind("c-o", act=acts.expand)
    bind("up", act=acts.take_back, filter=empty & Condition(lambda: acts.queued))
    bind("c-g", act=acts.edit_draft, filter=~is_searching)

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    return keys


def _app_mode() -> EditingMode:
    from prompt_toolkit.application import get_app

    return get_app().editing_mode
