"""What a policy did to a package, in words."""

from d0ctl.model import Reason
from d0ctl.policy.rules import Policy
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.site import default
from d0ctl.store.views.policies import of_package
from d0ctl.store.views.shapes import AttemptView, PackageView
from d0ctl.units import count, duration, moment

ESCALATED = {"out-of-memory": "memory: 1.5", "wall-time": "wall-time: 2"}
"""Reasons for which a retry helps only with more, and the key that gives more."""

BY_POLICY = "policy"
"""Who holds a package that a policy has put aside."""


def cooling(until: float | None, note: str | None, now: float) -> str:
    """Until when it cools off, which try comes then, and after what."""
    number, after, cause = (note or "").partition(", after ")
    told = f"cooling off until {moment(until, now)}"
    if after:
        return f"{told} ({number}), after {cause}"
    return f"{told}: {note}" if note else told


def held(actor: str | None, until: float | None, now: float) -> str:
    """When the policy releases it, if it does; else what is left of its cool-off, or nothing."""
    if actor == BY_POLICY and until is None:
        return "the policy does not release it: a person has to"
    if until is None or (actor != BY_POLICY and until <= now):
        return ""
    if actor == BY_POLICY:
        return f"the policy releases it in {duration(until - now)}, at {moment(until, now)}"
    return f"after a release it cools off until {moment(until, now)}"


def refusal(store: Store, one: PackageView, last: AttemptView | None) -> list[str]:
    """Why what failed was not tried again, and what would have it tried."""
    if last is None or last.reason is None:
        return []
    told = f"{last.reason}: {last.message}; " if last.message else f"{last.reason}; "
    facts = [rule(of_package(store, one.id), last.reason)]
    if one.note and one.note.startswith(told):
        facts.append(f"not tried again: {one.note.removeprefix(told)}")
    return facts


def but_last(one: PackageView, fits: list[Row], told: Explanation) -> list[Row]:
    """The nodes that fit without that of the last attempt, if the policy leaves it out."""
    others = [row for row in fits if row["name"] != one.avoid]
    if not others or len(others) == len(fits):
        return fits
    told.facts.append(f"node `{one.avoid}` is left out: the last attempt failed there")
    return others


def rule(policy: Policy, reason: str) -> str:
    """What the rule for a reason is, and what would change it."""
    found, keys = policy.rule(reason), policy.said.get(reason, {})
    if found.passive:
        return f"the rule for `{reason}` ({keys['passive'][1]}) is passive: it only counts"
    if reason == Reason.KILLED:
        return "what was killed is never tried again by a policy"
    if not found.tries:
        origin = keys["tries"][1] if "tries" in keys else "default"
        told = f"the policy ({origin}) does not retry `{reason}`"
        if key := ESCALATED.get(reason):
            return f"{told}: `policy: {{{reason}: {{escalate: {{{key}}}}}}}` would, with more"
        return told
    origin = keys["tries"][1] if "tries" in keys else keys["escalate"][1]
    tries = count(found.tries, "other try", "other tries")
    return f"the policy ({origin}) has {tries} for `{reason}`"


def ends_by_itself_until(store: Store, package: PackageView) -> float | None:
    """When a binary whose outputs are to be kept gets TERM, unless it has ended; None if never."""
    if package.request != "kill partial":
        return None
    return package.changed + float(default(store, "partial-grace"))
