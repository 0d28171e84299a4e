"""The input line: several lines when wanted, long pastes folded, `@` files and slash commands completed.

A long paste stands in the text as a placeholder such as `[pasted 120 lines]` and is put back when the text is sent or
opened in an editor. What is typed here is a draft until Enter; nothing else ever empties it.
"""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, ThreadedCompleter
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from hitl_cli.records import Struct
from hitl_cli.regex import later

FOLD_LINES = 15
FOLD_CHARACTERS = 1000
_PLACEHOLDER = later(r"\[pasted \d+ (?:lines|characters)(?: #\d+)?\]")


class Typed(Struct, frozen=True):
    """A message as it was typed: `shown` with placeholders, `text` with what they stand for."""

    shown: str
    text: str


class Composer:
    """`send` is called with each non-empty text that Enter finishes."""

    def __init__(self, history: History, completer: Completer, send: Callable[[Typed], None]) -> None:
        self._pastes: dict[str, str] = {}
        self._send = send
        self.buffer = Buffer(
            name="composer",
            multiline=True,
            history=history,
            completer=ThreadedCompleter(completer),
            complete_while_typing=Condition(self._wants_completion),
        )

    def _wants_completion(self) -> bool:
        before = self.buffer.document.text_before_cursor
        word = before.rsplit(None, 1)[-1] if before.strip() and not before[-1].isspace() else ""
        return word.startswith("@") or (before.startswith("/") and "\n" not in before)

    def expanded(self, text: str) -> str:
        return _PLACEHOLDER.sub(lambda m: self._pastes.get(m[0], m[0]), text)

    def fold(self, text: str) -> str:
        """`text` itself when it is short, else a placeholder that stands for it."""
        lines = text.count("\n") + 1
        if lines <= FOLD_LINES and len(text) <= FOLD_CHARACTERS:
            return text
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        name, number = f"[pasted {size}]", 2
        while self._pastes.get(name, text) != text:
            name, number = f"[pasted {size} #{number}]", number + 1
        self._pastes[name] = text
        return name

    def put(self, text: str) -> None:
        """Replace the draft."""
        self.buffer.text = text
        self.buffer.cursor_position = len(text)

    def enter(self) -> None:
        text = self.buffer.text
        if text.endswith("\\") and self.buffer.document.is_cursor_at_the_end:
            self.buffer.delete_before_cursor()
            self.buffer.insert_text("\n")
            return
        if not text.strip():
            return
        typed = Typed(text.strip(), self.expanded(text).strip())
        self.buffer.history.append_string(typed.text)
        self.buffer.reset()
        self._send(typed)

    def bindings(self) -> KeyBindings:
        keys = KeyBindings()
        buffer = self.buffer

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            state = buffer.complete_state
            if state and state.current_completion:
                buffer.apply_completion(state.current_completion)
            else:
                self.enter()

        @keys.add("c-j")
        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            buffer.insert_text("\n")

        @keys.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            buffer.insert_text(self.fold(event.data.replace("\r\n", "\n").replace("\r", "\n")))

        @keys.add("tab")
        def _(event: KeyPressEvent) -> None:
            state = buffer.complete_state
            if state and len(state.completions) == 1:  # nothing to choose from: the next Enter sends
                buffer.apply_completion(state.completions[0])
            elif state:
                buffer.complete_next()
            else:
                buffer.start_completion(insert_common_part=True)

        @keys.add("escape", filter=has_completions, eager=True)
        def _(event: KeyPressEvent) -> None:
            buffer.cancel_completion()

        return keys
