"""Keys that take the selected row out of the dashboard: copy, a shell, other programs."""

from functools import partial

from d0ctl.select import parse
from d0ctl.show.drawing import sheet
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.read.logs import Log
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.screens.dialogs.search_box import Choice, Finder
from d0ctl_tui.screens.files.peek_screen import PeekScreen
from d0ctl_tui.screens.files.results_screen import ResultsScreen
from d0ctl_tui.screens.history.comparison_screen import ComparisonScreen
from d0ctl_tui.screens.history.logbook_screen import LogbookScreen
from d0ctl_tui.screens.history.timeline_screen import TimelineScreen
from d0ctl_tui.screens.tasks_screen import TasksScreen
from d0ctl_tui.widgets.about_pane import AboutPane

MOST_COMMANDS = 12
"""How many commands of the details are offered for copying."""


class RowKeys:
    """Actions of a screen with a selected row and its details."""

    dashboard: AppInterface
    about: AboutPane

    @property
    def selector(self) -> str | None:
        """Return the path of the selected row."""
        raise NotImplementedError

    def action_rows(self) -> Marks:
        """Return the rows of an action: the marked ones, or else the one of the cursor."""
        raise NotImplementedError

    def action_copy(self) -> None:
        """Offer what can be copied of the selected row."""
        if self.selector is None:
            self.dashboard.show_notice("nothing is selected")
            return

        def take(choice: Choice | None) -> None:
            if choice is not None:
                self.dashboard.copy(choice.label)

        offered = list(self._offered(self.selector))
        find = partial(_matching, offered)
        self.dashboard.app.push_screen(Finder(self.dashboard, "copy", find), take)

    def action_log(self) -> None:
        """Show the log of the selected package."""
        if (log := self._log("only a package has a log: choose one")) is not None:
            self.dashboard.show_log(log.path)

    def action_compare(self) -> None:
        """Compare two marked packages, or the last attempt at the selected one with another."""
        paths = sorted(self.action_rows().paths)
        if not 0 < len(paths) < 3 or any(path.count("/") < 2 for path in paths):
            self.dashboard.show_notice("choose a package, or mark two")
            return
        packages = [path if path.count("/") == 3 else f"{path}/1" for path in paths]
        self.dashboard.app.push_screen(ComparisonScreen(self.dashboard, packages))

    def action_peek(self) -> None:
        """Show the files in the folder of the last attempt at a package; of a job, its results."""
        if self.selector is not None and parse(self.selector).level == "job":
            self.dashboard.app.push_screen(ResultsScreen(self.dashboard, self.selector))
            return
        log = self._log("only a package has a folder, and a job has results: choose one")
        if log is not None:
            self.dashboard.app.push_screen(PeekScreen(self.dashboard, log))

    def action_timeline(self) -> None:
        """Show when and where packages ran."""
        job = self.selector.partition("/")[0] if self.selector else None
        self.dashboard.app.push_screen(TimelineScreen(self.dashboard, job))

    def action_logbook(self) -> None:
        """Show what was done, ended and failed lately."""
        self.dashboard.app.push_screen(LogbookScreen(self.dashboard))

    def action_tasks(self) -> None:
        """Show the tasks, beginning at that of the selected row."""
        if not self.dashboard.is_past():
            name = self.selector.partition("/")[0] if self.selector else None
            self.dashboard.app.push_screen(TasksScreen(self.dashboard, name))

    def action_shell(self) -> None:
        """Open a shell on the node of the selected package, in the folder of its attempt."""
        nodes = self.dashboard.key_of("nodes")
        log = self._log(f"only a package has a node: choose one, or the nodes by `{nodes}`")
        if log is not None:
            self.dashboard.open_shell(log.address, log.folder)

    def action_read_with(self, program: str) -> None:
        """Give the log of the selected package to the pager or the editor of the user."""
        log = self._log("only a package has a log: choose one")
        if log is not None:
            self.dashboard.read_log(log, None, program)

    def _log(self, otherwise: str) -> Log | None:
        if self.selector is None or parse(self.selector).level != "package":
            self.dashboard.show_notice(otherwise)
            return None
        return self.dashboard.log_of(self.selector)

    def _offered(self, selector: str) -> list[Choice]:
        found = [Choice(selector, kind="path")]
        log = self.dashboard.log_of(selector, quiet=True) if selector.count("/") == 3 else None
        if log is not None and log.folder:
            found.append(Choice(log.folder, f"on {log.address.name}", kind="folder"))
        commands = [f"d0ctl status {selector}", *sheet.commands_on(self.about.lines)]
        known = dict.fromkeys(commands[: MOST_COMMANDS + 1])
        return [*found, *(Choice(command, kind="command", role="command") for command in known)]


def _matching(offered: list[Choice], typed: str) -> list[Choice]:
    return [
        choice for choice in offered if typed.lower() in f"{choice.kind} {choice.label}".lower()
    ]
