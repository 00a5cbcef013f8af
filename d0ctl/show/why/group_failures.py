"""The failures of a job, stage or line, and the commands that retry them."""

from collections import Counter
from collections.abc import Sequence

from d0ctl.model import Group, Phase, roll_up
from d0ctl.show.why.common import MOST, Explanation, GroupPart
from d0ctl.show.why.stopped_job import RETRY_RELEASES, found_inputs
from d0ctl.store.connection import Store
from d0ctl.store.views.shapes import FailureView, PackageRow
from d0ctl.units import count, likeness, listed

SAMPLE = 200
"""How many of the latest failures are counted by reason."""

MOST_BLOCKED = 100
"""How many blocked packages are read to find the failures that block them."""


def add(store: Store, part: GroupPart, explanation: Explanation) -> None:
    """Add how many packages have failed, why the last one has, and commands that retry them."""
    total = part.counts.get("failed", 0)
    latest = [*part.failures(SAMPLE)] or part.sample([Phase.FAILED], MOST)
    if not latest:
        explanation.add(f"{part.title} has {count(total, 'failed package')}", [])
        return
    last = part.explain(latest[0].path)
    status = roll_up(part.counts, blocked=part.job.blocked)
    verb = "failed" if status == Group.FAILED else "has failures"
    failed = f"{count(total, 'package')} failed, the last {_after(last)}"
    explanation.add(f"{part.title} {verb}: {failed}", [])
    explanation.stderr = last.stderr
    if len(latest) == 1:
        explanation.take(last)
    else:
        if known := part.acknowledged:
            are = "failures is" if known == 1 else "failures are"
            how_many = f"all {known:,}" if known == total else f"{known:,} of {total:,}"
            explanation.facts.append(f"{how_many} {are} acknowledged")
        explanation.facts += found_inputs(last)
        _by_reason(store, part, explanation, latest, total)
        explanation.commands += [f"d0ctl why {latest[0].path}", f"d0ctl history {part.path}"]


def _by_reason(
    store: Store,
    part: GroupPart,
    explanation: Explanation,
    latest: Sequence[FailureView | PackageRow],
    total: int,
) -> None:
    """Add the failures by reason, and one retry command for each reason."""
    reasons = Counter(failure.reason or "unknown" for failure in latest)
    at_least = "at least " if total > len(latest) else ""
    parts = [f"{number:,} for {reason}{_messages(latest, reason)}"
             for reason, number in reasons.most_common()]  # fmt: skip
    explanation.facts.append(f"failed: {at_least}{listed(parts)}")
    for reason, _ in reasons.most_common(MOST):
        paths = [failure.path for failure in latest if failure.reason == reason][:MOST]
        if not paths:
            continue
        from d0ctl.show.why.advice import alike, for_alike  # most parts have no such failures

        target = alike(part.in_phase(Phase.FAILED), reason)
        for_alike(store, target, paths).add_to(explanation, target, f"for {reason}: ")


def _messages(latest: Sequence[FailureView | PackageRow], reason: str) -> str:
    """Say how many messages the failures for a reason have that differ in more than numbers."""
    messages = {likeness(failure.message) for failure in latest if failure.reason == reason}
    return f" (with {len(messages)} different messages)" if len(messages) > 1 else ""


def _after(last: Explanation) -> str:
    return f"`{last.path}`" + (f": {last.reason}" if last.reason else "")


def retry_first(part: GroupPart, explanation: Explanation) -> None:
    """Suggest a retry before the release of a job that is held for its failures.

    A retry releases it, too, and begins with the failed packages; a release alone runs the rest.
    """
    if not (part.job.is_held_by_d0ctl and part.job.counts.get(Phase.FAILED)):
        return
    explanation.facts.append(RETRY_RELEASES)
    retries = [text for text in explanation.commands if text in explanation.retries]
    if not retries:
        from d0ctl.show.why.advice import alike, is_deterministic

        reasons = dict.fromkeys(failure.reason for failure in part.failures(SAMPLE))
        retries = [f"d0ctl retry {alike(part.in_phase(Phase.FAILED), reason)}"
                   for reason in reasons if reason and is_deterministic(reason, 127)]  # fmt: skip
    others = [text for text in explanation.commands if text not in retries]
    explanation.commands[:] = retries + others
