"""The dialog before every action: its plan, its reason, and the command that does the same."""

import time
from functools import partial

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input

from d0ctl.actions.action import Conflict, NeedsOption, Target, Way
from d0ctl.errors import D0Error
from d0ctl.show.drawing.spans import Line
from d0ctl_tui.app_events import ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import UNDO, Command, bindings
from d0ctl_tui.run_action import Done, Lines, PlannedAction, latest
from d0ctl_tui.screens.dialogs import plan_fields, plan_text
from d0ctl_tui.screens.dialogs.dialog import Dialog
from d0ctl_tui.screens.dialogs.plan_text import Said
from d0ctl_tui.widgets.choice_lines import Choice, ChoiceLines
from d0ctl_tui.widgets.key_order import Typed
from d0ctl_tui.widgets.plan_page import PlanPage

KEYS = (
    Command("ctrl+o", "switch", "another way to do it", "act"),
    Command("pagedown", "scroll(10)", "down", "move"),
    Command("pageup", "scroll(-10)", "up", "move"),
)

GO_ON = Binding("enter", "go_on", "continue", show=False, priority=True)
"""It comes before the field of the reason, which would get the next key, too."""

PLANNED = ("planned", "empty", "refused")
"""States in which it may be planned in another way; an `empty` plan changes nothing."""


class PlanDialog(Dialog[bool]):
    """A dialog that shows the plan of an action, takes a reason, and carries it out."""

    BINDINGS = [*bindings(KEYS), GO_ON]  # noqa: RUF012

    def __init__(self, dashboard: AppInterface, action: PlannedAction) -> None:
        super().__init__(dashboard)
        self.action = action
        self.TITLE_HERE = action.title.replace("[", "\\[")
        self.lines = plan_text.PLANNING
        self.reason = ""
        self.values = ""
        self.seen: int | None = None
        self.state = "planning"
        self.result = Done(())
        self._passed_on: list[Typed] = []
        self.instead: tuple[Target, str] | None = None
        self.way = action.next_way
        self.page = PlanPage("words", self._draw, dashboard.glyphs)
        self.keys = ChoiceLines("keys", self._choices, self._carry_out, dashboard.glyphs)
        self.set_class(action.destroys, "-danger")

    def body(self) -> ComposeResult:
        """Yield the plan, the reason, the keys."""
        yield self.page
        yield from plan_fields.fields(self.action.hint)
        yield self.keys

    def on_mount(self) -> None:
        """Make the plan."""
        self.page.can_focus = False
        plan_fields.focus_first(self, self.action)
        self._plan()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show a typed reason in the command; other values need another plan, until it is done."""
        if self.state in ("acting", "done"):
            with self.prevent(Input.Changed):
                event.input.value = self.reason if event.input.id == "typed" else self.values
        else:
            self._read_fields()
        self._show()

    def _read_fields(self) -> None:
        """Take what the fields show; a plan without these values does not count any more."""
        self.reason = self.query_one("#typed", Input).value
        values = "".join(field.value for field in self.query("#values").results(Input))
        if values != self.values:
            self.values = values
            if self.state in ("planning", "wrong"):
                self.lines = plan_text.TO_PLAN
            self.state = "changed"

    def _move_values(self) -> None:
        """Take values that were typed as the reason for what they are."""
        if self.state in ("planning", "changed", "wrong", *PLANNED) and self.action.takes(
            self.reason
        ):
            plan_fields.move_values(self)
            self._read_fields()

    def action_go_on(self, *, is_seen: bool = False) -> None:
        """Plan again if values have changed, else do it; once it is done or refused, close."""
        if self.state not in ("acting", "done"):
            self._read_fields()  # the message about the last key may still be on its way
            self._move_values()
        if self.state in ("changed", "wrong"):
            self._change()
        elif self.state in PLANNED and not (is_seen or self.page.was_seen(self.dashboard.input_at)):
            return  # nobody has agreed to a plan, or read a refusal, before it was shown
        elif self.state == "planned" and not self.dashboard.read_only:
            self.state, self.lines = "acting", (("doing it ...", "faint"),)
            self.set_focus(None)
            self._show()
            self._act()
        elif self.state in ("done", *PLANNED):
            self.dismiss(self.state == "done")

    def on_key(self, event: events.Key) -> None:
        """Once the action is requested, keys that are not for the box are for the screen below.

        Keys that are typed before the result is known wait for it; after a refusal they do nothing.
        """
        own = {key for command in KEYS for key in command.keys.split(",")}
        if self.state not in ("acting", "done", "closed") or event.key in own:
            return
        if event.key not in plan_text.CLOSING:
            self._passed_on.append(event)
            self._pass_keys_on()
        elif self.state == "done" or event.key == "escape":
            self.action_close()
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Let a paste follow the keys that wait for the result."""
        if self.state == "acting" and self._passed_on:
            self._passed_on.append(event)

    def _pass_keys_on(self) -> None:
        """Close it, and let the screen below have the keys that were not for it."""
        if self.state == "done" and self._passed_on:
            if getattr(self._passed_on[0], "key", "") in self._undo.keys.split(","):
                self._name_undo()
            self.action_close()
            self.state = "closed"
            self.dashboard.hand_on(self._passed_on)

    def action_close(self) -> None:
        """Close it; an action in progress is not stopped."""
        self.dismiss(self.state == "done")

    def action_undo(self) -> None:
        """Close it, and plan what undoes the action."""
        self._name_undo()
        self.app.call_later(self.app.run_action, "undo", self.app.screen_stack[-2])
        self.action_close()

    def _name_undo(self) -> None:
        """Let the undo of the screen below undo this action, and not a later one."""
        if self._undo_key():
            self.dashboard.undo_of_box = self.result.undo

    def action_switch(self) -> None:
        """Plan it in its next way; what is refused, with what may be selected instead."""
        if self.instead is None:
            self._move_values()
        if self.state == "changed":
            self._change(in_next_way=True)
            return
        was_refused = self.state == "refused"
        if was_refused and self.instead is not None:
            self.action = self.action.aimed_at(self.instead[0])
        elif self.state in PLANNED and self.way:
            self.action = self.action.switched()
        else:
            return
        self.state, self.instead = "planning", None
        self._show()
        if was_refused:  # until now, keys went to the values
            plan_fields.focus_first(self, self.action)
        self._plan()

    def _change(self, *, in_next_way: bool = False) -> None:
        """Plan with the typed values, or say what is wrong with them."""
        try:
            changed = self.action.with_values(self.values)
        except D0Error as error:
            self.state, self.lines = "wrong", plan_text.refusal(error)
        else:
            self.action = changed.switched() if in_next_way else changed
            self.state, self.lines = "planning", plan_text.PLANNING
            self.set_focus(self.query_one("#typed", Input))
            self._plan()
        self._show()

    def action_scroll(self, by: int) -> None:
        """Scroll the plan."""
        self.page.action_cursor(by)

    @work(thread=True, exclusive=True)
    def _plan(self) -> None:
        home, action, state = self.dashboard.home, self.action, "planned"
        self.seen = latest(home)

        def preview() -> Lines:
            nonlocal state
            plan = action.preview(home)
            state = "empty" if plan.is_empty or action.lacks_values else "planned"
            return plan.lines

        self._hand_over(action, plan_text.sentences(preview), state)  # that sets the state

    @work(thread=True, exclusive=True)
    def _act(self) -> None:
        home, action, actor = self.dashboard.home, self.action, self.dashboard.actor
        reason, seen = self.reason, self.seen

        def do() -> Lines:
            self.result = action.apply(home, actor, reason, seen, time.time())
            return self.result.lines

        said = plan_text.sentences(do)
        if new := self.result.job:
            self.dashboard.post_message(ThreadResult(partial(self.dashboard.go_to, new)))
        self._hand_over(action, said, "done")

    def _hand_over(self, action: PlannedAction, said: Said, state: str) -> None:
        """In a thread: if it is refused, see whether its next way is, too; have it shown."""
        is_refused = said[1] is not None
        way = action.way_out(self.dashboard.home) if is_refused else action.next_way
        state = "refused" if is_refused else state
        self.dashboard.post_message(ThreadResult(partial(self._finish, action, said, state, way)))

    def _finish(self, action: PlannedAction, said: Said, state: str, way: Way | None) -> None:
        """Show a plan or what was done, unless its values have changed since."""
        if action is not self.action or self.state not in ("planning", "acting"):
            return
        (self.lines, error), self.state, self.way = said, state, way
        self.instead = error.instead if isinstance(error, Conflict) else None
        if not self.is_mounted:
            return
        if state != "done":
            self._passed_on.clear()
            if isinstance(error, NeedsOption) and not self.values:
                self.query_one("#values", Input).value = error.values
            self._focus_field()
        self._show()
        self.page.paint_anew()
        self._pass_keys_on()

    def _focus_field(self) -> None:
        """Let keys go to refused values, if these may help, or to the reason of a plan."""
        if self.instead is not None:
            self.set_focus(None)
            return
        fields = self.query("#values" if self.state == "refused" else "#typed").results(Input)
        if self.state == "refused" or self.focused is None:
            self.set_focus(next(fields, None))

    def _show(self) -> None:
        for field in self.query("#with, #field"):
            is_hidden = self.state == "refused" and (field.id == "field" or self.instead)
            field.display = self.state != "done" and not is_hidden
        self.page.renew()
        self.page.styles.height = min(self.page.line_count(), max(4, self.size.height - 8))
        self.keys.renew()

    def _draw(self, columns: int) -> list[Line]:
        return plan_text.draw(self.action.command(self.reason), self.lines, columns)

    def _carry_out(self, key: str) -> None:
        """Do what a key does: its words on the screen were clicked."""
        if key == "tab":
            self.query_one("#values", Input).focus()
        else:
            {"enter": lambda: self.action_go_on(is_seen=True), "esc": self.action_close,
             "^o": self.action_switch, self._undo.first_key: self.action_undo}[key]()  # fmt: skip

    def _choices(self) -> list[Choice]:
        """Return the keys that do something now."""
        takes_values = self.action.hint and self.instead is None
        values = [("tab", self._values, "plain")] if takes_values else []
        return plan_text.choices(self.state, self._undo_key(), self._other_way(), values,
                                 read_only=self.dashboard.read_only)  # fmt: skip

    def _undo_key(self) -> list[Choice]:
        """Return the key of the screen below that undoes what was done, if there is any."""
        has_key = any(hasattr(below, "action_undo") for below in self.app.screen_stack[-2:-1])
        return [(self._undo.first_key, "undo", "plain")] if self.result.undo and has_key else []

    @property
    def _undo(self) -> Command:
        return self.dashboard.with_keys([UNDO])[0]

    def _other_way(self) -> list[Choice]:
        title = self.instead[1] if self.instead is not None else self.way and self.way.title
        return [("^o", title, "plain")] if title else []

    @property
    def _values(self) -> str:
        """What the field of values changes."""
        return "change memory, time or node" if "memory=" in self.action.hint else "set options"
