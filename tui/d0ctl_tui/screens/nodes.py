"""The nodes, their states, and their running packages."""

import time
from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult

from d0ctl.show.card_contents import About, NotFoundCard, about_node
from d0ctl.show.cards import node
from d0ctl.show.cards.node import Node
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import EMPTY, Line
from d0ctl.store.nodes import registry
from d0ctl_tui.app_events import CursorMoved, LineOpened
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import NODES, SUB, Command, bindings
from d0ctl_tui.draw import strips
from d0ctl_tui.read.snapshot import NodeLine
from d0ctl_tui.screens.dialogs import ask_action, search_results
from d0ctl_tui.screens.dialogs.order_choices import Sorting, ask_order
from d0ctl_tui.screens.dialogs.search_box import Choice, Find, Finder
from d0ctl_tui.screens.dialogs.search_results import Reach
from d0ctl_tui.screens.failed.failures import FailuresScreen
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.lines import LineView
from d0ctl_tui.widgets.status_lines import Page


class NodeList(LineView):
    """The nodes, one line each; those with a problem first."""

    has_cursor = True
    nothing = strips.NO_NODES

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="nodelist", glyphs=dashboard.glyphs)
        self.dashboard = dashboard
        self.rows: list[NodeLine] = []

    def show(self, name: str | None) -> None:
        """Show the present states in their order, with the cursor on this node."""
        self.rows = self.order()
        names = [node.name for node in self.rows]
        if name in names:
            self.cursor = names.index(name)
            self._show_cursor()

    def line_count(self) -> int:
        """Return how many nodes there are."""
        return len(self.rows)

    def line(self, number: int, columns: int) -> Line:
        """Return a node."""
        lines = strips.nodes(self.rows, {}, columns, time.time(), self.glyphs)
        return lines[number] if number < len(lines) else EMPTY

    @property
    def sorting(self) -> Sorting:
        """The order, kept until the dashboard ends."""
        known = {order: largest for order, (_, largest) in strips.NODE_ORDERS.items()}
        return Sorting(known, *self.dashboard.orders.get("nodes", ("state", False)))

    def order(self) -> list[NodeLine]:
        """Return the nodes in their order."""
        sorting = self.sorting
        return strips.ordered(self.dashboard.snapshot.nodes, sorting.order, reverse=sorting.reverse)

    @property
    def cursor_name(self) -> str | None:
        """Return the name of the node under the cursor."""
        return self.rows[self.cursor].name if self.cursor < len(self.rows) else None


class NodesScreen(SubScreen):
    """A list of nodes, and below it all about the selected one."""

    BINDINGS = bindings(NODES, SUB)
    COMMANDS_HERE = NODES

    def __init__(self, dashboard: AppInterface, main: Reach, start: str | None = None) -> None:
        super().__init__(dashboard)
        self.main = main
        self.start = start
        self.list = NodeList(dashboard)
        self.page = Page("nodeabout", self._sheet, dashboard.glyphs)
        self.card: About | None = None

    def body(self) -> ComposeResult:
        """Yield the list, and the page about one."""
        yield self.list
        yield self.page

    def on_mount(self) -> None:
        """Begin at the requested node."""
        self.list.focus()
        self.call_after_refresh(self.update)

    def headline(self, columns: int) -> Line:
        """Return the title."""
        sorting = self.list.sorting
        subtitle = "what each does, and why it takes no more"
        if not sorting.is_usual:
            subtitle = f"by {sorting.order} {sorting.arrow}  {subtitle}"
        return ((" nodes", "title"), (f"  {subtitle}", "faint"))

    def update(self) -> None:
        """Show the present state."""
        super().update()
        self.list.show(self.list.cursor_name or self.start)
        name, now = self.list.cursor_name, time.time()
        if name is not None:
            self.card = self.dashboard.source.ask(
                lambda store: about_node(store, name, now), self.card
            )  # fmt: skip
        self.list.styles.max_height = self.list.line_count() + 1
        self.list.renew()
        self.page.renew()

    def on_cursor_moved(self, message: CursorMoved) -> None:
        """Show another node."""
        self.update()

    def on_line_opened(self, message: LineOpened) -> None:
        """Go to its first running package."""
        self.action_go()

    def action_go(self) -> None:
        """Go to the first package on it."""
        if isinstance(self.card, Node) and self.card.live:
            self.app.pop_screen()
            self.dashboard.go_to(self.card.live[0].path)

    def action_sort(self) -> None:
        """Choose the order of the nodes."""
        ask_order(self.dashboard, "nodes", self.list.sorting, self.update)

    def action_failures(self) -> None:
        """Show all failures by node."""
        self.app.push_screen(FailuresScreen(self.dashboard, None, None, by="node"))

    def action_undo(self) -> None:
        """Plan what undoes the last action of this person."""
        ask_action.undo_last(self.dashboard)

    def action_shell(self) -> None:
        """Open a shell on the node, in d0ctl's folder there."""
        name = self.list.cursor_name
        row = self.dashboard.source.ask(lambda store: registry.find(store, name or ""), None)
        if row is not None:
            self.dashboard.open_shell(registry.address_of(row), row.base or "")

    def action_act(self) -> None:
        """Offer every action on nodes."""
        actions = [command for command in NODES if command.verb]
        name = self.list.cursor_name or "nodes"
        self._offer(f"act on {name}", partial(search_results.of_commands, self, actions))

    def action_palette(self) -> None:
        """Offer all commands by name, first those on nodes."""
        own = (*NODES, *SUB)
        self._offer("what to do", partial(search_results.palette_over, self, own, self.main))

    def _offer(self, title: str, find: Find) -> None:
        def take(choice: Choice | None) -> None:
            if choice is not None and choice.do is not None:
                choice.do()

        self.app.push_screen(Finder(self.dashboard, title, find), take)

    def run_command(self, command: Command) -> None:
        """Run a command as if its key were pressed."""
        self.call_later(self.run_action, command.action)

    def leave_for(self, do: Callable[[], object]) -> None:
        """Go back to the main screen, and do something there."""
        self.app.pop_screen()
        do()

    def action_verb(self, verb: str) -> None:
        """Show what an action would do to the node."""
        self.dashboard.plan_other(verb, self.list.cursor_name)

    def _sheet(self, columns: int) -> list[Line]:
        sheet = Sheet(columns - 1, self.dashboard.glyphs, archive=self.dashboard.home.archive)
        if isinstance(self.card, Node):
            node.draw(sheet, self.card, time.time())
        elif isinstance(self.card, NotFoundCard):
            sheet.say(self.card.message, "faint")
        return sheet.lines
