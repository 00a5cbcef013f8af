"""From a key or a line of the palette to the dialog of an action: ask for what it needs."""

from collections.abc import Callable
from dataclasses import MISSING
from functools import partial

from d0ctl.actions import ACTIONS
from d0ctl.actions.action import Target
from d0ctl.actions.option import fields_of
from d0ctl.errors import D0Error
from d0ctl_tui.app_interface import Board
from d0ctl_tui.marks import Marks
from d0ctl_tui.run_action import QUESTIONS, first_way, level, misfit, target
from d0ctl_tui.screens import search_results
from d0ctl_tui.screens.search_box import Ask, Find, Finder

Go = Callable[[str | None], None]
"""What is done with an answer; None if there was none."""


def on_rows(board: Board, verb: str, marks: Marks) -> None:
    """Show what an action would do to marked rows."""
    wanted = marks.selection(level(verb))
    if wanted is None:
        board.tell("nothing is chosen")
    elif too_high := misfit(verb, wanted):
        board.tell(too_high)
    else:
        _with_argument(board, verb, wanted)


def on_other(board: Board, verb: str, node: str | None) -> None:
    """Show what an action would do to a node, files or a job file; ask which."""

    def go(written: str | None) -> None:
        if not written:
            return
        try:
            _with_argument(board, verb, target(verb, written.strip()))
        except D0Error as error:
            board.tell(str(error))

    asked = ACTIONS[verb].level
    if asked != "node":
        board.app.push_screen(Ask(board, f"{verb}: {QUESTIONS[asked]}"), go)
    elif node is not None:
        go(node)
    else:
        _choose(board, f"{verb}: which node", partial(search_results.nodes, board), go)


def _with_argument(board: Board, verb: str, wanted: Target) -> None:
    """Ask for the argument of an action if it has one, and show what it would do."""
    fields = fields_of(ACTIONS[verb].options)
    argument = next((each for each in fields if each.option.is_argument), None)
    if argument is None:
        board.plan(first_way(verb, wanted))
        return
    name, option, default = argument

    def go(written: str | None) -> None:
        if written is None:
            return
        words = written.split()
        if not words and default is not MISSING:
            board.plan(first_way(verb, wanted))
            return
        try:
            read = option.type.read(words if option.kind == "arguments" else written.strip())
        except ValueError as error:
            board.tell(str(error))
        else:
            board.plan(first_way(verb, wanted, **{name: read}))

    title = f"{verb}: {option.help.rstrip('.')}"
    if option.choices:
        _choose(board, title, partial(search_results.words, option.choices), go)
    else:
        board.app.push_screen(Ask(board, title.replace("[", "\\[")), go)


def _choose(board: Board, title: str, find: Find, go: Go) -> None:
    board.app.push_screen(
        Finder(board, title, find), lambda choice: go(choice.words if choice else None)
    )
