"""The effects of ended attempts: which have failed and why, and what follows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from d0ctl.model import Phase, Reason
from d0ctl.policy import bad_nodes
from d0ctl.store.attempts import chains, failures, node_record
from d0ctl.store.attempts.failures import Answer, Failure
from d0ctl.store.attempts.node_record import Ended
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import copies
from d0ctl.store.lifecycle import DROPS
from d0ctl.store.nodes import software

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending

End = tuple["Ending", Row]
"""How an attempt ended, and the facts that the verdict depends on."""


class Verdicts(Struct, frozen=True):
    """For a batch of ends: the reason of each failure and the answer of its policy, by attempt,
    and the packages whose results still have to be copied.
    """

    reasons: Mapping[int, str]
    answers: Mapping[int, Answer]
    with_results: set[int]

    def phase_after(self, end: "Ending", context: Row) -> Phase:
        """Return the phase of a package that succeeded, or was ended on request."""
        if end["outcome"] == "successful":
            has_results = context["package_id"] in self.with_results
            return Phase.TRANSFERRING if has_results else Phase.DONE
        return Phase.DROPPED if context["request"] in DROPS else Phase.CANCELED


def ended_by_control(
    attempt: int, outcome: str, reason: str, detail: str, *, now: float
) -> "Ending":
    """Return the end of an attempt that its wrapper does not report: nothing more is known."""
    return {
        "attempt": attempt, "kind": "end", "outcome": outcome, "wrapper_started": None,
        "started": None, "ended": now, "suspended": 0.0, "utc_offset": None, "binary": None,
        "reason": reason, "detail": detail, "exit_code": None, "signal": None, "cpu": None,
        "rss": None, "stderr": "", "binaries": [], "outputs": [], "missing": [], "partial": False,
        "staged": [], "stored": [], "began": 1, "began_why": "", "retained": None, "events": [],
    }  # fmt: skip


def judge(store: Store, ends: Sequence[End], *, now: float) -> Verdicts:
    """Decide what follows each end, by the policy of its package."""
    with_results = _packages_with_results(store, ends)
    failed_ends = _failures(store, ends)
    copies.spare_delivered(store, now=now)
    answers = failures.answer(store, failed_ends, now=now)
    reasons = {failure.attempt: failure.reason for failure in failed_ends}
    return Verdicts(reasons, answers, with_results)


def _packages_with_results(store: Store, ends: Sequence[End]) -> set[int]:
    successful = {context["package_id"] for end, context in ends if end["outcome"] == "successful"}
    return {row[0] for row in store.select(successful).rows("packages_with_results")}


def _failures(store: Store, ends: Sequence[End]) -> list[Failure]:
    """Return the failures that a policy must answer; record lost copies and missing software."""
    failed_ends = []
    for end, context in ends:
        lost = _lost_copies(store, end, context)
        if end["reason"] == Reason.SOFTWARE_MISSING:
            software.missed(store, context["node_id"], context["package_id"])
        if end["outcome"] != "successful" and context["phase"] != "killing":
            failed_ends.append(_failure(end, context, lost))
    return failed_ends


def _lost_copies(store: Store, end: "Ending", context: Row) -> bool:
    """Return whether an attempt failed because d0ctl's copies are gone; record these as lost.

    Another attempt may have reported them already, so that they are not recorded or made anew. In
    a cache in doubt nothing counts as lost, but the package is not at fault either.
    """
    package, node, missing = context["package_id"], context["node_id"], end["missing"]
    at = {"package": package, "node": node, "launched": context["launched"]}
    lost = [store.change("copy_at", **at, path=path) for path in missing]
    return (
        any(lost)
        or any(store.row("is_in_cache", node=node, path=path) for path in missing)
        or bool(missing and copies.is_doubted(store, node))
    )


def _failure(end: "Ending", context: Row, lost_copies: bool) -> Failure:
    return Failure(
        attempt=end["attempt"],
        reason=Reason.LOST if lost_copies else end["reason"] or Reason.LOST,
        message=end["detail"] or None,
        restarts=context["restarts"],
        lasted=_lasted_s(end),
        rss=end["rss"],
        disk=max((binary.get("disk") or 0 for binary in end["binaries"]), default=None),
        reported=end["outcome"] != "lost",
        is_whole=chains.is_whole(end),
    )


def final(ends: Sequence[End], verdicts: Verdicts) -> Iterator[tuple[int, int, str]]:
    """Yield job, stage and reason of failures that are evidence against their stage and need a
    person.
    """
    for end, context in ends:
        reason = verdicts.reasons.get(end["attempt"])
        if reason is None or not verdicts.answers[end["attempt"]].is_final:
            continue
        if bad_nodes.counts_against_stage(reason):
            yield context["job_id"], context["stage_id"], reason


def stopping(ends: Sequence[End], verdicts: Verdicts) -> Iterator[tuple[int, int]]:
    """Yield job and attempt of the failures after which a rule holds the whole job."""
    for end, context in ends:
        answer = verdicts.answers.get(end["attempt"])
        if answer is not None and answer.stops_job:
            yield context["job_id"], end["attempt"]


def records(ends: Sequence[End], verdicts: Verdicts) -> list[Ended]:
    """Return the ends that say something about a node: successful attempts, and failed ones."""
    return [
        node_record.of_end(
            context,
            ended(end, context),
            end["ended"] - _began(end),
            verdicts.reasons.get(end["attempt"]),
        )
        for end, context in ends
        if context["node"] is not None
        and (end["outcome"] == "successful" or end["attempt"] in verdicts.reasons)
    ]


def duration(end: "Ending", context: Row, now: float) -> float | None:
    """Return how long a package took to run; None if it failed, or did not run."""
    if end["outcome"] != "successful" or context["delivers"] or end["started"] is None:
        return None
    if context["launched"] is None:
        return _lasted_s(end)
    # a node with a wrong clock can't claim more time than since its launch
    return min(_lasted_s(end), max(0.0, now - float(context["launched"])))


def _lasted_s(end: "Ending") -> float:
    return max(0.0, end["ended"] - _began(end) - end.get("suspended", 0.0))


def _began(end: "Ending") -> float:
    """Return when an attempt began to run, or to stage in if it failed before it ran."""
    began = wrapper_started(end) if end["started"] is None else end["started"]
    return end["ended"] if began is None else began


def wrapper_started(end: "Ending") -> float | None:
    """Return when the wrapper of an attempt started; None if it does not report the end itself."""
    started = end.get("wrapper_started")
    return end["started"] if started is None else started


def control_host_time(time: float | None, context: Row) -> float | None:
    """Convert a time by a node's clock to the clock of the control host."""
    return None if time is None else time - (context["clock"] or 0.0)


def ended(end: "Ending", context: Row) -> float:
    """Return when an attempt ended, by the clock of the control host."""
    ahead = 0.0 if end["utc_offset"] is None else context["clock"] or 0.0
    return end["ended"] - ahead
