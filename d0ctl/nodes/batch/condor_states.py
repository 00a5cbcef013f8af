"""The states of jobs in HTCondor: how far they have come, and how they have ended."""

import re
from collections.abc import Mapping
from typing import Any

from d0ctl.nodes.batch.tools import Phase

IDLE, RUNNING, REMOVED, COMPLETED, HELD, TRANSFERRING, SUSPENDED = range(1, 8)
"""Values of JobStatus."""

BY_REQUEST = frozenset({1, 15, 16})
"""Codes of holds that a user asked for and may release: a queued pilot waits for that."""

HOLDS: Mapping[tuple[int, int], str] = {
    (34, 102): "it used more memory than it requested",
    (34, 104): "it used more disk than it requested",
}
HOLD_CODES: Mapping[int, str] = {
    1: "a user holds it",
    3: "a rule of the job holds it",
    4: "its credentials are not valid",
    6: "its machine can't start it",
    12: "its output was not transferred",
    13: "its input was not transferred",
    14: "its folder can't be opened",
    15: "it was submitted on hold",
    16: "its input is being spooled",
    19: "a hook of its machine failed",
    21: "a rule of its machine holds it",
    22: "its event log can't be written",
    23: "its account does not exist there",
    26: "a rule of the site holds it",
    34: "it used more than it requested",
    35: "its container image is not valid",
    46: "it ran for longer than allowed",
    47: "it ran for longer than allowed",
}
"""What the codes and subcodes of holds mean; for others there is only HTCondor's own text."""

TIME_LIMIT = "it was removed at its `wall-time`"
RULE = "The job attribute PeriodicRemove expression"
"""How HTCondor begins the reason of a removal that the description of the job asked for."""

ENDS: Mapping[tuple[int, int], str] = {(34, 102): "out-of-memory", (34, 104): "disk-full"}
END_CODES: Mapping[int, str] = {1: "killed", 46: "wall-time", 47: "wall-time"}
"""The reasons of ends of packages whose own jobs were held so."""

_CODES = re.compile(r"\(code (-?\d+), subcode (-?\d+)\)\Z", re.ASCII)


def reason(state: str) -> str:
    """Return why a package has failed whose job has ended in a state without it."""
    if state == TIME_LIMIT:
        return "wall-time"
    if state.startswith("removed: "):
        return "killed"
    codes = _CODES.search(state) if state.startswith("held: ") else None
    if codes is None:
        return "platform-failure"
    code, subcode = int(codes[1]), int(codes[2])
    return ENDS.get((code, subcode)) or END_CODES.get(code, "platform-failure")


def phase_of(ad: Mapping[str, Any]) -> tuple[Phase, str, str]:
    """Return how far a job has come, in which state it is, and what it waits for."""
    status, has_run = ad.get("JobStatus"), bool(ad.get("NumJobStarts"))
    if status == IDLE and has_run:
        return Phase.STUCK, _evicted(ad), ""
    if status == IDLE:
        return Phase.WAITING, "idle", str(ad.get("LastRejMatchReason") or "not negotiated")
    if status == HELD:
        waits = ad.get("HoldReasonCode") in BY_REQUEST and not has_run
        held = _held(ad)
        return (Phase.WAITING, "held", held) if waits else (Phase.STUCK, held, "")
    if status == REMOVED:
        return Phase.OVER, _removed(ad), ""
    if status == COMPLETED:
        if ad.get("ExitBySignal"):
            return Phase.OVER, f"it was ended by signal {ad.get('ExitSignal', 'unknown')}", ""
        return Phase.OVER, f"it ended with exit code {ad.get('ExitCode', 'unknown')}", ""
    names = {RUNNING: "running", TRANSFERRING: "transferring output", SUSPENDED: "suspended"}
    return Phase.ALIVE, names.get(int(status or 0), f"status {status}"), ""


def _held(ad: Mapping[str, Any]) -> str:
    code, subcode = int(ad.get("HoldReasonCode", 0)), int(ad.get("HoldReasonSubCode", 0))
    meaning = HOLDS.get((code, subcode)) or HOLD_CODES.get(code)
    said = [part for part in (meaning, ad.get("HoldReason")) if part]
    return f"held: {': '.join(said) or 'no reason'} (code {code}, subcode {subcode})"


def _evicted(ad: Mapping[str, Any]) -> str:
    reason = ad.get("VacateReason")
    return f"evicted: {reason}" if reason else "evicted"


def _removed(ad: Mapping[str, Any]) -> str:
    said = str(ad.get("RemoveReason") or "no reason")
    if said.startswith(RULE) and ad.get("LastJobStatus") == HELD:
        return "it was removed as it was held"
    if said.startswith(RULE):
        return _evicted(ad) if ad.get("LastJobStatus") == IDLE else TIME_LIMIT
    return f"removed: {said}"
