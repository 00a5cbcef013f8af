"""Nodes that a package avoids because of earlier failures there, and until when."""

from d0ctl.model import Node, NodeCapacity, Reason
from d0ctl.policy import bad_nodes
from d0ctl.policy.remarks import NodeFailing, read
from d0ctl.show.drawing.remark_texts import drain_note, outage_cause, outage_times, remark
from d0ctl.show.why.common import MOST, Explanation, Objection, full_disk, ruled_out
from d0ctl.show.why.subject import Subject
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.draining import BadNode, bad_node, drainings, outages
from d0ctl.store.views.shapes import Exclusion
from d0ctl.units import count, duration, listed, moment, size

DISK_REPORT_S = 60.0
"""A node in contact reports the free space of its disk more often."""

OUTAGES_S = 7 * 86400.0
"""How long outages of a node are shown."""


def objection(subject: Subject, fits: list[NodeCapacity]) -> dict[str, Objection]:
    """Return which of the suitable nodes are avoided because of earlier failures, and why."""
    package, limits = subject.package, node_record.limits(subject.store)
    exclusions = _excluded_for(subject, fits)
    resting = node_record.pauses(
        subject.store, package.stage_id, [row.id for row in fits], subject.now
    )
    for row in fits:
        if row.name not in exclusions and (how := resting.get(row.id)):
            until = bad_nodes.pause_end(how, limits)
            failed = count(how.streak, "attempt of its stage", "attempts of its stage")
            text = f"pauses until {moment(until, subject.now)}: {failed} failed there in a row"
            exclusions[row.name] = Objection(text, "pause", until)
    return exclusions


def _excluded_for(subject: Subject, fits: list[NodeCapacity]) -> dict[str, Objection]:
    """Return the node on which it failed, if its job excludes that node and another is suitable."""
    package = subject.package
    if package.failed_on is None or {row.name for row in fits} <= {package.failed_on}:
        return {}
    for row in node_record.exclusions(subject.store, package.job_id):
        if row.name == package.failed_on:
            why = f"it {_how(row)} there, as did {_failure_share(row)}"
            return {package.failed_on: ruled_out(why)}
    return {}


def _failure_share(row: Exclusion) -> str:
    ran = count(row.successful + row.failed, "attempt")
    return f"{row.failed} of {ran} of this job"


def _how(row: Exclusion) -> str:
    """Say how attempts of a job ended on a node that was down, or that fails packages."""
    if row.lost <= 0:
        return "failed"
    return "got lost" if row.lost >= row.failed else "failed or got lost"


def excluded(row: Exclusion, packages: int) -> str:
    """Say how many packages a job keeps off a node because they failed there, and why."""
    how, run = _how(row), "runs" if packages == 1 else "run"
    kept_off = f"{count(packages, 'package')} that {how} on node `{row.name}` {run} elsewhere"
    return f"{kept_off}: {_failure_share(row)} {how} there"


def drained(store: Store, row: Node, explanation: Explanation, now: float) -> None:
    """Explain a drained node: who drained it, why, and when it is tried again."""
    bad = bad_node(store, row.id)
    why = f": {drain_note(row.drain_note)}" if row.drain_note else ""
    if bad is None:
        explanation.answer = f"node `{row.name}` is drained and takes no new packages{why}"
        return
    since = moment(bad.since, now)
    explanation.answer = (
        f"node `{row.name}` was drained by d0ctl at {since}: {remark(bad.evidence)}"
    )
    values = read(bad.evidence)
    if packages := values.packages if isinstance(values, NodeFailing) else []:
        named = listed(f"`{path}`" for path in packages[:MOST])
        more = f" and {len(packages) - MOST} more" if len(packages) > MOST else ""
        explanation.facts.append(
            f"{named}{more} failed there and went elsewhere; these attempts do not count as tries"
        )
    explanation.facts += [text for text in (trial(bad, now), room_again(row, bad, now)) if text]
    explanation.commands.append(f"d0ctl node check {row.name}")
    if not any(node.state == "up" and not node.drained for node in registry.nodes(store)):
        explanation.facts.append(
            "no other node takes packages now: if the packages are the cause, resume this one"
        )
        if (resume := f"d0ctl node resume {row.name}") not in explanation.commands:
            explanation.commands.append(resume)


def has_room(spare: int | None, taken: int | None, full_at: float, now: float) -> bool:
    """Return whether a disk that was full then has more room than a failed package had taken.

    Its files were removed. The free space may have been reported before the disk was full.
    """
    return now - full_at > DISK_REPORT_S and (spare or 0) > (taken or 0)


def room_again(row: Node, bad: BadNode, now: float) -> str:
    """Say that a full disk has room again, beyond the files of packages that failed."""
    values = read(bad.evidence)
    was_full = isinstance(values, NodeFailing) and Reason.DISK_FULL in values.reasons
    if not was_full or row.state != "up" or full_disk(row):
        return ""
    if not has_room(bad.disk_spare, bad.disk_taken, bad.since, now):
        return ""
    return f"its disk has room for {size(bad.disk_spare)} again: d0ctl node resume {row.name}"


def next_try(row: Node, now: float) -> str:
    """Say when a node that is down is tried again; empty if it is not known."""
    if row.state != "down" or row.next_try is None or row.next_try <= now:
        return ""
    return f"next try in {duration(row.next_try - now)}"


def trial(bad: BadNode, now: float) -> str:
    """Say when one package tries a drained node, or which one does now."""
    again = f" after {count(bad.times, 'rest')}" if bad.times > 1 else ""
    if bad.canary:
        return f"package `{bad.canary}` tries it now{again}"
    if bad.next_try <= now:
        return f"the next package that it can take tries it{again}"
    return f"one package tries it at {moment(bad.next_try, now)}{again}"


def add_pauses(store: Store, row: Node, explanation: Explanation, now: float) -> None:
    """Add the stages of which the node takes no package for a while, after failures there."""
    pauses = node_record.pauses_of_node(store, row.id, now, MOST)
    for pause in pauses:
        failed = count(pause.failed, "attempt failed", "attempts failed")
        until = moment(pause.until, now)
        explanation.facts.append(
            f"it takes no package of `{pause.path}` until {until}: {failed} there in a row"
        )
    if pauses:
        add_new_start(row, explanation)


def add_new_start(row: Node, explanation: Explanation) -> None:
    """Add what to type so that earlier failures on a node, whose cause is gone, count no more."""
    command = f"d0ctl node drain {row.name} && d0ctl node resume {row.name}"
    if not row.drained and command not in explanation.commands:
        explanation.facts.append(
            "once their cause is gone, drain and resume the node: then these failures are forgotten"
        )
        explanation.commands.append(command)


def add_drainings(store: Store, name: str, explanation: Explanation, now: float) -> None:
    """Add who drained and resumed the node recently."""
    for row in drainings(store, name, MOST):
        note = f": {remark(row['note'])}" if row["note"] else ""
        explanation.facts.append(f"{moment(row['at'], now)} {row['actor']}: {row['verb']}{note}")


def add_outages(store: Store, name: str, explanation: Explanation, now: float) -> None:
    """Add when the node was down or full in the last week, the latest first."""
    for outage in outages(store, now - OUTAGES_S, MOST, node=name):
        if outage.ended is not None:
            cause = f": {found}" if (found := outage_cause(outage)) else ""
            explanation.facts.append(f"{' '.join(outage_times(outage, now))}{cause}")
