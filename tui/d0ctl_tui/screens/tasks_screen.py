"""The tasks: how far each is, why it does not go on, and all about the selected one."""

import time

from textual.app import ComposeResult

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import EMPTY, Line
from d0ctl.show.tasks import task_part
from d0ctl.show.tasks.task_part import TaskPart
from d0ctl.store.connection import Store
from d0ctl.store.tasks import views
from d0ctl.store.tasks.views import TaskSummary
from d0ctl_tui.app_events import CursorMoved, LineOpened
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import SUB, TASKS, bindings
from d0ctl_tui.draw import task_rows
from d0ctl_tui.screens.dialogs import ask_action
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.lines import LineView
from d0ctl_tui.widgets.status_lines import Page


class TaskList(LineView):
    """The tasks, one line each; those that need a person first."""

    has_cursor = True

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="tasklist", glyphs=dashboard.glyphs)
        self.tasks: list[TaskSummary] = []

    def line_count(self) -> int:
        """Return how many tasks there are."""
        return max(1, len(self.tasks))

    def line(self, number: int, columns: int) -> Line:
        """Return a task."""
        lines = task_rows.listed(self.tasks, columns, self.glyphs)
        return lines[number] if number < len(lines) else EMPTY

    @property
    def cursor_name(self) -> str | None:
        """Return the name of the task under the cursor."""
        return self.tasks[self.cursor].name if self.cursor < len(self.tasks) else None

    def show(self, tasks: list[TaskSummary], name: str | None) -> None:
        """Show other states of the tasks, with the cursor on the same one."""
        self.tasks = sorted(tasks, key=task_rows.urgency)
        self.styles.max_height = self.line_count() + 1
        names = [task.name for task in self.tasks]
        if name in names:
            self.cursor = names.index(name)
            self._show_cursor()
        self.renew()


class TasksScreen(SubScreen):
    """A list of tasks, and below it all about the selected one."""

    BINDINGS = bindings(TASKS, SUB)
    COMMANDS_HERE = TASKS

    def __init__(self, dashboard: AppInterface, start: str | None = None) -> None:
        super().__init__(dashboard)
        self.start = start
        self.list = TaskList(dashboard)
        self.page = Page("taskabout", self._sheet, dashboard.glyphs)
        self.card: TaskPart | None = None

    def body(self) -> ComposeResult:
        """Yield the list, and the page about one."""
        yield self.list
        yield self.page

    def on_mount(self) -> None:
        """Begin at the requested task."""
        self.list.focus()
        self.call_after_refresh(self.update)

    def headline(self, columns: int) -> Line:
        """Return the title."""
        return ((" tasks", "title"), ("  how far each is, and why it does not go on", "faint"))

    def update(self) -> None:
        """Show the present state."""
        super().update()
        none: list[TaskSummary] = []
        found = self.dashboard.source.ask(views.tasks, self.list.tasks or none)
        self.list.show(found, self.list.cursor_name or self.start)
        self._show_card()

    def on_cursor_moved(self, message: CursorMoved) -> None:
        """Show another task."""
        self._show_card()

    def on_line_opened(self, message: LineOpened) -> None:
        """Go to its row."""
        self.action_go()

    def action_go(self) -> None:
        """Go to the row of the task."""
        if (name := self.list.cursor_name) is not None:
            self.app.pop_screen()
            self.dashboard.go_to(name)

    def action_undo(self) -> None:
        """Plan what undoes the last action of this person."""
        ask_action.undo_last(self.dashboard)

    def action_verb(self, verb: str) -> None:
        """Show what an action would do to the task."""
        self.dashboard.plan_other(verb, self.list.cursor_name)

    def _show_card(self) -> None:
        name = self.list.cursor_name
        self.card = self.dashboard.source.ask(lambda store: _read(store, name), self.card)
        self.page.renew()

    def _sheet(self, columns: int) -> list[Line]:
        sheet = Sheet(columns - 1, self.dashboard.glyphs, archive=self.dashboard.home.archive)
        if self.card is not None:
            task_part.draw(sheet, self.card, time.time())
        return sheet.lines


def _read(store: Store, name: str | None) -> TaskPart | None:
    found = task_part.about(store, name, time.time()) if name is not None else None
    return found if isinstance(found, TaskPart) else None
