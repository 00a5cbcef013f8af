"""The event log of HTCondor, in which an access point writes what happens to jobs."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

EXECUTE, EVICTED, TERMINATED, SHADOW_EXCEPTION, ABORTED, HELD, RELEASED = 1, 4, 5, 7, 9, 12, 13
RECONNECT_FAILED = 24

_HEAD = re.compile(
    r"(\d{3}) \((-?\d+)\.(-?\d+)\.-?\d+\) (?:\d\S*[ T])(?:[\d:.]+\S* )?(.*)", re.ASCII
)
_CODES = re.compile(r"Code (-?\d+) Subcode (-?\d+)", re.ASCII)
_RETURNED = re.compile(r"\(return value (-?\d+)\)", re.ASCII)
_SIGNAL = re.compile(r"\(signal (\d+)\)", re.ASCII)


class Event(Struct, frozen=True):
    """An event: its number in HTCondor, the id of its job, and its text."""

    number: int
    job: str
    lines: tuple[str, ...]


def events(text: str) -> Iterator[Event]:
    """Return the events of a log, or of its end: what is cut off at the front is left out."""
    for block in re.split(r"^\.\.\.\r?\n", text, flags=re.MULTILINE)[:-1]:
        first, *rest = block.splitlines() or [""]
        if found := _HEAD.match(first):
            job = f"{int(found[2])}.{int(found[3])}"
            yield Event(int(found[1]), job, (found[4], *(line.strip() for line in rest)))


def jobs(text: str) -> dict[str, dict[str, Any]]:
    """Return the jobs of a log by their ids, with the attributes that they had in the queue."""
    found: dict[str, dict[str, Any]] = {}
    for event in events(text):
        ad = found.setdefault(event.job, {"JobStatus": 1})
        ad.update(_attributes(event, ad["JobStatus"]))
    return found


def _attributes(event: Event, status: int) -> dict[str, Any]:
    first = event.lines[1] if len(event.lines) > 1 else ""
    text = "\n".join(event.lines)
    if event.number == EXECUTE:
        return {"JobStatus": 2, "NumJobStarts": 1}
    if event.number == EVICTED:
        reasons = [line for line in event.lines if line.startswith("Reason: ")]
        return _idle(reasons[0].removeprefix("Reason: ") if reasons else "")
    if event.number in (SHADOW_EXCEPTION, RECONNECT_FAILED):
        return _idle(first)
    if event.number == TERMINATED:
        signal, code = _SIGNAL.search(text), _RETURNED.search(text)
        return {
            "JobStatus": 4, "ExitBySignal": signal is not None,
            **({"ExitSignal": int(signal[1])} if signal else {}),
            **({"ExitCode": int(code[1])} if code else {}),
        }  # fmt: skip
    if event.number == ABORTED:
        return {"JobStatus": 3, "LastJobStatus": status, "RemoveReason": first}
    if event.number == HELD:
        codes = _CODES.search(text)
        return {
            "JobStatus": 5, "HoldReason": "" if first == "Reason unspecified" else first,
            "HoldReasonCode": int(codes[1]) if codes else 0,
            "HoldReasonSubCode": int(codes[2]) if codes else 0,
        }  # fmt: skip
    return {"JobStatus": 1} if event.number == RELEASED else {}


def _idle(reason: str) -> dict[str, Any]:
    return {"JobStatus": 1, "VacateReason": reason}
