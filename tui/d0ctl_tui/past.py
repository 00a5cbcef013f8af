"""The way back through the history: the dashboard as it was at an earlier moment."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from textual.app import App

from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.store.connection import Store
from d0ctl.store.history import past_state
from d0ctl.store.jobs import audit
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.units import parse_time
from d0ctl_tui.app_events import ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.read.snapshot import Snapshot
from d0ctl_tui.read.tree_source import Source
from d0ctl_tui.screens.dialogs.search_box import QuestionBox

FIRST_STEP_S, LONGEST_STEP_S = 60.0, 14_400.0
"""The first step back, and the longest: each in the same direction goes twice as far."""

CLOCKS = ("%H:%M", "%H:%M:%S")
DATES = ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d")


class Past:
    """The moments that the dashboard shows, as part of the app."""

    home: Home
    source: Source
    snapshot: Snapshot
    removed: Sequence[str] = ()
    """The jobs that are missing at the moment that is shown, as they were removed later."""
    _step = FIRST_STEP_S / 2
    _direction = 0
    _wanted: float | None = None
    """The moment that was last asked for, which a thread may still be reading."""

    def show_notice(self, message: str, role: str = "warn") -> None:
        """Show a notice in the last line, until the next key."""
        raise NotImplementedError

    def key_of(self, name: str) -> str:
        """Return the first key of a command of this name, as the user has set it."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read again what is shown, and show it."""
        raise NotImplementedError

    def step(self, direction: int) -> None:
        """Go back or forward: twice as far as before, or half as far if the direction changes."""
        is_same = self._direction in (0, direction)
        self._step = min(LONGEST_STEP_S, max(1.0, self._step * (2 if is_same else 0.5)))
        self._direction = direction
        at = (self._wanted or time.time()) + direction * self._step
        self.show_as_of(at)

    def show_as_of(self, at: float) -> None:
        """Show everything as it was at a moment; the present if that is not over."""
        if at >= time.time():
            self.show_present()
            return
        self._wanted = at
        assert isinstance(self, App)
        self.run_worker(partial(self._read_past, at), thread=True, exclusive=True, group="past")

    def show_present(self) -> None:
        """Show the present again."""
        self._wanted, self._direction, self._step = None, 0, FIRST_STEP_S / 2
        if self.source.at is not None:
            self.source.show(None, None)
            self._show_other_moment()

    def is_past(self) -> bool:
        """Return whether the past is shown, and say that nothing can be done there."""
        if self.source.at is not None:
            self.show_notice(f"this is the past: {self.key_of('clear')} goes to the present")
        return self.source.at is not None

    def past_keys(self) -> str:
        """Name the keys that lead to other moments."""
        labels = {"earlier": "earlier", "later": "later", "moment": "time", "clear": "now"}
        return "  ".join(f"{self.key_of(name)} {word}" for name, word in labels.items()) + " "

    def action_step(self, direction: int) -> None:
        """Go back or forward in time."""
        self.step(direction)

    def action_ask_moment(self) -> None:
        """Ask which moment to show."""

        def check(typed: str) -> None:
            if typed.strip():
                read_moment(typed.strip(), time.time())

        def go(typed: str | None) -> None:
            if typed and typed.strip():
                self.show_as_of(read_moment(typed.strip(), time.time()))

        assert isinstance(self, App)
        title = "show everything as it was at: 03:00, 2h ..."
        self.push_screen(QuestionBox(cast(AppInterface, self), title, check=check), go)

    def _read_past(self, at: float) -> None:
        """In a thread: make a connection that reads the past."""
        try:
            store = open_store(self.home, read_only=True)
            with database_errors(self.home):
                removed = audit.removed_since(store, at)
                store.make_temporary_tables()
                past_state.enter(store, at)
        except D0Error as error:
            self._post(partial(self.show_notice, str(error)))
        else:
            self._post(partial(self._show_past, store, at, removed))

    def _post(self, show: Any) -> None:
        assert isinstance(self, App)
        self.post_message(ThreadResult(show))

    def _show_past(self, store: Store, at: float, removed: Sequence[str]) -> None:
        if at != self._wanted:
            store.close()
            return
        self.removed = removed
        self.source.show(store, at)
        self._show_other_moment()

    def _show_other_moment(self) -> None:
        self.snapshot = Snapshot()
        self.reload()


def read_moment(text: str, now: float) -> float:
    """Return the moment that a person means: a time of day, a date, or a time ago such as 2h.

    A time of day is the last one. Raises ValueError.
    """
    today = datetime.fromtimestamp(now)
    for form in CLOCKS:
        try:
            clock = datetime.strptime(text, form)
        except ValueError:
            continue
        at = datetime.combine(today, clock.time())
        return (at if at <= today else at - timedelta(days=1)).timestamp()
    for form in DATES:
        try:
            return datetime.strptime(text, form).timestamp()
        except ValueError:
            continue
    try:
        return now - parse_time(text)
    except ValueError:
        raise ValueError(
            f"`{text}` is not a time: write 03:00, 2026-11-22 03:00, or 2h ago as 2h"
        ) from None
