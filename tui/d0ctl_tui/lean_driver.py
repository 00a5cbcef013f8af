"""A driver of the terminal that sends as little as possible."""

from contextlib import suppress
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
            super().run_input_thread()
            if self.is_web:  # the server for browsers is gone, or it ends anyhow
                with suppress(RuntimeError):
                    self._app.post_message(ExitApp())

    return LeanDriver
