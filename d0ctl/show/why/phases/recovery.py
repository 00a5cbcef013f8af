"""What a policy did with a package."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from d0ctl.model import NodeCapacity, Reason
from d0ctl.policy.remarks import Against, GivenUp, InputsLate, TriedAgain, read
from d0ctl.policy.rules import Policy
from d0ctl.show.drawing.remark_texts import against, cause, remark
from d0ctl.show.why.common import Objection
from d0ctl.show.why.stopped_job import EXISTS_NOW
from d0ctl.store.connection import Store
from d0ctl.store.lifecycle import PackageRequest
from d0ctl.store.nodes.site import default
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.policies import of_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import count, duration, moment

ESCALATED = {"out-of-memory": "memory: 1.5", "wall-time": "wall-time: 2"}
"""Reasons for which only a retry with more of a resource helps, and the policy keys."""

_DECIDING = ("tries", "escalate", "hold")
"""Keys that say what follows a failure; the first of them that is set names the origin."""

BY_POLICY = "policy"
"""The actor of a hold by a policy."""


def cooling(until: float | None, note: str | None, now: float) -> str:
    """Say until when it cools off, which try follows, and after which failure."""
    text, again = f"cooling off until {moment(until, now)}", read(note)
    if isinstance(again, TriedAgain):
        return f"{text} (try {again.number} of {again.tries}), after {cause(again)}"
    return f"{text}: {remark(note)}" if note else text


def found_inputs(store: Store, package: PackageView) -> list[str]:
    """Say which files exist now that the last attempt at a package did not find."""
    if not (message := one_package.not_found(store, package.id)):
        return []
    from d0ctl.show.why.causes import absent_files  # late: few packages failed so

    return [f"`{name}` {EXISTS_NOW}"
            for name in absent_files.found_again(store, package, message)]  # fmt: skip


def held(actor: str | None, until: float | None, now: float) -> str:
    """Say when the policy releases a held package, or else until when it would cool off."""
    if actor == BY_POLICY and until is None:
        return "the policy does not release it: a person must"
    if until is None or (actor != BY_POLICY and until <= now):
        return ""
    if actor == BY_POLICY:
        return f"the policy releases it in {duration(until - now)}, at {moment(until, now)}"
    return f"after a release it cools off until {moment(until, now)}"


class Refusal(NamedTuple):
    """The rule for a failure, which names its reason, and why there was no retry, if known."""

    rule: str
    why: list[str]


def refusal(
    store: Store, package: PackageView, last: AttemptView | None, now: float
) -> Refusal | None:
    """Say why a failure was not retried, and which rule applies."""
    if last is None or last.reason is None:
        return None
    end, policy = read(package.note), of_package(store, package.id)
    why = against(end) if isinstance(end, GivenUp) else ""
    reasons = [f"not retried: {why}"] if why else []
    tries = policy.rule(last.reason).tries
    limits = {Against.TRIES: tries, Against.ALL_TRIES: policy.never.tries}
    is_same = isinstance(end, GivenUp) and end.why in limits and limits[end.why] == end.limit
    if tries and not is_same and last.ended is not None:
        what, at = _last_change(store, package, _origin(policy, last.reason))
        if at is not None and at > last.ended:
            reasons.append(f"{what} at {moment(at, now)}, after this failure: "
                           "a rule that it changed did not count yet")  # fmt: skip
    return Refusal(rule(policy, last.reason), reasons)


def _last_change(store: Store, package: PackageView, origin: str) -> tuple[str, float | None]:
    """Return what may have changed a rule last, and when; None if nothing has."""
    if origin == "site":
        from d0ctl.store.clusters.site_changes import last_apply  # late: few rules are refused

        return "the site file was applied", last_apply(store)
    job, at = package.path.partition("/")[0], None
    if origin in ("job", "package"):
        from d0ctl.store.jobs import audit  # late: few rules are refused

        at = entry.at if (entry := audit.on_job_since(store, job, ["update"], 0)) else None
    return f"job `{job}` was updated", at


def avoided(
    package: PackageView, fits: Sequence[NodeCapacity], *, pausing: Collection[str]
) -> dict[str, Objection]:
    """Return the nodes of failed attempts and why they are left out, if the policy avoids them.

    If no other is suitable only the last one is left out, and it is not if it is the only one.
    Nodes that pause for its stage are suitable, too.
    """
    names, avoid = {row.name for row in fits}, (package.avoid or "").split()
    for out in (avoid, avoid[:1]):
        if {*names, *pausing} - {*out}:
            break
    else:
        return {}
    out = [name for name in out if name in names]
    is_late = isinstance(read(package.note), InputsLate)
    why = "its inputs came too late there" if is_late else "an attempt failed there"
    return {name: Objection(f"is avoided: {why}", f"are avoided: {why}") for name in out}


def rule(policy: Policy, reason: str) -> str:
    """Describe the rule for a reason, and the key that would change it."""
    rule, keys = policy.rule(reason), policy.said.get(reason, {})
    if rule.passive:
        return f"the rule for `{reason}` ({keys['passive'][1]}) is passive: it only counts"
    if reason == Reason.KILLED:
        return "a policy never retries killed packages"
    origin = _origin(policy, reason)
    if not rule.tries:
        text = f"the policy ({origin}) does not retry `{reason}`"
        if key := ESCALATED.get(reason):
            return f"{text}: {_with_more(reason, key, keys)}, with more"
        return text
    tries = count(rule.tries, "other try", "other tries")
    return f"the policy ({origin}) allows {tries} for `{reason}`"


def _with_more(reason: str, key: str, keys: Mapping[str, tuple[Any, str]]) -> str:
    """Say which keys would retry a failure with more: `tries: 0` overrides any `escalate`."""
    if "tries" not in keys:
        return f"`policy: {{{reason}: {{escalate: {{{key}}}}}}}` would"
    file = _file_of(keys["tries"][1])
    more, origin = keys.get("escalate", (None, ""))
    if not more:
        rule = f"{{{reason}: {{tries: 1, escalate: {{{key}}}}}}}"
        return f"`policy: {rule}` in place of its `tries: 0` in the {file} would"
    return (f"its `tries: 0` in the {file} overrides `escalate` in the {_file_of(origin)}; "
            "`tries: 1` there would")  # fmt: skip


def _file_of(origin: str) -> str:
    return "job file" if origin in ("job", "package") else "site file"


def _origin(policy: Policy, reason: str) -> str:
    """Return where it is said what follows a failure."""
    keys = policy.said.get(reason, {})
    return next((keys[key][1] for key in _DECIDING if key in keys), "default")


def ends_by_itself_until(store: Store, package: PackageView) -> float | None:
    """Return when a binary that may end by itself gets SIGTERM; None if it never does."""
    if package.request != PackageRequest.KILL_PARTIAL:
        return None
    return package.changed + float(default(store, "partial-grace"))


def barred_all(store: Store, paths: Sequence[str]) -> str:
    """Say why canceled packages can't be retried; empty if one of them can."""
    from d0ctl.select import parse
    from d0ctl.show.why.advice import advice

    said = ""
    for path in paths:
        advised = advice(store, browse.package(store, parse(path)), None)
        if advised.may_retry:
            return ""
        said = said or f"`{path}` {advised.facts[0].removeprefix('it ')}"
    return said
