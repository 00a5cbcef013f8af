"""The texts of mails: for each notice a headline, and the lines below it.

Texts from outside are made harmless: no control character, no line end within a line, no line
longer than a mail may have.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from d0ctl.model import Group, Reason
from d0ctl.show.drawing import signs
from d0ctl.show.job_end import Ending, Segment
from d0ctl.store.mail.mail_queue import Notice
from d0ctl.units import clean, count, duration

WIDEST = 300
"""The most characters of a line."""

MOST_TOLD = 50
"""The most notices in a mail; it counts the rest."""

AT_A_LIMIT = (Reason.OUT_OF_MEMORY, Reason.WALL_TIME)
"""Reasons after which a retry needs more of something; `why` of a package says how much."""

_WEIGHTS = {
    "stands-still": 0, "ended": 1, "node-given-up": 2, "node-drained": 2, "node-doubted": 2,
    "node-mistrusted": 2, "failures": 4, "node-down": 5, "software": 5, "cleared": 6,
}  # fmt: skip

Endings = Mapping[int, Ending]
"""How jobs ended, by their ids."""


def weight(notice: Notice) -> tuple[int, int]:
    """Return the sort key of a notice: those that need a person first, then the most important."""
    if notice.kind == "failures" and notice.needs_a_person:
        return 3, -notice.count
    return (0 if notice.needs_a_person else _WEIGHTS[notice.kind]), -notice.count


def title(notices: Sequence[Notice], endings: Endings) -> str:
    """Return the subject of a mail: the first headline, and how many more there are."""
    first = line(headline(notices[0], endings))
    more = len(notices) - 1
    return f"{first}, and {more} more" if more else first


def body(notices: Sequence[Notice], endings: Endings, home: str) -> str:
    """Return the text of a mail, which names the home that its commands are for."""
    parts = ["\n".join(map(line, _part(notice, endings))) for notice in notices[:MOST_TOLD]]
    if (more := len(notices) - MOST_TOLD) > 0:
        parts.append(f"... and {more:,} more\n  d0ctl status\n  d0ctl report failures")
    parts.append(f"-- \nsent by d0ctl of home {line(home)}; messages to come: d0ctl notify list\n")
    return "\n\n".join(parts)


def line(text: str) -> str:
    """Return a text from outside as one harmless line."""
    shown = clean(text)
    return shown if len(shown) <= WIDEST else f"{shown[:WIDEST]}..."


def headline(notice: Notice, endings: Endings) -> str:
    """Return a notice in one line."""
    return _HEADLINES[notice.kind](notice, endings)


def _failures(notice: Notice, endings: Endings) -> str:
    if notice.failed:
        return f"{notice.subject}: {count(notice.failed, 'package')} failed ({notice.reason})"
    if notice.held:
        return f"{notice.subject}: {count(notice.held, 'package')} held ({notice.reason})"
    return f"{notice.subject}: {count(notice.count, 'failure')}, tried again ({notice.reason})"


def _ended(notice: Notice, endings: Endings) -> str:
    if notice.reason:
        return f"{notice.subject}: {notice.reason}"
    end = endings[notice.subject_id]
    if end.status == Group.FAILED:
        counts = f"{count(end.incomplete)} of {count(end.packages, 'package')} did not complete"
        return f"{notice.subject}: {signs.group_name(end.status, end.phases)}, {counts}"
    done = end.phases.get("done", 0)
    if end.incomplete and done:
        return f"{notice.subject}: {end.status}, {done:,} of {count(end.packages, 'package')} done"
    return f"{notice.subject}: {end.status}, {count(end.packages, 'package')}"


def _given_up(notice: Notice, endings: Endings) -> str:
    return f"node {notice.subject} does not answer: {count(notice.count, 'attempt')} given up"


def _down(notice: Notice, endings: Endings) -> str:
    last = ", and no other node is up" if notice.needs_a_person else ""
    return f"node {notice.subject} is down{last}"


def _standstill(notice: Notice, endings: Endings) -> str:
    return f"{notice.subject} stands still: {notice.samples[0]['message']}"


def _drained(notice: Notice, endings: Endings) -> str:
    return f"node {notice.subject} is drained: packages fail there that succeed elsewhere"


def _doubted(notice: Notice, endings: Endings) -> str:
    return f"the cache of node {notice.subject} is in doubt: most of its files are missing"


def _mistrusted(notice: Notice, endings: Endings) -> str:
    return f"node {notice.subject} shows a host key that is not trusted"


def _software(notice: Notice, endings: Endings) -> str:
    nodes = count(notice.count, "node")
    result = f"failed on {notice.failed:,} of {nodes}" if notice.failed else f"done on {nodes}"
    return f"{notice.reason} of {notice.subject}: {result} that answered late"


def _cleared(notice: Notice, endings: Endings) -> str:
    return {
        "node-down": f"node {notice.subject} is back",
        "node-drained": f"node {notice.subject} takes packages again",
        "node-doubted": f"the cache of node {notice.subject} is no longer in doubt",
        "node-mistrusted": f"the host key of node {notice.subject} is trusted",
        "held": f"{notice.subject}: no packages are held any longer",
        "still": f"{notice.subject}: moves again",
        "stands-still": f"{notice.subject} moves again",
    }[notice.reason]


_HEADLINES: Mapping[str, Callable[[Notice, Endings], str]] = {
    "failures": _failures, "ended": _ended, "node-given-up": _given_up, "node-down": _down,
    "node-drained": _drained, "node-doubted": _doubted, "node-mistrusted": _mistrusted,
    "stands-still": _standstill, "software": _software,
    "cleared": _cleared,
}  # fmt: skip


def _part(notice: Notice, endings: Endings) -> Iterator[str]:
    yield headline(notice, endings)
    if notice.kind == "failures":
        yield from _about_failures(notice)
    elif notice.kind == "ended":
        yield from _about_end(endings[notice.subject_id])
    elif notice.kind.startswith("node"):
        yield from _about_node(notice)
    elif notice.kind == "software":
        yield from (f"  {sample['node']}: {sample['message']}" for sample in notice.samples)
        yield f"  d0ctl software where {notice.subject}"
    elif "stands-still" in (notice.kind, notice.reason) and not notice.subject_id:
        yield f"  {when(notice.last)}"
        yield "  d0ctl status"
    else:
        yield f"  {when(notice.last)}"
        is_status = notice.kind == "cleared" and not notice.reason.startswith("node")
        yield f"  d0ctl {'status' if is_status else 'why'} {notice.subject}"


def _about_failures(notice: Notice) -> Iterator[str]:
    again = notice.count - notice.failed - notice.held
    parts = [(notice.failed, "failed, not tried again"), (notice.held, "held by the policy"),
             (again, "tried again")]  # fmt: skip
    counts = ", ".join(f"{number:,} {text}" for number, text in parts if number)
    span = when(notice.first)
    if notice.last - notice.first >= 1:
        span = f"{span} to {when(notice.last)}"
    yield f"  {count(notice.count, 'failure')}: {counts}"
    yield f"  {span}"
    if stopped := why_stopped(notice):
        yield f"  the job is held by `max-alike-failures`: {stopped}"
    for sample in notice.samples:
        yield from _sample(sample)
    yield from _commands_for_failures(notice)


def why_stopped(notice: Notice) -> str | None:
    """Return why d0ctl held the job, if it did."""
    return next((sample["stopped"] for sample in notice.samples if "stopped" in sample), None)


def _sample(sample: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"  {sample['path']}, attempt {sample['attempt']} on {sample['node']}"
    if sample["message"]:
        yield f"    {sample['message']}"
    for text in sample["stderr"]:
        yield f"    | {text}"


def _commands_for_failures(notice: Notice) -> Iterator[str]:
    yield ""
    for sample in notice.samples[:1]:
        yield f"  d0ctl why {sample['path']}"
        yield f"  d0ctl logs {sample['path']} --attempt {sample['attempt']}"
    yield f"  d0ctl report failures {notice.subject}"
    if notice.failed and notice.reason not in AT_A_LIMIT:
        yield f"  d0ctl retry '{notice.subject}:failed'"
    if why_stopped(notice):
        yield f"  d0ctl release {notice.subject}"
    if notice.held:
        yield f"  d0ctl release '{notice.subject}:held'"


def _about_end(end: Ending) -> Iterator[str]:
    if end.title:
        yield f"  {end.title}"
    done = end.phases.get("done", 0)
    yield f"  {done:,} of {count(end.packages, 'package')} successful"
    took = duration(end.ended - end.submitted)
    yield f"  submitted {when(end.submitted)}, ended {when(end.ended)}, after {took}"
    if end.segments:
        yield ""
        yield "  did not complete:"
        yield from (f"    {_segment(segment)}" for segment in end.segments)
        if more := end.incomplete - len(end.segments):
            yield f"    and {more:,} more: d0ctl status {end.name}"
    yield ""
    yield from _commands_for_end(end)


def _segment(segment: Segment) -> str:
    text = f"{segment.path}  {segment.phase}"
    return f"{text}: {segment.why}" if segment.why else text


def _commands_for_end(end: Ending) -> Iterator[str]:
    yield f"  d0ctl status {end.name}"
    word = signs.group_name(end.status, end.phases)
    if word in (Group.CANCELED, "blocked") and end.phases.get("canceled"):
        yield f"  d0ctl retry '{end.name}:canceled'"
    if end.status != Group.FAILED:
        return
    yield f"  d0ctl why {end.name}"
    if end.phases.get("failed"):
        yield f"  d0ctl report failures {end.name}"
        if end.may_retry:
            yield f"  d0ctl retry '{end.name}:failed'"


def _about_node(notice: Notice) -> Iterator[str]:
    yield f"  {when(notice.last)}"
    for sample in notice.samples:
        yield f"  {sample['message']}"
    if notice.kind == "node-given-up":
        yield "  its packages are tried again elsewhere; their attempts here end when it is back"
    yield f"  d0ctl why {notice.subject}"
    yield f"  d0ctl node check {notice.subject}"
    if notice.kind == "node-drained":
        yield f"  d0ctl node resume {notice.subject}"
    if notice.kind == "node-mistrusted":
        yield f"  d0ctl node accept-key {notice.subject}   # if that is its new key"
    if notice.kind == "node-doubted":
        yield f"  d0ctl node accept-loss {notice.subject}   # if the files are gone for good"


def when(at: float) -> str:
    """Return a time by the clock of the control host, with its time zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(at))
