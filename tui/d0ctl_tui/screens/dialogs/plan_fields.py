"""The fields of the dialog before an action: its values, and its reason."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Label

from d0ctl_tui.run_action import PlannedAction
from d0ctl_tui.widgets.field import Field


def fields(hint: str) -> ComposeResult:
    """Yield the field of values, if there are examples of these, and that of the reason."""
    if hint:
        with Horizontal(id="with"):
            yield Label("with", id="with-prompt")
            yield _field("values", f"such as {hint}")
    with Horizontal(id="field"):
        yield Label("reason", id="prompt")
        yield _field("typed", "recorded with your name and the time; may be empty")


def _field(name: str, placeholder: str) -> Field:
    field = Field(id=name, placeholder=placeholder)
    field.cursor_blink = False
    return field


def focus_first(dialog: Screen[bool], action: PlannedAction) -> None:
    """Let keys go to the reason, or to the values if the action needs one."""
    dialog.set_focus(dialog.query_one("#values" if action.lacks_values else "#typed", Input))


def move_values(dialog: Screen[bool]) -> None:
    """Move what is typed as the reason to the field of values."""
    values, typed = dialog.query_one("#values", Input), dialog.query_one("#typed", Input)
    values.value = f"{values.value} {typed.value.strip()}".strip()
    typed.value = ""
    dialog.set_focus(values)
