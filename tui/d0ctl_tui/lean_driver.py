"""A driver of the terminal that sends as little as possible."""

import select
import sys
from contextlib import suppress
from threading import Thread
from typing import TypeVar

from textual.driver import Driver
from textual.messages import ExitApp

from d0ctl_tui.draw.lean_output import lean

DriverType = TypeVar("DriverType", bound=Driver)


def lean_driver(driver: type[DriverType]) -> type[DriverType]:
    """Return a driver that sends the same in fewer bytes."""

    class LeanDriver(driver):  # type: ignore[valid-type, misc]
        def write(self, data: str) -> None:
            super().write(lean(data))

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
