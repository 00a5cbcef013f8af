"""The status of an attempt at this moment, as its wrapper reports it.

The wrapper's times are those of the node's clock, and are shown by the clock here.
"""

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.lists import how_far
from d0ctl.units import clean, count, duration, moment, size

if TYPE_CHECKING:
    from d0ctl.nodes.link import Frame

TIMES = ("since", "began", "eta", "last_sign")
"""The keys of a report that are times."""

NOT_RUNNING = "now    no attempt is running, so no wrapper can be asked"

EMPTY_FOLDER = "the folder is empty"

WITHOUT_REPORT = {
    "running": "its wrapper is running",
    "ended": "it has ended on the node, but this is not in the database yet",
    "dead": "its wrapper on the node is dead, but this is not in the database yet",
    "absent": "it has not started on the node: it is being launched, or waits for free cpus",
}


def from_database(who: str, why: str, *, failing: str = "can't be asked") -> str:
    """Say why the database is shown in place of the present state; `who` is a node or wrapper."""
    return f"d0ctl: {who} {failing}, so this is the state in the database: {clean(why)}"


def part_printed(printed: int, whole: int, *, is_head: bool) -> str:
    """Say which part of a file was printed."""
    end = "first" if is_head else "last"
    return f"the {end} {size(printed)} of {size(whole)}: --all prints all"


class LiveStatus(Struct, frozen=True):
    """The answer of a node, and when it came; `report` is null if no wrapper answered."""

    at: float
    state: str
    message: str
    report: dict[str, Any] | None


def read(answer: "Frame", now: float) -> LiveStatus:
    """Read an answer that has just arrived, and convert its times to the clock here."""
    report = answer["status"]
    if report is not None:
        ahead = report["time"] - now
        shifted = {key: None if report[key] is None else report[key] - ahead for key in TIMES}
        report = {**report, **shifted}
    return LiveStatus(now, answer["state"], answer["message"], report)


def draw(sheet: Sheet, status: LiveStatus) -> None:
    """Add the answer."""
    head = f"now    reported {moment(status.at, status.at)}: "
    report = status.report
    if report is None:
        sheet.say(head + (status.message or WITHOUT_REPORT[status.state]))
        return
    facts = [report["phase"], f"since {moment(report['since'], status.at)}"]
    if report["binary"] is not None:
        facts.append(f"binary {report['binary']}")
    if far := how_far(report["percent"], report["eta"], report["line"], status.at, report["phase"]):
        facts.append(far)
    sheet.say(head + " · ".join(facts))
    if report["why"]:
        sheet.say(report["why"], indent=" " * 7)
    sheet.say(_used(report, status.at), indent=" " * 7)


def _used(report: dict[str, Any], now: float) -> str:
    processes = count(report["processes"], "process", "processes")
    facts = [f"{duration(report['cpu'])} of cpu", f"{size(report['rss'])} in {processes}"]
    if report["disk_free"] is not None:
        facts.append(f"{size(report['disk_free'])} of disk free")
    if report["last_sign"] is not None:
        facts.append(f"last sign of life {duration(now - report['last_sign'])} ago")
    return " · ".join(facts)
