"""End the dashboard on a signal as `q` does, so that the terminal is restored."""

import asyncio
import os
import signal
import threading
from contextlib import suppress
from typing import Any

from textual.app import App

ENDING = (signal.SIGTERM, signal.SIGHUP)

PATIENCE_S = 5.0
"""How long the end may take: a terminal that is gone accepts no more output."""


def end_by(app: App[Any]) -> None:
    """Let SIGTERM and SIGHUP end the dashboard, with the exit code that a shell gives them."""
    loop = asyncio.get_running_loop()
    for number in ENDING:
        with suppress(ValueError, RuntimeError):  # not in the main thread
            loop.add_signal_handler(number, _end, app, 128 + number)


def leave() -> None:
    """Give the signals their usual effect again."""
    loop = asyncio.get_running_loop()
    for number in ENDING:
        with suppress(ValueError, RuntimeError):
            loop.remove_signal_handler(number)


def _end(app: App[Any], code: int) -> None:
    last_resort = threading.Timer(PATIENCE_S, os._exit, [code])
    last_resort.daemon = True
    last_resort.start()
    app.exit(return_code=code)
