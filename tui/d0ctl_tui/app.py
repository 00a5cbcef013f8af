"""The dashboard as a whole: it reads after each change, and passes on what it has read."""

import gc
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from textual.app import ScreenStackError
from textual.css.query import NoMatches
from textual.driver import Driver
from textual.screen import Screen
from textual.timer import Timer

from d0ctl.config import Home
from d0ctl.show.drawing.signs import ASCII, UNICODE, Glyphs
from d0ctl.show.drawing.spans import Line, foreign, width
from d0ctl.store.connection import Store
from d0ctl.store.nodes.leases import living_leases
from d0ctl.store.views import activity
from d0ctl_tui import crash, signals, themes
from d0ctl_tui.app_events import Changed, PathClicked, ReadFailed, ThreadResult
from d0ctl_tui.draw import strips
from d0ctl_tui.draw.rates import KEPT, STRETCH_S, Rates
from d0ctl_tui.lean_driver import lean_driver
from d0ctl_tui.outside import Outside
from d0ctl_tui.past import Past
from d0ctl_tui.poller import Poller
from d0ctl_tui.read import snapshot
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.read.places import Places
from d0ctl_tui.read.snapshot import Snapshot
from d0ctl_tui.read.tree_source import Source
from d0ctl_tui.run_action import PlannedAction
from d0ctl_tui.screens.card import CardScreen
from d0ctl_tui.screens.dialogs import ask_action
from d0ctl_tui.screens.dialogs.key_line import KeyLine
from d0ctl_tui.screens.dialogs.plan import PlanDialog
from d0ctl_tui.screens.log import LogScreen
from d0ctl_tui.screens.main_screen import MainScreen
from d0ctl_tui.screens.nodes import NodesScreen
from d0ctl_tui.terminal import Terminal
from d0ctl_tui.watch.attention import Attention
from d0ctl_tui.widgets.key_order import KeyOrder

SHORTEST_S = 0.08
"""The shortest time between two reads of the database."""

SHARE = 6
"""Reads may take this fraction of the time, also on a slow disk."""


def recent_ends(store: Store) -> list[tuple[float, int]]:
    """Read how many packages ended before it was opened, in all of the time that may be shown."""
    since = time.time() - KEPT * STRETCH_S
    return activity.recent_ends(store, since=since, period_s=STRETCH_S)


class Dashboard(KeyLine, Past, Outside, Attention, KeyOrder):
    """Everything of one home in a terminal."""

    CSS_PATH = Path(__file__).with_name("dashboard.tcss")
    TITLE = "d0ctl"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"), (100, "-normal"), (170, "-wide"), (250, "-vast"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-low"), (30, "-high"), (50, "-tall"), (80, "-huge"),
    ]  # fmt: skip

    def __init__(
        self, home: Home, terminal: Terminal, actor: str, start: str | None = None
    ) -> None:
        super().__init__(ansi_color=True if terminal.plain else None)
        self.home = home
        self.terminal = terminal
        self.set_keymap(dict(terminal.keys))
        self.actor = actor
        self.glyphs: Glyphs = ASCII if terminal.ascii else UNICODE
        self.source = Source(home)
        self.places = Places(self.source)
        self.snapshot = Snapshot()
        self.rates = Rates()
        self.orders: dict[str, tuple[str, bool]] = {}
        self.undo_of_box: Sequence[str] = ()
        self.drivers: tuple[str, ...] | None = None
        self.stale, self.changed = "", 0.0
        self._poller = Poller(home, self.post_message)
        self._due: Timer | None = None
        self._watching = False
        self._looked_at = 0.0
        self.interval, self.read_only = terminal.interval, terminal.read_only
        self._pause = max(SHORTEST_S, self.interval)
        for theme in themes.COARSE if terminal.coarse else themes.THEMES:
            self.register_theme(theme)
        is_fine = not terminal.plain or terminal.theme in themes.ANSI
        self.theme = terminal.theme if is_fine else "terminal"

        self.set_class(terminal.ascii, "-ascii")
        self.set_class(terminal.plain, "-ansi")
        self.set_class(terminal.slow, "-slow")
        self.main = MainScreen(self, start)

    def get_driver_class(self) -> type[Driver]:
        """Return the driver of this platform that sends as little as possible."""
        return lean_driver(super().get_driver_class())

    def get_default_screen(self) -> Screen[None]:
        """Start with the main screen."""
        return self.main

    def on_mount(self) -> None:
        """Read everything once, then watch."""
        self.read_again()
        moments = [event.at for event in self.snapshot.events[:1]]
        moments += [notable.at for notable in self.snapshot.notable[:1]]
        self.changed = max(moments, default=0.0)
        self.drivers = self.source.ask(living_leases, None)
        self.rates.recall(self.source.ask(recent_ends, []))
        self._poller.start()
        signals.end_by(self)
        self.app_resume_signal.subscribe(self, lambda _: self.call_later(self.action_repaint))
        if not self.is_headless:
            # Else each search for cycles in everything that was imported delays a key by 0.07 s.
            self.call_after_refresh(gc.freeze)

    def _handle_exception(self, error: Exception) -> None:
        """Crash, unless a screen or widget is missing because the dashboard is ending."""
        # Textual takes them away one by one, while others still handle keys and results of threads.
        if self.is_running or not isinstance(error, NoMatches | ScreenStackError):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Restore the terminal, keep the traceback of the exception that is handled, say where."""
        trace = traceback.format_exc()
        try:
            path = crash.keep(self.home, trace)
        except OSError as error:
            self.panic(
                f"d0ctl: the dashboard crashed, and the traceback can't be saved: {error}\n{trace}"
            )
        else:
            self.panic(f"d0ctl: the dashboard crashed; the traceback is in {path}")

    def on_unmount(self) -> None:
        """Close everything."""
        signals.leave()
        self._poller.stop()
        self.source.close()

    def on_changed(self, news: Changed) -> None:
        """Read the database, but not too often."""
        if self._watching:
            self.changed = time.time()
        self.drivers, self._watching = news.drivers, True
        if self._due is not None or self.source.at is not None:
            return
        wait = self._looked_at + self._pause - time.monotonic()
        if wait <= 0:
            self._look_and_show()
        else:
            self._due = self.set_timer(wait, self._look_and_show)

    def on_thread_result(self, news: ThreadResult) -> None:
        """Show the result of a thread."""
        news.show()

    def on_read_failed(self, news: ReadFailed) -> None:
        """Show the known data as stale."""
        self.stale = news.error
        self.show()

    def read_again(self) -> None:
        """Read again what is shown."""
        self.source.forget()
        before, now, at = self.snapshot, time.time(), self.source.at
        self.snapshot = self.source.ask(lambda store: snapshot.read(store, before, now, at), before)
        self.source.stopped = self.snapshot.stopped
        self.source.causes = self.snapshot.stopped_jobs.causes
        self.source.stragglers = self.snapshot.stragglers
        if at is None:
            self.rates.note(now, self.snapshot.done + self.snapshot.failed)
        self.stale = self.source.error or ""

    def on_path_clicked(self, message: PathClicked) -> None:
        """Go to the path on the main screen."""
        while self.screen is not self.main:
            self.pop_screen()
        self.go_to(message.path)

    def show(self) -> None:
        """Update the screen in front, and the one under a box in front."""
        with suppress(ScreenStackError):  # the dashboard is ending
            for screen in reversed(self.screen_stack):
                update: Callable[[], None] | None = getattr(screen, "update", None)
                if update is not None:
                    update()
                if not screen.is_modal:
                    return

    def reload(self) -> None:
        """Read again what is shown, and show it."""
        self.read_again()
        self.show()
        self.attend_soon()

    def _look_and_show(self) -> None:
        self._due = None
        began = time.monotonic()
        self.reload()
        self._looked_at = time.monotonic()
        self._pause = max(SHORTEST_S, self.interval, SHARE * (self._looked_at - began))
        if self.rates.minutes(1, time.time())[-1]:  # the rate falls without any change
            self.set_timer(STRETCH_S, self._look_again)

    def _look_again(self) -> None:
        if time.monotonic() - self._looked_at >= STRETCH_S - 1:
            self._look_and_show()

    def header(self, columns: int) -> Line:
        """Return the first line of every screen."""
        front: Line = ((" read-only ", "mark"),) if self.read_only else ()
        archive = self.home.archive
        front += ((f" archive {foreign(archive)} ", "stale"),) if archive else ()
        columns -= width(front)
        shown = self.snapshot.of_jobs(self.source.listed)
        if self.source.at is not None:
            keys = self.past_keys() if self.screen is self.main else ""
            line = strips.past_header(shown, self.source.at, self.removed, keys, columns,
                                      self.glyphs)  # fmt: skip
        else:
            line = strips.header(
                shown, None if archive else self.drivers, str(self.home.root), self.stale,
                self.source.hidden, self.changed, columns, self.glyphs,
            )  # fmt: skip
        return (*front, *line)

    def go_to(self, selector: str) -> None:
        """Go to a path on the main screen."""
        self.main.go_to(selector)

    def show_problem(self, by: int) -> None:
        """Go to the next problem on the main screen, or to the one before."""
        self.main.action_problem(by)

    def show_nodes(self, name: str | None = None) -> None:
        """Show the nodes, beginning at one."""
        self.push_screen(NodesScreen(self, self.main, name))

    def show_card(self, subject: str) -> None:
        """Show the card of `JOB:FILE`, or of a binary by its path."""
        self.push_screen(CardScreen(self, subject))

    def show_log(self, package: str) -> None:
        """Show the log of a package, or why there is none."""
        if (log := self.log_of(package)) is not None:
            self.push_screen(LogScreen(self, log))

    def choose_action(self, marks: Marks) -> None:
        """Offer the actions on marked rows."""
        if self.is_past():
            return
        ask_action.choose(self, self.main, marks)

    def plan_verb(self, verb: str, marks: Marks) -> None:
        """Show what an action would do to marked rows."""
        if self.is_past():
            return
        ask_action.on_rows(self, verb, marks)

    def plan_other(self, verb: str, node: str | None = None) -> None:
        """Show what an action on something other than rows would do; ask for its target."""
        if self.is_past():
            return
        ask_action.on_other(self, verb, node)

    def plan(self, action: PlannedAction, marks: Marks | None = None) -> None:
        """Show what an action would do, do it on request, and then remove its marks."""

        def end(done: bool | None) -> None:
            if done and marks is not None:
                marks.clear()
                self.main.update()

        self.push_screen(PlanDialog(self, action), end)

    def action_next_theme(self) -> None:
        """Go to the next theme."""
        names = [name for name in themes.NAMES if (name in themes.ANSI) == self.terminal.plain]
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

    def action_repaint(self) -> None:
        """Draw everything again, over the output of another program."""
        self.screen.refresh(layout=True)

    def action_help_quit(self) -> None:
        """Say how to leave: people press ctrl+c for that."""
        self.show_notice(f"ctrl+c does nothing here: `{self.key_of('quit')}` leaves")
