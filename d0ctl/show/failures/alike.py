"""Why packages that failed alike are not retried, and commands for all of them."""

import time
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from d0ctl.errors import NotFound
from d0ctl.model import Phase
from d0ctl.select import parse
from d0ctl.show.why import advice as retry_advice
from d0ctl.show.why.advice import Advice
from d0ctl.show.why.common import Explanation
from d0ctl.show.why.package import package
from d0ctl.show.why.phases import recovery
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, one_package
from d0ctl.units import count

MOST_KINDS = 3
"""How many kinds of failures are explained."""

SAMPLE = 200
"""How many packages of a job that cool off are read."""


class Kind(Struct, frozen=True):
    """Failures of a job for one reason, with the paths of some, the latest first."""

    job: str
    reason: str
    paths: Sequence[str]


def single(store: Store, path: str, now: float) -> Explanation | None:
    """Explain a failed package; None if it was removed."""
    try:
        return package(store, browse.package(store, parse(path)), now)
    except NotFound:
        return None


def several(
    store: Store,
    kinds: Sequence[Kind],
    selectors: Mapping[str, str],
    *,
    node: str = "",
    acknowledged: Collection[str] = (),
) -> Explanation:
    """Explain kinds of failures, the kind of the latest first.

    Commands use the `selectors` of the jobs, and with a `node` only failures there; a job without a
    selector gets none. Failures of `acknowledged` jobs are not to be acknowledged again.
    """
    explanation = Explanation("", Phase.FAILED, "")
    kinds, reasons = kinds[:MOST_KINDS], {kind.reason for kind in kinds}
    for kind in kinds:
        prefix = f"for {kind.reason}: " if len(reasons) > 1 else ""
        _retry(store, kind, selectors.get(kind.job), node, explanation, prefix)
        explanation.facts += _cooling(store, kind)
    which = f" --node {node}" if node else f" --failed-for {kinds[0].reason}" * (len(reasons) == 1)
    explanation.facts = list(dict.fromkeys(explanation.facts))
    jobs = dict.fromkeys(kind.job for kind in kinds if kind.job in selectors)
    targets = [retry_advice.quoted_parts(selectors[job]) for job in jobs if job not in acknowledged]
    explanation.commands += [f"d0ctl acknowledge {target}{which}" for target in targets]
    explanation.commands.append(f"d0ctl why {kinds[0].paths[0]}")
    return explanation


def _retry(
    store: Store,
    kind: Kind,
    selector: str | None,
    node: str,
    explanation: Explanation,
    prefix: str,
) -> None:
    """Add what the policy did with the latest, and what is known of a retry."""
    target = retry_advice.alike(selector or "", kind.reason, node)
    advice = Advice(may_retry=False)
    try:
        latest = browse.package(store, parse(kind.paths[0]))
        attempts = one_package.attempts(store, latest.id)
        if selector is not None and attempts:
            advice = retry_advice.for_alike(store, target, kind.paths)
    except NotFound:
        return
    last = attempts[-1] if attempts and attempts[-1].reason == kind.reason else None
    if refusal := recovery.refusal(store, latest, last, time.time()):
        explanation.facts += [refusal.rule, *(prefix + why for why in refusal.why)]
    advice.add_to(explanation, target, prefix)


def _cooling(store: Store, kind: Kind) -> list[str]:
    """Say how many more packages failed so, and are tried again by the policy."""
    try:
        job = browse.job(store, kind.job).id
    except NotFound:
        return []
    rows = [row for row in browse.in_phases(store, job, [Phase.COOLOFF], SAMPLE)
            if row.reason == kind.reason]  # fmt: skip
    if not rows:
        return []
    packages = count(len(rows), "package")
    more = f"at least {packages}" if len(rows) == SAMPLE else packages
    return [f"the policy tries {more} more of `{kind.job}` again that failed for `{kind.reason}`, "
            f"such as `{rows[0].path}`"]  # fmt: skip
