"""Outputs listed by an end message, compared with the package's declaration and with arrivals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from d0ctl.jobfile.yaml.faults import escape
from d0ctl.model import Phase, Reason
from d0ctl.policy.remarks import GivenUp, Verdict, noted
from d0ctl.store.attempts import black_holes, failures
from d0ctl.store.attempts.endings import End
from d0ctl.store.attempts.failures import Failure
from d0ctl.store.attempts.node_record import Ended
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.copies import MOST_SPOILT, lose

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending


def check(store: Store, ends: Sequence[End]) -> list[End]:
    """Turn each successful end that lacks a declared output, or has another, into a failed one.

    An end on request keeps only declared outputs.
    """
    listed = [end for end in ends if end[0]["outcome"] == "successful" or end[0]["outputs"]]
    if not listed:
        return list(ends)
    selected = store.select({context["package_id"] for _, context in listed})
    declared: defaultdict[int, list[Row]] = defaultdict(list)
    for row in selected.rows("declared_outputs"):
        declared[row["package_id"]].append(row)
    return [_checked(end, declared[end[1]["package_id"]]) for end in ends]


def _checked(end: End, declared: Sequence[Row]) -> End:
    message, context = end
    if message["outcome"] == "successful":
        fault = _fault(message["outputs"], declared)
        return (message, context) if fault is None else (failed(message, *fault), context)
    names = {row["name"] for row in declared}
    known = [
        output for output in message["outputs"] if (output.get("late") or output["name"]) in names
    ]
    return {**message, "outputs": known}, context


def _fault(
    listed: Sequence[Mapping[str, Any]], declared: Sequence[Row]
) -> tuple[Reason, str] | None:
    """Return the reason and a sentence if these can't be the outputs of the package."""
    late = [output["late"] for output in listed if output.get("late")]
    plain = [output["name"] for output in listed if not output.get("late")]
    plain_names = set(plain)
    for row in declared:
        name = row["name"]
        if row["late"] and late.count(name) < (row["min_count"] or 0):
            message = f"too few files of the late output `{escape(name)}` are in the end message"
            return Reason.MISSING_OUTPUT, message
        if not row["late"] and name not in plain_names:
            return Reason.MISSING_OUTPUT, f"output `{escape(name)}` is not in the end message"
    names = {row["name"] for row in declared if not row["late"]}
    for name in plain:
        if name not in names:
            message = f"output `{escape(name)}` is in the end message, but not declared"
            return Reason.VERIFICATION, message
    if len(plain_names) < len(plain):
        return Reason.VERIFICATION, "an output is in the end message twice"
    return None


def failed(message: "Ending", reason: Reason, detail: str) -> "Ending":
    """Return the end message of an attempt whose success is not accepted."""
    return {**message, "outcome": "failed", "reason": str(reason), "detail": detail,
            "outputs": [], "missing": []}  # fmt: skip


def forget_wrong(
    store: Store, copies: Sequence[tuple[int, int]], message: str, *, now: float
) -> list[Verdict]:
    """Forget copies, by (file, cluster), for which another file arrived; they are made again.

    Their attempts count against the nodes; return each verdict on a node.

    After MOST_SPOILT such attempts since the last retry by a person, the maker is not trusted
    any more: one whose results are in transit fails (`verification`), one that was done is held.
    """
    candidates = [store.row("maker_at", file=file, cluster=cluster) for file, cluster in copies]
    rows = list({row["attempt_id"]: row for row in candidates if row is not None}.values())
    makers = [row for row in rows if row["successes"] >= MOST_SPOILT]
    lost = list(copies)
    for row in makers:
        if row["phase"] == Phase.TRANSFERRING:
            _reject_success(store, row, message, now)
            made = store.rows("made_copies", package=row["id"])
            lost += [(copy["file_id"], copy["cluster_id"]) for copy in made]
    lose(store, dict.fromkeys(lost), now=now)
    note = noted(GivenUp(Reason.VERIFICATION, message))
    for row in makers:
        if row["phase"] == Phase.DONE:
            store.change("hold_unbelieved", package=row["id"], now=now, note=note)
    return black_holes.count_as_failures(store, [_ended(row) for row in rows], now=now)


def _ended(row: Row) -> Ended:
    lasted = row["ended"] - (row["started"] or row["ended"])
    return Ended(row["stage_id"], row["job_id"], row["node_id"], row["id"], row["ended"], lasted,
                 Reason.VERIFICATION)  # fmt: skip


def _reject_success(store: Store, row: Row, message: str, now: float) -> None:
    """transferring -> failed, and then whatever the policy says."""
    attempt, package = row["attempt_id"], row["id"]
    lasted = row["ended"] - (row["started"] or row["ended"])
    failure = Failure(attempt, Reason.VERIFICATION, message, lasted=lasted, rss=row["rss"])
    answer = failures.answer(store, [failure], now=now)[attempt]
    store.change(
        "disbelieve_attempt", attempt=attempt, reason=failure.reason, message=message,
        answer=answer.verdict.value,
    )  # fmt: skip
    store.change("fail_transferring", package=package, now=now, note=answer.note)
    store.change(
        "answer_failed", package=package, now=now, phase=answer.phase,
        not_before=answer.not_before, requirement=answer.requirement, wall_time=answer.wall_time,
        note=answer.note,
    )  # fmt: skip
    store.change("end_result_transfers", package=package)
    store.change("purge_unbelieved", attempt=attempt)
