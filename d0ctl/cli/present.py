"""The only place that shows how an attempt stands at this moment, in the words of its wrapper.

Times are told by the clock of the node, and shown by ours.
"""

import time
from dataclasses import dataclass
from typing import Any

from d0ctl.cli import show_part
from d0ctl.cli.terminal.output import emit
from d0ctl.nodes.link import Frame
from d0ctl.units import clean, duration, iso, moment, size

TIMES = ("since", "began", "eta", "last_sign")
"""What of an answer is a time."""

WITHOUT_ANSWER = {
    "running": "its wrapper runs there",
    "ended": "it has ended there, and the database has not heard of it yet",
    "dead": "its wrapper is dead there, and the database has not heard of it yet",
    "absent": "it has not begun there: it is on its way, or waits for free cpus",
}


@dataclass(frozen=True, slots=True)
class Present:
    """What came back from a node, and when; `told` is null where no wrapper answered."""

    at: float
    state: str
    message: str
    told: dict[str, Any] | None


def present(answer: Frame) -> Present:
    """Take an answer that has just come, its times put onto our clock."""
    at, told = time.time(), answer["status"]
    if told is not None:
        ahead = told["time"] - at
        shifted = {k: None if told[k] is None else told[k] - ahead for k in TIMES}
        told = {**told, **shifted}
    return Present(at, answer["state"], answer["message"], told)


def document(one: Present) -> dict[str, Any]:
    """The JSON document of an answer; null where nothing was said."""
    names = (
        *("phase", "why", "since", "binary", "began", "done", "total", "percent", "line", "eta"),
        *("cpu", "rss", "processes", "disk_free", "last_sign"),
    )
    told = one.told or dict.fromkeys(names)
    values = {k: iso(told[k]) if k in TIMES else told[k] for k in names}
    return {"told": iso(one.at), "state": one.state, "message": one.message, **values}


def draw(one: Present) -> None:
    """Print an answer."""
    head = f"now    told {moment(one.at, one.at)}: "
    if one.told is None:
        emit(head + clean(one.message or WITHOUT_ANSWER[one.state]))
        return
    told = one.told
    words = [clean(told["phase"]), f"since {moment(told['since'], one.at)}"]
    if told["binary"] is not None:
        words.append(f"binary {told['binary']}")
    if far := show_part.how_far(
        told["percent"], told["eta"], clean(told["line"]), one.at, told["phase"]
    ):
        words.append(far)
    emit(head + " · ".join(words))
    if told["why"]:
        emit(f"       {clean(told['why'])}")
    emit(f"       {_used(told, one.at)}")


def _used(told: dict[str, Any], now: float) -> str:
    processes = "1 process" if told["processes"] == 1 else f"{told['processes']} processes"
    words = [f"cpu {duration(told['cpu'])}", f"{size(told['rss'])} in {processes}"]
    if told["disk_free"] is not None:
        words.append(f"{size(told['disk_free'])} of disk free")
    if told["last_sign"] is not None:
        words.append(f"last sign of life {duration(now - told['last_sign'])} ago")
    return " · ".join(words)
