"""The table of commands, from which keys, palette and help are built."""

from collections.abc import Iterable

from msgspec import Struct
from textual.binding import Binding, BindingType

from d0ctl.actions import ACTIONS


class Command(Struct, frozen=True):
    """A key (or several, separated by commas), the action that it starts, and its title.

    `verb` is a verb of the command line; `foot` is its name in the last line of the screen.
    """

    keys: str
    action: str
    title: str
    section: str
    foot: str = ""
    verb: str = ""

    @property
    def key(self) -> str:
        """The key as people read it."""
        return " ".join(NAMES.get(key, key) for key in self.keys.split(",")[:2])


NAMES = {
    "question_mark": "?", "slash": "/", "colon": ":", "apostrophe": "'", "space": "space",
    "asterisk": "*", "minus": "-", "plus": "+", "escape": "esc", "pageup": "pgup",
    "pagedown": "pgdn", "ctrl+p": "^p", "ctrl+z": "^z", "ctrl+l": "^l", "greater_than_sign": ">",
    "ctrl+f": "^f", "ctrl+b": "^b", "ctrl+d": "^d", "ctrl+u": "^u", "backspace": "bksp",
    "up": "up", "ctrl+q": "^q", "shift+tab": "shift-tab", "exclamation_mark": "!",
    "vertical_line": "|", "right_square_bracket": "]", "left_square_bracket": "[",
    "equals_sign": "=", "comma": ",", "at": "@", "full_stop": ".",
}  # fmt: skip

MOVE = (
    Command("up,k", "cursor(-1)", "one line up", "move"),
    Command("down,j", "cursor(1)", "one line down", "move"),
    Command("pageup,ctrl+b", "page(-1)", "one page up", "move"),
    Command("pagedown,ctrl+f", "page(1)", "one page down", "move"),
    Command("ctrl+u", "half(-1)", "half a page up", "move"),
    Command("ctrl+d", "half(1)", "half a page down", "move"),
    Command("home,g", "top", "to the first line", "move"),
    Command("end,G", "bottom", "to the last line", "move"),
)

TREE = (
    Command("right,l", "unfold", "expand, or go to the first row below", "tree"),
    Command("left,h", "fold", "collapse, or go to the parent", "tree"),
    Command("enter", "open_line", "expand, collapse; a package in full", "tree", "open"),
    Command("minus", "fold_all", "collapse everything", "tree"),
    Command("space", "mark", "mark, to act on several at once", "tree", foot="mark"),
    Command("asterisk", "mark_all", "mark the row and all its siblings", "tree"),
)

LOOK = (
    Command("n", "problem(1)", "next problem: other stage, state or reason", "look",
            foot="next problem"),
    Command("N", "problem(-1)", "the previous one", "look"),
    Command("right_square_bracket", "problem(1, True)", "next package that needs a person", "look"),
    Command("left_square_bracket", "problem(-1, True)", "the previous one", "look"),
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
    Command("comma", "app.step(-1)", "as it was earlier; again: twice as far", "look"),
    Command("full_stop", "app.step(1)", "as it was later, up to the present", "look"),
    Command("at", "app.ask_moment", "as it was at a time", "look"),
    Command("apostrophe", "jumps", "places you have visited", "look"),
    Command("backspace", "back", "back to the previous place", "look"),
    Command("escape", "clear", "clear the filter, the marks, the past", "look"),
)  # fmt: skip

OUTSIDE = (
    Command("y", "copy", "copy path, command or folder", "look"),
    Command("exclamation_mark", "shell", "a shell on its node, in its folder",
            "look"),
    Command("p", "peek", "the files in its folder", "look"),
    Command("equals_sign", "compare", "compare two attempts", "look"),
    Command("vertical_line", "read_with('pager')", "the log in $PAGER", "look"),
    Command("e", "read_with('editor')", "the log in $EDITOR", "look"),
)  # fmt: skip

WATCH = (
    Command("c", "app.all_changes", "list all changes, or only what matters", "look"),
    Command("Z", "app.wall", "the wall: a tile for each job", "look"),
    Command("b", "app.follow", "notice when the job first fails or ends", "look"),
)  # fmt: skip

ACT = (
    Command("a", "act", "all actions on it", "act", foot="act"),
    *(
        Command(action.key, f"verb('{action.name}')", action.title, "act", verb=action.name)
        for action in ACTIONS.values()
        if action.level in ("any", "line", "job")
    ),
)

REST = (
    Command("colon,ctrl+p", "palette", "all commands, by name", "rest", foot="palette"),
    Command("tab", "app.focus_next", "to the next pane", "rest"),
    Command("greater_than_sign", "wider", "wider details", "rest"),
    Command("T", "app.next_theme", "another theme", "rest"),
    Command("ctrl+l", "app.repaint", "draw the screen again", "rest"),
    Command("ctrl+z", "app.suspend_process", "to the shell; fg comes back", "rest"),
    Command("question_mark,f1", "app.help", "this help", "rest", foot="help"),
    Command("q", "app.quit", "quit", "rest", foot="quit"),
)

MAIN = TREE + LOOK + OUTSIDE + WATCH + ACT + REST
"""The commands of the main screen, besides moving."""

SUB = (
    Command("escape,q,backspace", "app.pop_screen", "back", "rest", foot="back"),
    Command("T", "app.next_theme", "another theme", "rest"),
    Command("ctrl+l", "app.repaint", "draw the screen again", "rest"),
    Command("ctrl+z", "app.suspend_process", "to the shell; fg comes back", "rest"),
    Command("question_mark,f1", "app.help", "this help", "rest", foot="help"),
)
"""The commands of every other screen."""

TIMELINE = (
    Command("left,h", "shift(-1)", "the cursor to an earlier time", "look"),
    Command("right,l", "shift(1)", "the cursor to a later time", "look"),
    Command("plus", "zoom(-1)", "a shorter time", "look", foot="zoom"),
    Command("minus", "zoom(1)", "a longer time", "look"),
    Command("tab", "rows", "slots of nodes, or lines of the job", "look", foot="rows"),
    Command("c", "colours", "colours of states, or of stages", "look", foot="colours"),
    Command("enter", "go", "go to the package", "look", foot="package"),
    Command("at", "moment", "show everything as it was at the cursor", "look", foot="as it was"),
    Command("comma", "app.step(-1)", "as it was earlier", "look"),
    Command("full_stop", "app.step(1)", "as it was later", "look"),
)

FAILURES = (
    Command("tab,right,l", "group(1)", "group by the next property", "look", foot="group by"),
    Command("left,h", "group(-1)", "group by the previous property", "look"),
    Command("enter", "open", "show the packages of a group, or go to a package", "look", "open"),
    Command("space", "fold", "open or close a group", "look"),
    Command("s", "sort", "sort the groups", "look", foot="sort"),
    Command("t", "log", "the log of a package", "look", foot="log"),
    Command("a", "act", "all actions on it", "act", foot="act"),
)

NODES = (
    Command("enter", "go", "go to the package", "look", foot="open"),
    Command("tab", "app.focus_next", "to the packages, and back", "look", foot="packages"),
    Command("s", "sort", "sort the nodes", "look", foot="sort"),
    Command("exclamation_mark", "shell", "a shell on the node", "look", foot="shell"),
    *(
        Command(action.key, f"verb('{action.name}')", action.title, "act", verb=action.name,
                foot=action.name.removeprefix("node "))
        for action in ACTIONS.values()
        if action.level in ("node", "new node")
    ),
)  # fmt: skip

TASKS = (
    Command("enter", "go", "go to its row", "look", foot="open"),
    *(
        Command(action.key, f"verb('{action.name}')", action.title, "act", verb=action.name,
                foot=action.name.removeprefix("task "))
        for action in ACTIONS.values()
        if action.level == "task"
    ),
)  # fmt: skip

PEEK = (
    Command("enter,right,l", "open", "open a folder or a file", "look", foot="open"),
    Command("left,h", "up", "to the folder above", "look", foot="up"),
    Command("r", "reload", "read it again", "look", foot="again"),
)

CARD = (Command("enter", "go", "go to its package", "look", foot="package"),)

LOG = (
    Command("F", "follow", "follow the log", "look", foot="follow"),
    Command("slash", "find", "search forward", "look", foot="search"),
    Command("n", "again(1)", "next match", "look", foot="next"),
    Command("N", "again(-1)", "previous match", "look"),
    Command("w", "wrap", "wrap long lines, or cut them", "look", foot="wrap"),
    Command("right,l", "sideways(1)", "further right in long lines", "look"),
    Command("left,h", "sideways(-1)", "further left", "look"),
    Command("r", "reload", "read the log again", "look", foot="again"),
    Command("s", "stream", "stdout or stderr", "look", foot="out/err"),
    Command("b", "binary", "the next binary of the chain", "look", foot="binary"),
    Command("a", "attempt", "the previous attempt", "look", foot="attempt"),
    Command("vertical_line", "read_with('pager')", "the log in $PAGER", "look", foot="pager"),
    Command("e", "read_with('editor')", "the log in $EDITOR", "look", foot="editor"),
    Command("y", "copy", "copy the path of the log", "look", foot="copy"),
)


def bindings(*tables: Iterable[Command]) -> list[BindingType]:
    """Return key bindings for commands."""
    return [
        Binding(command.keys, command.action, command.title, show=False)
        for table in tables
        for command in table
    ]
