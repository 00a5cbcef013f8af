"""What a policy did to a package, in words."""

from d0ctl.explain.common import Explanation
from d0ctl.format import count, duration, moment
from d0ctl.recover.rules import Policy
from d0ctl.store.connection import Row, Store
from d0ctl.store.policies import of_package
from d0ctl.store.views import PackageView

BY_POLICY = "policy"
"""Who holds a package that a policy has put aside."""


def cooling(until: float | None, note: str | None, now: float) -> str:
    """Until when it cools off, which try comes then, and after what."""
    number, after, cause = (note or "").partition(", after ")
    told = f"cooling off until {moment(until, now)}"
    if after:
        return f"{told} ({number}), after {cause}"
    return f"{told}: {note}" if note else told


def held(until: float | None, now: float) -> str:
    """When the policy releases it, if it does."""
    if until is None:
        return "the policy does not release it: a person has to"
    return f"the policy releases it in {duration(until - now)}, at {moment(until, now)}"


def refusal(store: Store, one: PackageView, reason: str | None) -> list[str]:
    """Why what failed was not tried again, and what would have it tried."""
    words = rule(of_package(store, one.id), reason)
    note, mark, why = (one.note or "").rpartition("; ")
    return ([words] if words else []) + ([f"not tried again: {why}"] if note and mark else [])


def but_last(one: PackageView, fits: list[Row], told: Explanation) -> list[Row]:
    """The nodes that fit without that of the last attempt, if the policy leaves it out."""
    others = [row for row in fits if row["name"] != one.avoid]
    if not others or len(others) == len(fits):
        return fits
    told.facts.append(f"node `{one.avoid}` is left out: the last attempt failed there")
    return others


def rule(policy: Policy, reason: str | None) -> str:
    """What the rule for a reason is, and what would change it."""
    if reason is None:
        return ""
    found, keys = policy.rule(reason), policy.said.get(reason, {})
    if found.passive:
        return f"the rule for `{reason}` ({keys['passive'][1]}) is passive: it only counts"
    if not found.tries:
        origin = keys["tries"][1] if "tries" in keys else "default"
        told = f"the policy ({origin}) has no other try for `{reason}`"
        return f"{told}: `policy: {{{reason}: {{tries: 3}}}}` in a job or site file would"
    origin = keys["tries"][1] if "tries" in keys else keys["escalate"][1]
    tries = count(found.tries, "more try", "more tries")
    return f"the policy ({origin}) allows {tries} for `{reason}`"
