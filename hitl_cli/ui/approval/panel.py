"""The panel: keys and their times in, lines and at last an outcome out. It reads no clock, no file and no terminal.

No accident answers. The panel is deaf until it was drawn and then no key has come for half a second; each ignored key
starts the wait again, and so does a key that means nothing, because whoever types it may not be looking. Pasted text
never answers. Yes waits until the end of the content was shown. After an edit all of that holds anew.

`now` is in seconds since the epoch throughout. Keys are named as prompt_toolkit names them.
"""

from __future__ import annotations

from collections.abc import Sequence

from hitl_cli.answers import takes_of
from hitl_cli.interrupts import (
    Approval,
    Approve,
    Breakpoint,
    Edit,
    External,
    Interrupt,
    Proceed,
    Question,
    Reject,
    Review,
)
from hitl_cli.journal import Grant
from hitl_cli.records import replace
from hitl_cli.ui.approval.body import Sheet, of_call, sheet
from hitl_cli.ui.approval.field import PASTE, named
from hitl_cli.ui.approval.forms import EditForm, Form, ReasonForm, ResultForm, Revised, Sign, Step, note
from hitl_cli.ui.approval.ladder import RuleForm, denials
from hitl_cli.ui.approval.pages import Pages
from hitl_cli.ui.approval.questions import form as question_form
from hitl_cli.ui.approval.terms import Answered, AnsweredRest, Editor, Input, Judge, Outcome, Parked, Stopped
from hitl_cli.ui.lines import keys
from hitl_cli.ui.theme import Line

WAIT = 0.5  # seconds without a key before a key counts


class Panel:
    def __init__(
        self,
        interrupt: Interrupt,
        *,
        number: int,
        total: int,
        judge: Judge,
        now: float,
        height: int = 24,
        alerts: Sequence[str] = (),
    ) -> None:
        self.interrupt, self.number, self.total, self.judge = interrupt, number, total, judge
        self._height = height
        self._deaf_until = now + WAIT
        self._now = now
        self._drawn = False
        self.outcome: Outcome | None = None
        self._note = ""
        self._revised: Revised | None = None
        self._rules = interrupt.suggested if isinstance(interrupt, Approval) else ()
        self._pages = Pages(self._queued(sheet(interrupt, now)), alerts, height)
        self._form: Form | None = self._answer_form() if isinstance(interrupt, Question | Review) else None

    # -- what is seen

    def body(self, width: int) -> list[Line]:
        """The first page, to be printed once above the live part."""
        return self._pages.take(width)

    def more(self, width: int) -> list[Line]:
        """What the last keys added, to be printed above the live part; [] when nothing."""
        return self._pages.take(width)

    def bottom(self, width: int, now: float) -> list[Line]:
        """The live part: the key line, or the open form."""
        self._now = max(now, self._now)
        if not self._drawn:
            self._drawn = True
            self._deaf_until = now + WAIT
        lines = self._form.lines(width, self._height) if self._form else note(self._note, width)
        known = keys(self._form.keys() if self._form else self._keys(), width)
        lines = lines[-max(1, self._height - 1 - len(known)) :]
        if now < self._deaf_until:
            wait: list[Line] = [[("dim", "  wait …")], *([] for _ in known[1:])]  # as high as the keys: nothing moves
            return [*([("dim", text) for _, text in line] for line in lines), *wait]
        return lines + known

    def wake(self) -> float | None:
        """When `bottom` changes by itself."""
        return self._deaf_until if self._now < self._deaf_until else None

    def resize(self, width: int, height: int, now: float) -> None:
        self._height = height
        self._pages.height = height

    @property
    def typing(self) -> bool:
        """A form is open: keys are text or choices there."""
        return self._form is not None

    # -- what is done

    def press(self, key: str, now: float, data: str = "") -> None:
        key = named(key, data)
        self._now = max(now, self._now)
        if self.outcome or (key.startswith("<") and key not in (PASTE, "<any>")):
            return  # focus, mouse and terminal reports are no keys
        if now < self._deaf_until or not self._drawn:
            self._deaf_until = now + WAIT
        elif key == "c-c":
            self.outcome = Stopped()
        elif self._form:
            self._step(self._form.press(key, now, data), now)
        elif self._note and key == "escape":
            self._note = ""
        else:
            self._note = ""
            self._step(Sign.STRAY if key == PASTE else self._first(key), now)

    def edited(self, text: str | None, now: float) -> None:
        """`$EDITOR` is closed; None when the person gave up. Keys that were meant for it are not meant for the panel."""
        if not isinstance(self.outcome, Editor):
            return
        self.outcome = None
        self._deaf_until = now + WAIT
        if text is not None and isinstance(self._form, EditForm | ResultForm):
            self._step(self._form.take(text), now)

    def renew(self, interrupt: Interrupt, now: float, alert: str) -> None:
        """The question changed while it was open (a file under a diff): show it again, and wait again."""
        self.interrupt, self._revised = interrupt, None
        self._rules = interrupt.suggested if isinstance(interrupt, Approval) else ()
        self._form = self._answer_form() if isinstance(interrupt, Question | Review) else None
        self._pages.turn_to(self._queued(sheet(interrupt, now)), [alert])
        self._deaf_until = now + WAIT

    def _step(self, step: Step, now: float) -> None:
        if step is Sign.STRAY:
            self._deaf_until = now + WAIT
        elif step is Sign.CLOSE:
            self._form = None
        elif isinstance(step, Revised):
            self._show_revised(step, now)
        elif not isinstance(step, Sign):
            self.outcome = step

    def _show_revised(self, revised: Revised, now: float) -> None:
        self._form, self._revised = None, revised
        allowed = revised.verdict.startswith("allow")  # then it needs no rule
        self._rules = tuple(
            s for s in self._rules if not allowed and not self.judge.problem("allow", s.text, revised.input)
        )
        call = self.interrupt.call
        assert call
        facts = (("why", f"you edited it; {revised.verdict.removeprefix('ask: ')}"),)
        fresh = of_call(call, revised.preview, facts, (("warn", "edited"),), revised.input)
        self._pages.turn_to(self._queued(fresh), [])
        self._deaf_until = now + WAIT

    def _queued(self, shown: Sheet) -> Sheet:
        queue = (("dim", f"{self.number} of {self.total}"),) if self.total > 1 else ()
        return replace(shown, badges=(*queue, *shown.badges))

    # -- the keys of the first page

    def _first(self, key: str) -> Step:
        if key in (" ", "pagedown"):
            if not self._pages.ended:
                self._pages.turn()
            return Sign.STAY
        match key:
            case "escape":
                return Stopped()
            case "p":
                return Parked()
            case "v":
                self._whole()
                return Sign.STAY
            case "enter":
                return Sign.STAY
        if isinstance(self.interrupt, Approval):
            return self._approval(self.interrupt, key)
        return self._other(key)

    def _approval(self, approval: Approval, key: str) -> Step:
        match key:
            case "y" | "a" | "r" if not self._pages.ended:
                self._note = "Read to the end first: space shows more."
            case "y":
                return self._yes(())
            case "a":
                self._open_always(approval)
            case "e" | "E" if approval.source != "uncertain":
                return self._open_edit(approval, editor=key == "E")
            case "n" | "N":
                self._open_reason(rest=key == "N" and self.number < self.total)
            case "d":
                ladder = denials(approval.call.name, approval.suggested, self._input, self.judge)
                self._form = RuleForm("deny", ladder, self._input, self.judge, lambda g: Answered(Reject("", g)))
            case "r" if approval.source == "uncertain":
                self._form = ResultForm()
            case "?":
                self._pages.explain(self.judge.explain(self._input) or list(approval.trace))
            case _:
                return Sign.STRAY
        return Sign.STAY

    def _other(self, key: str) -> Step:
        kind = self.interrupt
        if key == "y" and isinstance(kind, Breakpoint):
            return Answered(Proceed())
        if key == "r" and isinstance(kind, External):
            self._form = ResultForm()
        elif key == "r" and isinstance(kind, Question | Review):
            self._form = self._answer_form()
        elif key == "n" and Reject in takes_of(kind):
            self._open_reason(rest=False)
        else:
            return Sign.STRAY
        return Sign.STAY

    @property
    def _input(self) -> Input:
        call = self.interrupt.call
        return self._revised.input if self._revised else (call.input if call else None) or {}

    def _answer_form(self) -> Form:
        assert isinstance(self.interrupt, Question | Review)
        return question_form(self.interrupt)

    def _whole(self) -> None:
        if self._pages.several:
            self._pages.whole()
        else:
            self._note = "All of it is shown above."

    def again(self) -> None:
        """Something was printed below the content: print it once more, where it fits the screen."""
        if not self._pages.several:
            self._pages.whole()

    def _yes(self, rules: tuple[Grant, ...]) -> Outcome:
        return Answered(Edit(dict(self._revised.input), rules) if self._revised else Approve(rules))

    def _open_always(self, approval: Approval) -> None:
        if self._pages.sheet.odd:
            self._note = "No “always” for a call that holds characters like these."
        elif approval.safety:
            self._note = "Nothing can be kept: what asks outweighs every allow rule. ? shows it, y answers once."
        elif not self._rules:
            self._note = (
                "Nothing can be kept for this: a rule for it would allow more than you see here, as with shells, programs "
                "that run others, code in the command, or scratch files. y answers once."
            )
        else:
            self._form = RuleForm("allow", self._rules, self._input, self.judge, self._yes)

    def _open_edit(self, approval: Approval, *, editor: bool) -> Step:
        form = EditForm(approval.call.name, self._input, self.judge)
        self._form = form
        return form.editor if editor or not form.small else Sign.STAY

    def _open_reason(self, *, rest: bool) -> None:
        left = self.total - self.number
        title = f"no to this and the {f'{left} after it' if left > 1 else 'one after it'}" if rest else "no"
        ends = (lambda why: AnsweredRest(Reject(why))) if rest else (lambda why: Answered(Reject(why)))
        self._form = ReasonForm(f"{title}: why? (the model is told; may stay empty)", ends)

    def _keys(self) -> list[tuple[str, str]]:
        leave = [("p", "park"), ("esc", "stop")]
        view = [("v", "view whole")] if self._pages.several else []
        page = [] if self._pages.ended else [("space", f"more, {self._pages.place}")]
        match self.interrupt:
            case Approval():
                return [*page, *self._approval_keys(self.interrupt), *view, *leave]
            case Breakpoint():
                return [*page, ("y", "go on"), *view, *leave]
            case _:
                reply = "give the result" if isinstance(self.interrupt, External) else "reply"
                refuse = [("n", "no")] if Reject in takes_of(self.interrupt) else []
                return [*page, ("r", reply), *refuse, *view, *leave]

    def _approval_keys(self, approval: Approval) -> list[tuple[str, str]]:
        ended = self._pages.ended
        always = ended and self._rules and not approval.safety and not self._pages.sheet.odd
        rest = [("N", "no to all")] if self.number < self.total else []
        uncertain = approval.source == "uncertain"
        known = [("r", "give its result")] if ended and uncertain else []
        return [
            *([("y", "run it again" if uncertain else "once")] if ended else []),
            *known,
            ("n", "no"),
            *rest,
            *([("a", "always")] if always else []),
            *([] if uncertain else [("e", "edit")]),
            ("d", "never"),
            ("?", "explain"),
        ]
