"""How a package ended, the effects on others, and whether a retry helps."""

import json
import re
from collections.abc import Sequence

from d0ctl.model import Reason
from d0ctl.policy.remarks import GivenUp, Remark, read
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.why.advice import advice, is_redefined
from d0ctl.show.why.common import MOST
from d0ctl.show.why.phases import dropped_line, recovery, waiting
from d0ctl.show.why.phases.leftovers import NO_MAKER
from d0ctl.show.why.subject import Subject, suggest_log
from d0ctl.store.jobs import accept, audit
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.site import default
from d0ctl.store.views import dependencies, one_package
from d0ctl.store.views.shapes.of_package import AttemptView
from d0ctl.units import likeness, listed, moment, size
from d0ctl_wrapper import merge_types

OVERRULED = frozenset({
    Reason.EXIT_CODE, Reason.VERIFICATION, Reason.WALL_TIME, Reason.LOG_MESSAGE, Reason.LOOPING,
    Reason.LOST, Reason.HOOK,
})  # fmt: skip
"""Reasons for which a package may have made complete outputs."""

REMOVED = (Remark.KEPT_OUTPUTS_REMOVED, Remark.KEPT_OUTPUTS_EXPIRED)
"""Why outputs that an attempt left are gone."""

_EXCEPTION = (
    r"(?m)^Traceback \(most recent call last\)|terminate called|^[\w.]*(?:Error|Exception)\b"
)
"""The output of a program that was ended by an exception."""


def failed(subject: Subject) -> None:
    """Explain a failed package: its last attempt, who waits for it, and what can be done."""
    package, explanation = subject.package, subject.explanation
    tries = one_package.attempts(subject.store, package.id)
    last = tries[-1] if tries else None
    explanation.reason = _reason(last) or remark(package.note) or "for no known reason"
    explanation.answer = f"{subject.name} failed: {explanation.reason}"
    if last:
        _last_attempt(subject, last)
        _check(subject, last)
        _blamed_node(subject, last, tries[:-1])
        _other_failure(subject, last, tries[:-1])
    if (seen := one_package.acknowledgement(subject.store, package.id)) is not None:
        because = f": {seen.note}" if seen.note else ""
        subject.fact(f"acknowledged by {seen.actor} at {moment(seen.at, subject.now)}{because}")
    consumers = dependencies.readers_of(subject.store, package.id, MOST)
    if consumers:
        more = " and others" if len(consumers) == MOST else ""
        are = "waits" if len(consumers) == 1 else "wait"
        names = listed(f"`{path}`" for path in consumers)
        subject.fact(f"{names}{more} {are} for its files")
    if refusal := recovery.refusal(subject.store, package, last, subject.now):
        explanation.facts += [refusal.rule, *refusal.why]
    acceptable = _left_outputs(subject, tries)
    if last and is_redefined(package, last):
        when = moment(package.redefined, subject.now)
        subject.fact(f"`update` changed what it runs, reads or makes at {when}, after this failure:"
                     " a retry runs the new definition")  # fmt: skip
    if last:
        explanation.facts += recovery.found_inputs(subject.store, package)
        suggest_log(subject, last)
    advice(subject.store, package, last).add_to(explanation, package.path)
    if package.line_dropped is None and dropped_line.is_of_use(subject.store, package.path):
        line = package.path.rpartition("/")[0]
        subject.command(f"d0ctl kill-line {line} --drop-outputs")
    if acceptable:
        subject.fact("d0ctl does not know whether these outputs are complete: look at them before "
                     "`set-status` takes them as they are")  # fmt: skip
        subject.command(f"d0ctl set-status {package.path} successful")
    _suggest_verifying(subject, last.node_name if last else None)


def _reason(last: AttemptView | None) -> str:
    """Return why an attempt has failed; empty if it has not."""
    return ": ".join(word for word in (last and last.reason, last and last.message) if word)


def _last_attempt(subject: Subject, last: AttemptView) -> None:
    """Say where and when an attempt has failed, with the end of its log."""
    binary = f" in binary {last.binary}" if last.binary else ""
    subject.fact(f"on node `{last.node_name}`, {moment(last.ended, subject.now)}{binary}, "
                      f"attempt {last.number}")  # fmt: skip
    stderr = (last.stderr or "").strip()
    subject.explanation.stderr = None if stderr and stderr in (last.message or "") else last.stderr


def _check(subject: Subject, last: AttemptView) -> None:
    """Name the command that found its outputs to be bad; an update may have changed it since."""
    if last.reason != Reason.VERIFICATION or not (last.message or "").startswith("the check of "):
        return
    updated = audit.on_job_since(subject.store, subject.job.name, ["update"], 0)
    now = " now" if updated is not None and updated.at > (last.ended or 0.0) else ""
    for binary in one_package.binaries(subject.store, subject.package.id):
        if binary.seq == last.binary and binary.check:
            first, *more = binary.check.strip().splitlines()
            subject.fact(f"the check is{now} `{first}{' ...' if more else ''}`")


def _blamed_node(subject: Subject, last: AttemptView, earlier: Sequence[AttemptView]) -> None:
    """Say that it ran again since its node was thought to be the cause of the same failure."""
    before = earlier[-1] if earlier else None
    if before is None or last.kind != "restart" or before.node_name == last.node_name:
        return
    if before.reason == last.reason != Reason.LOST:
        subject.fact(f"attempt {before.number} failed for the same reason on `{before.node_name}`: "
                     "the node might be the cause, so d0ctl ran it again elsewhere")  # fmt: skip


def _other_failure(subject: Subject, last: AttemptView, earlier: Sequence[AttemptView]) -> None:
    """Name the latest other failure: the node may be the cause of the last one, and not of this."""
    since, like = subject.package.redefined or 0.0, likeness(_reason(last))
    others = [attempt for attempt in earlier
              if attempt.reason and (attempt.ended or 0.0) > since
              and likeness(_reason(attempt)) != like]  # fmt: skip
    if others:
        other = others[-1]
        subject.fact(f"attempt {other.number}, on `{other.node_name}`, failed otherwise: "
                     f"{_reason(other)}")  # fmt: skip


def _left_outputs(subject: Subject, tries: Sequence[AttemptView]) -> bool:
    """Say which outputs its attempts left, and until when; return whether they can be accepted.

    Empty files do not count, nor do those of a program that did not start or that crashed.
    """
    left = [
        attempt for attempt in tries if attempt.left_size is not None and attempt.ended is not None
    ]
    if not left:
        _removed_outputs(subject, tries)
        return False
    last = left[-1]
    until = (last.ended or 0.0) + default(subject.store, "keep-failed")
    if last.left_size:
        where = f"in `{last.base}/cache/{last.id}` " if last.base else ""
        subject.fact(f"its outputs ({size(last.left_size)}) stay {where}on `{last.node_name}` "
                     f"until {moment(until, subject.now)}, or until its disk is full")  # fmt: skip
    if subject.package.stay:
        subject.fact("a retry only delivers them; with --from-scratch it produces them again")
        return False
    return _may_overrule(subject, last) and accept.is_acceptable(subject.store, subject.package.id)


def _removed_outputs(subject: Subject, tries: Sequence[AttemptView]) -> None:
    """Say when the outputs that the last attempt left were removed, and why."""
    for note in one_package.notes(subject.store, subject.package.id):
        if note.number == len(tries) and read(note.text) in REMOVED:
            subject.fact(f"{remark(note.text)}, {moment(note.at, subject.now)}")


def _may_overrule(subject: Subject, last: AttemptView) -> bool:
    """Return whether its outputs may be complete in spite of the failure."""
    reason = last.reason or ""
    if reason not in OVERRULED and not reason.startswith("site:"):
        return False
    if re.search(_EXCEPTION, last.stderr or ""):
        return False
    failed = [binary for binary in one_package.binaries(subject.store, subject.package.id)
              if binary.seq == last.binary]  # fmt: skip
    return not any(merge_types.PROGRAM in (package.argv or "") for package in failed)


def _suggest_verifying(subject: Subject, node: str | None) -> None:
    """Suggest to verify the files of its software on the node where it failed."""
    catalogue = Catalogue(subject.store)
    for title in json.loads(subject.package.software):
        if node and any(row["archive"] for row in catalogue.entries(title)):
            subject.command(f"d0ctl software verify {title} --node {node}")


def canceled(subject: Subject) -> None:
    """Explain a canceled or dropped package."""
    package, action = subject.package, subject.last_end()
    word = "dropped" if package.phase == "dropped" else "canceled"
    by = (
        f" by {action.actor}, {moment(action.at, subject.now)}"
        if action
        else f", {subject.since()}"
    )
    note = (action.note if action else None) or package.note
    note = None if isinstance(read(note), GivenUp) else remark(note)  # that is why it failed before
    is_said = bool(note and action and note.endswith(f" by {action.actor}"))
    ended = f"was {word}{by}" + (f": {note}" if note and not is_said else "")
    subject.explanation.answer = f"{subject.name} {ended}"
    tries = one_package.attempts(subject.store, package.id)
    if package.line_named:
        subject.fact("its line is dropped: packages that can run without it do so")
        if tries and (why := _reason(tries[-1])):
            subject.fact(f"its last attempt failed: {why}")
    elif package.phase == "dropped" and tries and (why := _reason(tries[-1])):
        subject.explanation.answer = f"{subject.name} failed: {why}"
        _last_attempt(subject, tries[-1])
        subject.fact(f"it {ended}")
        suggest_log(subject, tries[-1])
    elif package.phase == "dropped" and package.note not in (
        Remark.REPACKAGED,
        Remark.OUTDATED_MERGE,
    ):
        dropped_line.add_restoring(subject.store, subject.explanation, package.line_id, subject.now)
    if package.phase == "canceled":
        waiting.add_ended(subject)
        if package.note == Remark.MAKER_REMOVED:
            subject.fact(NO_MAKER)
        else:
            targets = waiting.retry_targets(subject.store, package.id, package.path)
            advice(subject.store, package, None).add_to(subject.explanation, targets)
    elif package.line_named:
        dropped_line.add_restoring(subject.store, subject.explanation, package.line_id, subject.now)
    subject.command(f"d0ctl history {package.path}")
