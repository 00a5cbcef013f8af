"""The words for the remarks that the store keeps as codes with values, and for outages."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from d0ctl.policy.remarks import (
    Against,
    FailedAlike,
    GivenUp,
    InputsLate,
    NodeAtFault,
    NodeFailing,
    NodeMoved,
    NodeRemoved,
    RemadeFor,
    Remark,
    RuleHolds,
    TooManyFailed,
    TrialFailed,
    TrialSucceeded,
    TriedAgain,
    Verdict,
    read,
)
from d0ctl.units import clean, count, duration, listed, moment, size, times

if TYPE_CHECKING:
    from d0ctl.store.nodes.draining import Outage
    from d0ctl.store.nodes.site import FailingTransfers, TaskInVain

OUTDATED = "d0ctl was installed again since the daemon started, so the daemon runs older code"

AGAINST: Mapping[Against, str | Callable[[Any], str]] = {
    Against.PASSIVE: "the rule is passive",
    Against.PASSIVE_TRIES: "the rule is passive: it would be tried again",
    Against.TRIES: lambda limit: f"it was tried again {times(limit)}",
    Against.ALL_TRIES: lambda limit: f"it was tried again {times(limit)} since it was submitted",
    Against.TIME: lambda limit: f"the last attempt lasted more than {duration(limit)}",
    Against.ALL_TIME: lambda limit: f"all attempts together lasted more than {duration(limit)}",
    Against.MEMORY: lambda limit: f"the last attempt used more than {size(limit)} of memory",
    Against.NO_REPORT: "the last attempt left no report of its end",
    Against.DISK: "it needs more disk than it requests",
    Against.NO_OTHER_NODE: "it failed like this on all nodes that could take it",
    Against.NO_LARGER_NODE: "no node has more memory",
}

MOST_REASONS = 3
"""How many reasons for which packages failed on a node are named."""

MOST_JOBS = 3
"""How many jobs are named."""

REMARKS: Mapping[Remark, str] = {
    Remark.REPACKAGED: "its files go into other packages",
    Remark.OUTDATED_MERGE: "it has merged an old version of a file",
    Remark.INPUT_REPLACED: "an input file was replaced",
    Remark.INPUT_LOST: "an input was lost",
    Remark.INPUT_COPY_LOST: "a copy of an input was lost",
    Remark.INPUT_AWAY: "the nodes that have an input were down",
    Remark.OUTPUT_LOST: "remake: an output is needed again, but was removed or lost",
    Remark.INPUTS_CHANGED: "its inputs are others than before",
    Remark.INPUT_REMADE: "an input is being made again",
    Remark.MAKER_REMOVED: "the job was removed that makes its inputs",
    Remark.KEPT_OUTPUTS_REMOVED: "its kept outputs were removed because its node needed space",
    Remark.KEPT_OUTPUTS_EXPIRED: "its kept outputs were removed as planned, after `keep-failed`",
    Remark.NODE_DRAINED: "its node was drained before it was launched",
    Remark.RELEASED_BY_POLICY: "released by the policy",
    Remark.PAUSE_OVER: "the time of its pause is over",
    Remark.LAST_DAEMON_DIED: "the last one ended without a stop",
    Remark.SUCCEEDED_SINCE: "a package that began there after the failures succeeded",
    Remark.FAILED_ELSEWHERE: "most packages that failed there failed on other nodes, too",
}

PREFIX = re.compile(r"^binary \d+ \([^()]*\) ended with exit code \d+( \([^()]*\))?: (?=\S)")
"""The beginning of a message that has more to say than the exit code."""


def until(at: float | None, now: float) -> str:
    """Say until when a pause lasts that the daemon ends; empty if it does not."""
    if at is not None and at <= now:
        return f" until a daemon resumes it (due since {moment(at, now)})"
    return "" if at is None else f" until {moment(at, now)}"


def by_whom(actor: str | None, note: str | None) -> str:
    """Return who changed a package, and the words for why, which may name the same person."""
    return ": ".join(filter(None, (actor, (note or "").removesuffix(f" by {actor}"))))


def remark(note: str | None) -> str | None:
    """Return the words for the note of a package or event; a person's own stays as it is."""
    match read(note):
        case NodeRemoved(node):
            return f"node {node} was removed"
        case NodeMoved(node):
            return f"node {node} was moved"
        case NodeAtFault(node):
            return f"`{node}` may be the cause, so it runs elsewhere"
        case NodeFailing() as failing:
            return _failing(failing)
        case InputsLate(node, waited_s, other):
            waited = f"it waited {duration(waited_s)} for its inputs on {node}"
            return f"{waited}, and would end earlier on {other}"
        case TriedAgain() as again:
            return f"try {again.number} of {again.tries}, after {cause(again)}"
        case GivenUp() as end:
            return "; ".join(filter(None, (cause(end), against(end))))
        case Remark() as code:
            return REMARKS[code]
        case FailedAlike(stage, reason, failed):
            alike = f"{count(failed, 'package')} of `{stage}` failed alike ({reason})"
            return f"{alike}, and none had succeeded by then"
        case RuleHolds(package, reason):
            return f"`{package}` failed ({reason}), and its rule says `hold: job`"
        case TooManyFailed(job, failed, most):
            return f"{count(failed, 'package')} of `{job}` failed, and its `max-failures` is {most}"
        case TrialFailed(rest_s):
            return f"a trial package failed, too; the next trial is in {duration(rest_s)}"
        case TrialSucceeded(rests):
            return f"a trial package succeeded after {count(rests, 'rest')}"
        case RemadeFor(readers):
            return f"no good copy was left of files that {_jobs(readers)}"
    return note


def _jobs(readers: Sequence[str]) -> str:
    """Name the first jobs that read files."""
    more = [f"{len(readers) - MOST_JOBS:,} more"] if len(readers) > MOST_JOBS else []
    names = listed([*(f"`{job}`" for job in readers[:MOST_JOBS]), *more])
    return f"{names} {'reads' if len(readers) == 1 else 'read'}"


VERDICTS = {
    "job-held": "job `{}` is held", "node-drained": "node `{}` is drained",
    "node-kept": "node `{}` stays drained", "node-back": "node `{}` is fine again",
}  # fmt: skip
"""What d0ctl did with a job or node by itself."""


def verdict(of: Verdict) -> str:
    """Say what d0ctl did with a job or node by itself, and why."""
    return f"{VERDICTS[of.what].format(of.name)}: {remark(of.note)}"


def drain_note(note: str | None) -> str | None:
    """Return why a node is drained; a person's own reason stays as it is."""
    return f"by d0ctl: {remark(note)}" if isinstance(read(note), NodeFailing) else remark(note)


def _failing(node: NodeFailing) -> str:
    most = sorted(node.reasons.items(), key=lambda entry: -entry[1])[:MOST_REASONS]
    causes = ", ".join(f"{reason} {count(number, 'time')}" for reason, number in most)
    why = causes or "launches refused, or other results than reported"
    successful = node.others["successful"]
    return (
        f"{count(node.failures, 'attempt')} of `{node.stage}` failed here in a row, the longest"
        f" after {duration(node.longest_s)} ({why}), while"
        f" {count(successful)} of {count(successful + node.others['failed'])} succeeded on other"
        " nodes"
    )


def cause(failure: TriedAgain | GivenUp) -> str:
    """Say how an attempt failed."""
    return f"{failure.reason}: {failure.message}" if failure.message else failure.reason


def against(failure: GivenUp) -> str:
    """Say why there is no other try; empty if it is not known."""
    if failure.why is None:
        return ""
    text = AGAINST[failure.why]
    return text if isinstance(text, str) else text(failure.limit or 0)


def outage_times(outage: "Outage", now: float) -> list[str]:
    """Say from when to when a node was down or full, and what followed if it did not come back."""
    state = "disk full" if outage.kind == "full" else "down"
    began = f"{state} at {moment(outage.began, now)}"
    if outage.ended is None:
        return [began, f"still, for {duration(now - outage.began)}"]
    later = {"removed": ", until it was removed", "unknown": ", then not contacted"}
    length = duration(outage.ended - outage.began)
    return [began, f"for {length}{later.get(outage.became or '', '')}"]


def outage_cause(outage: "Outage") -> str:
    """Say why a node was down, or what its full disk meant; empty if that is not known."""
    return "took no packages" if outage.kind == "full" else clean(outage.error or "")


def needs_a_person(trouble: "TaskInVain | FailingTransfers") -> str:
    """Say how a task has ended in vain, or that files of a job don't arrive."""
    if trouble.status is None:
        files = count(trouble.files, "file")
        return f"`{trouble.name}`: {files} can't be transferred: {trouble.last_error}"
    note = f": {trouble.note}" if trouble.note else ""
    return f"`{trouble.name}`: its task is {trouble.status}{note}"


def gist(message: str | None) -> str:
    """Return a message of a failure without what its reason and its node say already."""
    return PREFIX.sub("", message or "")
