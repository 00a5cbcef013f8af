"""The undo of an action on packages that a state, a reason or another filter selects."""

import shlex

import pytest

from d0ctl.actions import ACTIONS
from d0ctl.actions.action import Action
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.rows import read
from tests.support.site import Site

SELECTED = (
    "acknowledge prod --failed-for exit-code",
    "acknowledge prod:failed --failed-for missing-output --withdraw",
    "acknowledge prod --older-than 0.01s",
    "edit prod:ready --memory 100MB",
    "edit prod:waiting --cpus 1 --on localhost",
    "edit prod:ready prod/1/3-5/2:waiting --memory 100MB",
    "edit prod/1/3-5 --older-than 0.01s --memory 100MB",
    "finish prod:ready",
    "finish prod/1:ready,failed --hard",
    "hold prod:ready",
    "hold prod --status waiting",
    "hold prod/1/3:ready prod/1/8",
    "kill prod:ready",
    "kill prod/1:held,waiting",
    "kill prod/1/1-8 --older-than 0.01s",
    "kill-line prod/1/*:failed",
    "kill-line prod/1/*:ready",
    "kill-line prod/1/*:failed --drop-outputs",
    "pause prod:ready",
    "pause prod --node localhost --running",
    "priority prod:ready 80",
    "priority prod:failed --failed-for missing-output 80",
    "release prod:held",
    "restore-line prod/1/*:dropped",
    "resume prod:held",
)
"""Actions on some of the packages of a job, of which others are in all the states they lead to."""

WHOLE = {"limit", "update"}
"""Actions with an undo that take one job or stage, without a filter."""

Rows = set[tuple[object, ...]]


def rows(site: Site) -> Rows:
    """What the actions change of packages."""
    columns = ("id", "phase", "parked", "requirement_id", "request")
    return {*read(site.store, "package", *columns)} | {
        ("acknowledged", *row) for row in read(site.store, "acknowledgement", "package_id",
                                               by="package_id")
    }  # fmt: skip


def changed(before: Rows, after: Rows) -> set[object]:
    """The packages that differ."""
    return {row[0] if isinstance(row[0], int) else row[1] for row in before ^ after}


def build(site: Site, d0ctl: Type) -> None:
    """A job with packages in many states: each state that an action leads to has some already."""
    site.submit(production(lines=12))
    for number in (1, 2):
        site.fail(f"prod/1/{number}/1", reason="missing-output" if number == 2 else "exit-code")
    site.launch("prod/1/11/1")
    for command in (
        "acknowledge prod/1/2/1", "hold prod/1/4/1", "pause prod/1/5/1", "kill prod/1/6/1",
        "edit prod/1/6-7/2 --memory 100MB", "hold prod/1/6/2", "kill prod/1/1/2",
        "kill-line prod/1/9 --drop-outputs", "hold prod/1/10/2", "priority prod/2 80",
    ):  # fmt: skip
        assert d0ctl(*command.split(), "--yes").exit_code == 0, command


@pytest.mark.parametrize("command", SELECTED)
def test_the_undo_changes_just_what_the_action_changed(
    command: str, site: Site, d0ctl: Type
) -> None:
    build(site, d0ctl)
    before = rows(site)

    result = d0ctl(*shlex.split(command), "--yes")
    after, offered = rows(site), result.stderr.partition("to undo: d0ctl ")[2].splitlines()[0]
    again = d0ctl(*shlex.split(offered), "--yes")

    assert again.exit_code == 0, again.stderr
    assert changed(before, after)
    assert changed(after, rows(site)) == changed(before, after), offered


def test_each_verb_with_an_undo_that_takes_a_filter_is_among_them() -> None:
    none = Action.__dataclass_fields__["undo"].default
    undoable = {name for name, action in ACTIONS.items()
                if action.undo is not none and action.level in ("any", "line")}  # fmt: skip

    assert undoable - WHOLE == {command.split()[0] for command in SELECTED}
