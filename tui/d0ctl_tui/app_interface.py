"""The methods of the dashboard that every screen may use."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from textual.app import App
from textual.message import Message

from d0ctl.config import Home
from d0ctl.model import Address
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span
from d0ctl_tui.commands import Command
from d0ctl_tui.draw.rates import Rates
from d0ctl_tui.read.logs import Log
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.read.places import Places
from d0ctl_tui.read.snapshot import Snapshot
from d0ctl_tui.read.tree_source import Source
from d0ctl_tui.run_action import PlannedAction
from d0ctl_tui.terminal import Terminal
from d0ctl_tui.widgets.key_order import Typed


class AppInterface(Protocol):
    """The dashboard, as its screens know it."""

    home: Home
    terminal: Terminal
    actor: str
    glyphs: Glyphs
    source: Source
    places: Places
    snapshot: Snapshot
    rates: Rates
    interval: float
    orders: dict[str, tuple[str, bool]]
    input_at: float
    """When the key that is handled was typed, on the monotonic clock."""
    read_only: bool
    shows_all: bool
    undo_of_box: Sequence[str]
    """The commands that `u` undoes next, from the box that it closes; else the last action."""

    @property
    def app(self) -> App[Any]:
        """The program, which has the stack of screens."""

    def header(self, columns: int) -> Line:
        """Return the first line of every screen."""

    def with_keys(self, commands: Iterable[Command]) -> tuple[Command, ...]:
        """Return commands with the keys of the user."""

    def key_of(self, name: str) -> str:
        """Return the first key of a command of this name, as the user has set it."""

    def foot(self, commands: Sequence[Command], columns: int, more: Sequence[Span] = ()) -> Line:
        """Return the last line of a screen: a notice, else the keys."""

    def press(
        self, commands: Sequence[Command], columns: int, more: Sequence[Span], column: int
    ) -> None:
        """Do what the key at a column of the last line does."""

    def show_notice(self, message: str, role: str = "warn") -> None:
        """Show a notice in the last line, until the next key."""

    def reload(self) -> None:
        """Read again what is shown, and show it."""

    def go_to(self, selector: str) -> None:
        """Go to a path on the main screen."""

    def show_problem(self, by: int) -> None:
        """Go to the next problem on the main screen, or to the one before."""

    def is_past(self) -> bool:
        """Return whether the past is shown, and say that nothing can be done there."""

    def show_as_of(self, at: float) -> None:
        """Show everything as it was at a moment; the present if that is not over."""

    def show_present(self) -> None:
        """Show the present again."""

    def show_nodes(self, name: str | None = None) -> None:
        """Show the nodes, beginning at one."""

    def show_card(self, subject: str) -> None:
        """Show the card of `JOB:FILE`, or of a binary by its path."""

    def show_log(self, package: str) -> None:
        """Show the log of a package, or why there is none."""

    def log_of(self, package: str, *, quiet: bool = False) -> Log | None:
        """Return the log of a package; None if there is none, which is said unless `quiet`."""

    def read_log(self, log: Log, stream: str | None, program: str) -> None:
        """Give a stream of a log, the latest if it is None, to the pager or the editor."""

    def save_log(self, log: Log, stream: str, path: Path) -> None:
        """Write a stream of a log to a new file on this machine."""

    def open_shell(self, address: Address, folder: str) -> None:
        """Give the terminal to a shell on a node, in a folder."""

    def copy(self, text: str) -> None:
        """Copy a text, through the terminal."""

    def choose_action(self, marks: Marks) -> None:
        """Offer the actions on marked rows."""

    def plan_verb(self, verb: str, marks: Marks) -> None:
        """Show what an action would do to marked rows."""

    def plan_other(self, verb: str, node: str | None = None) -> None:
        """Show what an action on something other than rows would do; ask for its target."""

    def plan(self, action: PlannedAction, marks: Marks | None = None) -> None:
        """Show what an action would do, do it on request, and then remove its marks."""

    def take_keys(self, *, drops_waiting: bool) -> None:
        """Handle keys from now on, also those that have waited, unless they are dropped."""

    def hand_on(self, keys: Sequence[Typed]) -> None:
        """Give keys that a box got to the screen in front, before all that wait."""

    def post_message(self, message: Message) -> bool:
        """Post a message from any thread."""
