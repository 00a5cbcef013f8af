"""The table of commands, from which keys, palette and help are built."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import Binding, BindingType

from d0ctl.actions import ACTIONS
from d0ctl.actions.action import Action
from d0ctl_tui.key_names import shown


class Command(Struct, frozen=True):
    """A key (or several, separated by commas), the action that it starts, and its title.

    `verb` is a verb of the command line; `foot` is its name in the last line of the screen, `name`
    that in the file of the user, if it is not that of the verb or action.
    """

    keys: str
    action: str
    title: str
    section: str
    foot: str = ""
    verb: str = ""
    name: str = ""

    @property
    def id(self) -> str:
        """Its name in the file of the user; commands of the same name have the same keys."""
        return self.name or self.verb or self.action.removeprefix("app.").replace("_", "-")

    @property
    def key(self) -> str:
        """Its keys as people read them, two at most."""
        return " ".join(map(shown, self.keys.split(",")[:2]))

    @property
    def first_key(self) -> str:
        """Its first key as people read it."""
        return shown(self.keys.partition(",")[0])


MOVE = (
    Command("up,k", "cursor(-1)", "one line up", "move", name="line-up"),
    Command("down,j", "cursor(1)", "one line down", "move", name="line-down"),
    Command("pageup,ctrl+b", "page(-1)", "one page up", "move", name="page-up"),
    Command("pagedown,ctrl+f", "page(1)", "one page down", "move", name="page-down"),
    Command("ctrl+u", "half(-1)", "half a page up", "move", name="half-up"),
    Command("ctrl+d", "half(1)", "half a page down", "move", name="half-down"),
    Command("home,g", "top", "to the first line", "move"),
    Command("end,G", "bottom", "to the last line", "move"),
)

TREE = (
    Command("right,l", "unfold", "expand, or go to the first row below", "tree", name="expand"),
    Command("left,h", "fold", "collapse, or go to the parent", "tree", name="collapse"),
    Command(
        "enter", "open_line", "expand, collapse; a package in full", "tree", "open", name="open-row"
    ),
    Command("minus", "fold_all", "collapse everything", "tree", name="collapse-all"),
    Command("space", "mark", "mark it, and go down a row", "tree", foot="mark"),
    Command("asterisk", "mark_all", "mark the row and all its siblings", "tree"),
)

LOOK = (
    Command("n", "problem(1)", "next problem: other stage, state or cause", "look",
            foot="next problem", name="next-problem"),
    Command("N", "problem(-1)", "the previous one", "look", name="previous-problem"),
    Command("right_square_bracket", "problem(1, True)", "next package that needs a person", "look",
            name="next-package"),
    Command("left_square_bracket", "problem(-1, True)", "the previous one", "look",
            name="previous-package"),
    Command("slash", "search", "search paths, nodes, files, reasons", "look", "search"),
    Command("f", "filter", "show only some packages or jobs", "look", foot="filter"),
    Command("s", "sort", "sort jobs or packages", "look", foot="sort"),
    Command("w", "views", "saved views: show, save, delete", "look"),
    Command("F", "failures", "failures in groups", "look", "failures"),
    Command("o", "nodes", "the nodes and their running packages", "look", foot="nodes"),
    Command("J", "tasks", "the tasks, and why they do not go on", "look"),
    Command("t", "log", "the log of a package", "look", foot="log"),
    Command("v", "view", "the details on the whole screen", "look"),
    Command("i", "timeline", "nodes or lines over time", "look"),
    Command("O", "logbook", "the logbook of the last 24 hours", "look"),
    Command("comma", "app.step(-1)", "as it was earlier; again: twice as far", "look",
            name="earlier"),
    Command("full_stop", "app.step(1)", "as it was later, up to the present", "look", name="later"),
    Command("at", "app.ask_moment", "as it was at a time", "look", name="moment"),
    Command("apostrophe", "jumps", "places you have visited", "look"),
    Command("backspace", "back", "back to the previous place", "look"),
    Command("escape", "clear", "clear the filter, the marks, the past", "look"),
)  # fmt: skip

OUTSIDE = (
    Command("y", "copy", "copy path, command or folder", "look"),
    Command("exclamation_mark", "shell", "a shell on its node, in its folder",
            "look"),
    Command("p", "peek", "the files in its folder; of a job, its results", "look"),
    Command("equals_sign", "compare", "compare two attempts", "look"),
    Command("vertical_line", "read_with('pager')", "the log in $PAGER", "look", name="pager"),
    Command("e", "read_with('editor')", "the log in $EDITOR", "look", name="editor"),
)  # fmt: skip

WATCH = (
    Command("c", "app.all_changes", "list all changes, or only what matters", "look",
            name="changes"),
    Command("Z", "app.wall", "the wall: a tile for each job", "look"),
    Command("b", "app.follow", "notice when the job first fails or ends", "look",
            name="notices"),
)  # fmt: skip

ALL_ACTIONS = Command("a", "act", "all actions on it", "act", foot="act", name="actions")
UNDO = Command("u", "undo", "undo your last action", "act")

ACT = (
    ALL_ACTIONS,
    UNDO,
    *(
        Command(action.key, f"verb('{action.name}')", action.title, "act", verb=action.name)
        for action in ACTIONS.values()
        if action.level in ("any", "line", "job")
    ),
)  # fmt: skip

PALETTE = Command("colon,ctrl+p", "palette", "all commands, by name", "rest", foot="palette")

REST = (
    PALETTE,
    Command("tab", "app.focus_next", "to the next pane", "rest", name="next-pane"),
    Command("greater_than_sign", "wider", "wider details", "rest"),
    Command("T", "app.next_theme", "another theme", "rest", name="theme"),
    Command("ctrl+l", "app.repaint", "draw the screen again", "rest", name="redraw"),
    Command("ctrl+z", "app.suspend_process", "to the shell; fg comes back", "rest", name="suspend"),
    Command("question_mark,f1", "app.help", "this help", "rest", foot="help"),
    Command("q", "leave", "quit, or back", "rest", foot="quit", name="quit"),
)

MAIN = TREE + LOOK + OUTSIDE + WATCH + ACT + REST
"""The commands of the main screen, besides moving."""

SUB = (
    Command("escape,q,backspace", "leave", "back", "rest", foot="back", name="leave"),
    Command("T", "app.next_theme", "another theme", "rest", name="theme"),
    Command("ctrl+l", "app.repaint", "draw the screen again", "rest", name="redraw"),
    Command("ctrl+z", "app.suspend_process", "to the shell; fg comes back", "rest", name="suspend"),
    Command("question_mark,f1", "app.help", "this help", "rest", foot="help"),
)
"""The commands of every other screen."""

TIMELINE = (
    Command("left,h", "shift(-1)", "the cursor to an earlier time", "look", name="cursor-earlier"),
    Command("right,l", "shift(1)", "the cursor to a later time", "look", name="cursor-later"),
    Command("plus", "zoom(-1)", "a shorter time", "look", foot="zoom", name="zoom-in"),
    Command("minus", "zoom(1)", "a longer time", "look", name="zoom-out"),
    Command("tab,shift+tab", "rows", "slots of nodes, or lines of the job", "look", foot="rows"),
    Command(
        "c", "colours", "colours of states, or of stages", "look", foot="colours", name="colours"
    ),
    Command("enter", "go", "go to the package", "look", foot="package"),
    Command("at", "moment", "show everything as it was at the cursor", "look", foot="as it was"),
    Command("comma", "app.step(-1)", "as it was earlier", "look", name="earlier"),
    Command("full_stop", "app.step(1)", "as it was later", "look", name="later"),
)


def on_failures(name: str, foot: str) -> Command:
    """Return the command of an action on failed packages."""
    action = ACTIONS[name]
    return Command(action.key, f"verb('{name}')", action.title, "act", verb=name, foot=foot)


FAILURES = (
    Command("tab,right,l", "group(1)", "group by the next property", "look", foot="group by",
            name="next-grouping"),
    Command("shift+tab,left,h", "group(-1)", "group by the previous property", "look",
            name="previous-grouping"),
    Command("enter", "open", "show the packages of a group, or go to a package", "look", "open"),
    Command("space", "fold", "open or close a group", "look", name="open-group"),
    Command("f", "scope", "failures of all jobs, or only of this one", "look",
            foot="all jobs", name="failures-of-all-jobs"),
    on_failures("retry", "retry"),
    replace(UNDO, foot="undo"),
    on_failures("kill-line", "drop"),
    on_failures("acknowledge", "seen"),
    Command("t", "log", "the log of a package", "look", foot="log"),
    Command("s", "sort", "sort the groups", "look", foot="sort"),
    Command("v", "view", "the details on the whole screen", "look", foot="details"),
    ALL_ACTIONS,
)  # fmt: skip

WALL = tuple(command for command in LOOK if command.action in ("problem(1)", "failures", "nodes"))

FIRST_OF_NODES = ("node drain", "node resume", "node add")
FIRST_OF_TASKS = ("task retry", "task acknowledge", "task kill", "task pause", "task resume")
"""The actions that a narrow list of nodes or tasks names; the others are in alphabetical order."""


def by_need(first: tuple[str, ...], *levels: str) -> Iterator[Action[Any, Any]]:
    """Yield the actions on nodes or tasks, first those that are needed most."""
    yield from map(ACTIONS.__getitem__, first)
    yield from (action for name, action in ACTIONS.items()
                if action.level in levels and name not in first)  # fmt: skip


NODES = (
    Command("enter", "go", "go to the package", "look", foot="open"),
    Command("tab", "app.focus_next", "to the packages, and back", "look", foot="packages",
            name="next-pane"),
    Command("s", "sort", "sort the nodes", "look", foot="sort"),
    Command("F", "failures", "failures by node", "look"),
    Command("exclamation_mark", "shell", "a shell on the node", "look", foot="shell"),
    ALL_ACTIONS,
    replace(PALETTE, foot=""),
    *(
        Command(action.key, f"verb('{action.name}')", action.title, "act", verb=action.name,
                foot=action.name.removeprefix("node "))
        for action in by_need(FIRST_OF_NODES, "node", "new node")
    ),
    replace(UNDO, foot="undo"),
)  # fmt: skip

TASKS = (
    Command("enter", "go", "go to its row", "look", foot="open"),
    replace(UNDO, foot="undo"),
    *(
        Command(action.key, f"verb('{action.name}')", action.title, "act", verb=action.name,
                foot=action.name.removeprefix("task "))
        for action in by_need(FIRST_OF_TASKS, "task")
    ),
)  # fmt: skip

PEEK = (
    Command("enter,right,l", "open", "open a folder or a file", "look", "open", name="open-file"),
    Command("left,h", "up", "to the folder above", "look", foot="up", name="folder-above"),
    Command("r", "reload", "read it again", "look", foot="again"),
)

RESULTS = (
    replace(PEEK[0], title="the card of the file"),
    Command("y", "copy", "copy the path of the file", "look", foot="copy"),
    PEEK[-1],
)

LOGBOOK = (replace(RESULTS[1], title="copy it as text"), RESULTS[-1])

CARD = (Command("enter", "go", "go to its package", "look", foot="package"),)

LOG = (
    Command("F", "follow", "follow the log, or stay", "look", foot="follow/stay"),
    Command("slash", "find", "search forward", "look", foot="search"),
    Command("n", "again(1)", "next match", "look", foot="next", name="next-match"),
    Command("N", "again(-1)", "previous match", "look", name="previous-match"),
    Command("w", "wrap", "wrap long lines, or cut them", "look", foot="wrap"),
    Command("right,l", "sideways(1)", "further right in long lines", "look", name="further-right"),
    Command("left,h", "sideways(-1)", "further left", "look", name="further-left"),
    Command("r", "reload", "read the log again", "look", foot="again"),
    Command("s", "stream", "stdout or stderr", "look", foot="out/err"),
    Command("b", "binary", "the next binary of the chain", "look", foot="binary"),
    Command("a", "attempt", "the previous attempt", "look", foot="attempt"),
    Command(
        "vertical_line", "read_with('pager')", "the log in $PAGER", "look", "pager", name="pager"
    ),
    Command("e", "read_with('editor')", "the log in $EDITOR", "look", foot="editor", name="editor"),
    Command("S,ctrl+s", "save", "save the log to a file", "look", foot="save"),
    Command("y", "copy", "copy the path of the log", "look", foot="copy"),
)


SCREENS = {
    "the main screen": (*MOVE, *MAIN), "the timeline": (*MOVE, *TIMELINE, *SUB),
    "failures": (*MOVE, *FAILURES, *SUB), "nodes": (*MOVE, *NODES, *SUB),
    "the wall": (*MOVE, *WALL, *SUB),
    "tasks": (*MOVE, *TASKS, *SUB), "the files of an attempt": (*MOVE, *PEEK, *SUB),
    "the results of a job": (*MOVE, *RESULTS, *SUB),
    "the logbook": (*MOVE, *LOGBOOK, *SUB),
    "a card": (*MOVE, *CARD, *SUB), "a log": (*MOVE, *LOG, *SUB),
}  # fmt: skip
"""The commands of each screen, whose keys can be set; a key there has one command."""

COMMANDS = {command.id: command for table in SCREENS.values() for command in table}
"""The commands whose keys can be set, by name."""


def with_keys(commands: Iterable[Command], keys: Mapping[str, str]) -> tuple[Command, ...]:
    """Return commands with the keys of the user, by name."""
    return tuple(
        replace(command, keys=keys[command.id]) if command.id in keys else command
        for command in commands
    )


def bindings(*tables: Iterable[Command]) -> list[BindingType]:
    """Return key bindings for commands."""
    return [
        Binding(command.keys, command.action, command.title, show=False, id=command.id)
        for table in tables
        for command in table
    ]
