"""A driver of the terminal that sends as little as possible."""

import curses
import os
import select
import sys
from contextlib import suppress
from threading import Thread
from typing import TypeVar

from textual.driver import Driver
from textual.messages import ExitApp

from d0ctl_tui.draw.lean_output import lean

DriverType = TypeVar("DriverType", bound=Driver)


def erases_to_paper() -> bool:
    """Return whether the terminal, by its description, fills erased cells with the background."""
    try:
        curses.setupterm(os.environ.get("TERM", ""), sys.__stdout__.fileno())  # type: ignore[union-attr]
        return curses.tigetflag("bce") > 0
    except (curses.error, OSError, ValueError):  # no description, or no output
        return False


def lean_driver(driver: type[DriverType]) -> type[DriverType]:
    """Return a driver that sends the same in fewer bytes."""
    to_paper = erases_to_paper()

    class LeanDriver(driver):  # type: ignore[valid-type, misc]
        def write(self, data: str) -> None:
            super().write(lean(data, to_paper))

        def run_input_thread(self) -> None:
            Thread(target=self._end_with_terminal, name="hang-up", daemon=True).start()
            super().run_input_thread()

        def _end_with_terminal(self) -> None:
            """End the dashboard when its terminal, or the server for browsers, is gone.

            A SIGHUP says so, but not to a process that ignores it, or has the terminal of another:
            Textual would read the end of the input again and again.
            """
            assert sys.__stdin__ is not None
            hung_up = select.poll()
            hung_up.register(sys.__stdin__, 0)  # 0: only what cannot be left out, POLLHUP
            hung_up.poll()
            with suppress(RuntimeError):
                self._app.post_message(ExitApp())

    return LeanDriver
