"""The page of `report failures`: how many, what is to blame, and which are alike."""

import shlex
from collections.abc import Collection, Mapping

from d0ctl.policy.blame import Blame
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.lists import NOTHING_FAILED, cause
from d0ctl.store.views.failure_counts import Alike, Report, Sample
from d0ctl.units import count, moment

_COMMANDS = {"node": "d0ctl why --node {0}", "software": "d0ctl software verify {0}",
             "input": "d0ctl why {0}"}  # fmt: skip
"""The command to type for each finding."""

MOST_SHOWN = 8
"""How many groups of each kind are listed."""

WIDEST, START = 90, 25
"""How many characters of a message are shown, and how many of them from its beginning."""


def draw(
    page: Sheet,
    report: Report,
    selector: str | None,
    now: float,
    known: Mapping[str, Collection[str]],
    *,
    is_filtered: bool = False,
) -> None:
    """Add how many packages failed, what is to blame, and the groups of alike failures.

    `known` has the names of the nodes and software of the site: there is nothing to type for
    another one, nor in an archive, whose failures say nothing about those of today.
    """
    if not report.count:
        page.say("no failure matches these options" if is_filtered else NOTHING_FAILED)
        return
    cooling = f"{count(report.cooling)} cooling off, " if report.cooling else ""
    page.say(f"{count(report.count, 'failure')} of {count(report.packages, 'package')}, "
             f"{count(report.failed)} failed now, {cooling}"
             f"{count(report.again)} tried again by d0ctl, "
             f"{hours(report.wasted):,.2f} CPU hours wasted")  # fmt: skip
    for blame in report.blamed:
        page.say(blame.sentence())
        is_known = not page.archive and blame.share.name in known.get(blame.kind, ())
        if blame.kind == "input" or is_known:
            page.add((f"  {_command(blame)}", "faint"))
    shown: set[Sample] = set()
    for key, rows in report.groups.items():
        if rows:
            page.head(f"by {key}")
            page.rows([_row(alike, now, shown) for alike in rows[:MOST_SHOWN]], indent=2)
            if len(rows) > MOST_SHOWN:
                page.add(("  and more: --json prints all", "faint"))
    what = f" {shlex.quote(selector)}" if selector else ""
    page.add()
    page.say(f"each attempt with its reason, on a page with plots: "
             f"d0ctl report usage{what} --html report.html", "faint")  # fmt: skip


def _cut(text: str | None) -> str | None:
    """As much of a message as fits into a table: mostly its end, which says the most."""
    if text is None or len(text) <= WIDEST:
        return text
    return f"{text[:START]}...{text[START - WIDEST :]}"


def _row(alike: Alike, now: float, shown: set[Sample]) -> list[Cell]:
    """Return the row of alike failures, with their sample unless a row above has it."""
    sample = alike.sample
    one_of = f"one of {alike.messages:,} different messages: " if alike.messages > 1 else ""
    text = f"{one_of}{sample.path}: {cause(sample.reason, _cut(sample.message))}"
    is_shown = sample in shown
    shown.add(sample)
    return [
        alike.name, count(alike.count, "failure"), count(alike.packages, "package"),
        f"{alike.acknowledged:,} acknowledged" if alike.acknowledged else "",
        f"{hours(alike.wasted):,.2f} CPU h", f"last {moment(alike.last, now)}",
        "" if is_shown else text,
    ]  # fmt: skip


def _command(blame: Blame) -> str:
    """Return the command for a finding; an input is named with a job in which it failed."""
    name = blame.share.name
    if blame.share.job is not None:
        name = f"{blame.share.job}:{name}"
    return _COMMANDS[blame.kind].format(shlex.quote(name))


def hours(seconds: float) -> float:
    """Return hours, as documents have them."""
    return round(seconds / 3600, 4)
