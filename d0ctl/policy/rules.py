"""Policies as data: the defaults, and the keys that site, software, job and package set."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct, field

from d0ctl.model import Reason

ONLY = "only"
"""The value of `elsewhere` for failures that would happen again on the same node."""

JOB = "job"
"""The value of `hold` for failures after which the whole job is held."""

NEVER = "never"
"""The entry of a policy with the limits that hold for all reasons."""

RESTARTED = frozenset({Reason.LOST, Reason.PLATFORM_FAILURE})
"""Reasons that the package did not cause (CRAB3, Automatic Restart Policies)."""

ESCALATED_TRIES = 3
"""The tries of a rule that escalates and sets no number of tries."""

Said: TypeAlias = Mapping[str, Mapping[str, Any]]
"""A policy as written: keys for each reason, and for `never`."""

Layer: TypeAlias = tuple[str, Said]
"""The origin of a policy, and its keys."""

_GROWTH = ("factor", "longest")
"""Keys that belong to the delay of the same policy."""

_MINUTE, _HOUR = 60.0, 3600.0

_TRANSFER = {"tries": 10, "delay": [5 * _MINUTE], "factor": 2.0, "longest": _HOUR}
_RESTART = {"tries": 10, "priority": 10}

DEFAULTS: Said = {
    NEVER: {"attempt": 24 * _HOUR, "all-attempts": 36 * _HOUR, "memory": 2 * 10**9, "tries": 10},
    Reason.STAGE_IN: _TRANSFER,
    Reason.STAGE_OUT: _TRANSFER,
    Reason.MISSING_INPUT: _TRANSFER,
    Reason.SOFTWARE_MISSING: {
        "tries": 10, "delay": [15.0], "factor": 2.0, "longest": 10 * _MINUTE, "elsewhere": ONLY,
    },
    Reason.DISK_FULL: {"tries": 3, "delay": [10 * _MINUTE], "elsewhere": True},
    Reason.HOOK: {"tries": 3, "delay": [5 * _MINUTE]},
    Reason.LAUNCH_FAILED: {
        "tries": 3, "delay": [30.0], "elsewhere": True, "hold": True, "release": 5 * _MINUTE,
    },
    Reason.LOST: _RESTART,
    Reason.PLATFORM_FAILURE: _RESTART,
}  # fmt: skip
"""The default rules: those of CRAB3, and more for other reasons (docs/policy.md)."""


class Rule(Struct, frozen=True):
    """What follows a failure for one reason; times are in seconds, factors more than 1."""

    tries: int = 0
    delay: tuple[float, ...] = ()
    factor: float = 1.0
    longest: float | None = None
    elsewhere: bool | str = False
    memory: float | None = None
    wall_time: float | None = None
    priority: int = 0
    hold: bool | str = False
    release: float | None = None
    passive: bool = False

    def pause(self, number: int) -> float:
        """Return how long to wait before the try of this number, counted from 1."""
        if not self.delay:
            return 0.0
        listed = self.delay[min(number, len(self.delay)) - 1]
        grown = listed * self.factor ** min(max(0, number - len(self.delay)), 60)
        return grown if self.longest is None else min(grown, self.longest)


class RetryLimits(Struct, frozen=True):
    """Limits of CRAB3 on further attempts; None is no limit. Times in seconds, memory in bytes."""

    attempt: float | None = None
    all_attempts: float | None = None
    memory: int | None = None
    tries: int | None = None


class Policy(Struct, frozen=True):
    """The policy of some packages, and the origin of each key of each rule."""

    never: RetryLimits
    rules: Mapping[str, Rule]
    said: Mapping[str, Mapping[str, tuple[Any, str]]] = field(default_factory=dict)

    def rule(self, reason: str) -> Rule:
        """Return the rule for a reason; without one, the package stays failed."""
        return self.rules.get(reason, _NOTHING)


_NOTHING = Rule()


def combine(layers: Iterable[Layer]) -> Policy:
    """Combine policies key by key over the defaults; the later ones override the earlier.

    Setting `delay` resets `factor` and `longest`, which describe how the old delay grows.
    """
    said: dict[str, dict[str, tuple[Any, str]]] = {}
    for origin, policy in (("default", DEFAULTS), *layers):
        for reason, keys in policy.items():
            entry = said.setdefault(str(reason), {})
            if "delay" in keys:
                for key in _GROWTH:
                    entry.pop(key, None)
            entry.update({key: (value, origin) for key, value in keys.items()})
    plain = {
        reason: {key: value for key, (value, _) in keys.items()} for reason, keys in said.items()
    }
    never = RetryLimits(**{key.replace("-", "_"): value for key, value in plain.pop(NEVER).items()})
    return Policy(never, {reason: _rule(keys) for reason, keys in plain.items()}, said)


def _rule(keys: Mapping[str, Any]) -> Rule:
    more = keys.get("escalate") or {}
    tries = keys.get("tries", ESCALATED_TRIES if more else 0)
    return Rule(
        tries=tries, delay=tuple(keys.get("delay", ())), factor=keys.get("factor", 1.0),
        longest=keys.get("longest"), elsewhere=keys.get("elsewhere", False),
        memory=more.get("memory"), wall_time=more.get("wall-time"),
        priority=keys.get("priority", 0), hold=keys.get("hold", False),
        release=keys.get("release"), passive=keys.get("passive", False),
    )  # fmt: skip
