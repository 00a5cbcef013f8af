"""What catches the attention of people who only watch, as part of the app."""

import os
import sys
from typing import cast

from msgspec.structs import replace
from textual.app import App
from textual.timer import Timer

from d0ctl.show.drawing.signs import Glyphs, short
from d0ctl.store.history import notable
from d0ctl.store.history.notable import JobState
from d0ctl.store.views import activity
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.read.snapshot import Snapshot
from d0ctl_tui.read.tree_source import Source
from d0ctl_tui.screens.main_screen import MainScreen
from d0ctl_tui.terminal import Terminal
from d0ctl_tui.watch import terminal_notices
from d0ctl_tui.watch.wall_screen import WallScreen

AGAIN_S = 1.0
"""How long the title and the followed jobs may be behind."""


class Attention:
    """Changes that matter, notices about followed jobs, and the title of the window."""

    terminal: Terminal
    snapshot: Snapshot
    source: Source
    glyphs: Glyphs
    main: MainScreen
    shows_all = False
    """Whether the list of changes has all of them, and not only what matters."""
    _title = ""
    _attending: Timer | None = None

    def show(self) -> None:
        """Update the screen in front, and the one under a box in front."""
        raise NotImplementedError

    def show_notice(self, message: str, role: str = "warn", *, stays: bool = False) -> None:
        """Show a notice in the last line, for a while; if it does not stay, until the next key."""
        raise NotImplementedError

    @property
    def _is_heard(self) -> bool:
        """Whether the terminal of the user gets notices and a title."""
        assert isinstance(self, App)
        is_terminal = sys.__stdout__ is not None and sys.__stdout__.isatty()
        return is_terminal and not (self.terminal.quiet or self.is_headless or self.is_web)

    def attend_soon(self) -> None:
        """Look soon whether something that was read needs attention."""
        assert isinstance(self, App)
        if self._attending is None:
            self._attending = self.set_timer(AGAIN_S, self._attend)

    def on_unmount(self) -> None:
        """Give the window its title back."""
        if self._title:
            self._send(terminal_notices.OLD_TITLE)

    def action_all_changes(self) -> None:
        """List all changes, or only what matters."""
        self.shows_all = not self.shows_all
        self.show()

    def action_follow(self) -> None:
        """Give notice when the selected job first fails or ends, or no more."""
        job = self.main.tree_view.chosen_job
        if job is None:
            self.show_notice("choose a job")
        elif self.source.followed.pop(job.id, None) is not None:
            self.show_notice(f"no notices about {job.name} any more", "plain")
        elif job.ended is not None:
            self.show_notice(f"{job.name} has ended")
        else:
            last = self.source.ask(activity.last_event, 0)
            self.source.followed |= {state.id: state for state in self._states({job.id: last})}
            off = "; the bell is off" if self.terminal.quiet else ""
            self.show_notice(f"notice when {job.name} first fails or ends{off}", "good")

    def action_wall(self) -> None:
        """Show a tile for each job."""
        assert isinstance(self, App)
        self.push_screen(WallScreen(cast(AppInterface, self)))

    def _states(self, jobs: dict[int, int]) -> list[JobState]:
        return self.source.ask(lambda store: notable.states(store, jobs), [])

    def _attend(self) -> None:
        self._attending = None
        if self.source.at is not None:
            return
        known = self.source.followed
        last = self.source.ask(activity.last_event, 0) if known else 0  # a restore may go back
        events = {job: min(last, state.last_event) for job, state in known.items()}
        for state in self._states(events) if known else ():
            before = known[state.id]
            message = terminal_notices.about(before, state)
            is_reported = before.is_reported or bool(state.new_failure)
            known[state.id] = replace(state, is_reported=is_reported)
            if state.ended is not None:
                del known[state.id]
            if message:
                self._give_notice(message, is_bad=bool(state.failed))
        if self._is_heard:
            title = _title(self.snapshot, self.glyphs)
            if title != self._title:
                saved = "" if self._title else terminal_notices.SAVE_TITLE
                self._title = title
                self._send(saved + terminal_notices.title(title))

    def _give_notice(self, message: str, *, is_bad: bool) -> None:
        self.show_notice(message, "bad" if is_bad else "good", stays=True)
        if self._is_heard:
            self._send(terminal_notices.notice(message, in_tmux=bool(os.environ.get("TMUX"))))

    def _send(self, sequences: str) -> None:
        assert isinstance(self, App)
        if self._driver is not None:
            self._driver.write(sequences)


def _title(snapshot: Snapshot, glyphs: Glyphs) -> str:
    """Return how many packages failed and how many run, as the title of the window."""
    parts = []
    if failed := snapshot.needing_a_person("failed"):
        parts.append(f"{glyphs.states['failed']} {short(failed)}")
    if snapshot.running:
        parts.append(f"{glyphs.states['running']} {short(snapshot.running)}")
    return " ".join([*parts, "d0ctl"])
