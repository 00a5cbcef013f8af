"""The question where to save a log on the machine of the dashboard."""

from pathlib import Path

from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.outside import new_file
from d0ctl_tui.read.logs import Log
from d0ctl_tui.screens.dialogs.search_box import QuestionBox


def ask(dashboard: AppInterface, log: Log, stream: str) -> None:
    """Ask for a new file, and write a stream of a log to it."""
    name = f"{log.path.replace('/', '-')}.{log.number}.{stream}"

    def go(written: str | None) -> None:
        if written:
            dashboard.save_log(log.again(), stream, new_file(written))

    box = QuestionBox(dashboard, "save this log to", str(Path.cwd() / name), new_file)
    dashboard.app.push_screen(box, go)
