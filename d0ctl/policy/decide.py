"""What follows a failed attempt, by the policy of its package."""

import enum

from msgspec import Struct

from d0ctl.model import Reason
from d0ctl.policy.rules import JOB, ONLY, RESTARTED, Policy, RetryLimits, Rule
from d0ctl.units import duration, size, times

MEMORY_STEP = 10**8
"""The step by which the memory of packages without a request grows."""


class Verdict(enum.Enum):
    """What happens to a package whose attempt failed."""

    FAIL = "fail"
    """It stays failed until a person drops or retries it (D0 Job Definition, section 5)."""
    HOLD = "hold"
    """It is held until a person, or the rule after some time, releases it."""
    RESUBMIT = "resubmit"
    """It is tried again, which counts (CRAB3, Automatic Resubmit Policies)."""
    RESTART = "restart"
    """It was lost, so it runs again and no attempt counts (CRAB3, Automatic Restart Policies)."""


class Case(Struct, frozen=True):
    """A failed attempt and the history of its package; times in seconds, sizes in bytes.

    `tries` counts the failures for this reason, `failures` those for any reason that counts,
    both since the last submit or retry by a person and with this one. `memory`, `most_disk` and
    `wall_time` are the package's limits, `rss` and `disk` its use, `largest` is the memory of
    the largest node; `has_others` means that there is another suitable node without such a failure.
    """

    reason: str
    restarts: int = 0
    tries: int = 1
    failures: int = 1
    lasted: float = 0.0
    all_lasted: float = 0.0
    rss: int | None = None
    memory: int | None = None
    wall_time: float | None = None
    disk: int | None = None
    most_disk: int | None = None
    largest: int | None = None
    has_others: bool = True
    reported: bool = True


class Judgement(Struct, frozen=True):
    """A verdict, the seconds until the package is tried again or released, and the changes then.

    The next try is number `number` of `tries`; `why` is the reason if there is none.
    """

    verdict: Verdict
    delay: float | None = None
    number: int = 0
    tries: int = 0
    elsewhere: bool = False
    priority: int = 0
    memory: int | None = None
    wall_time: float | None = None
    why: str = ""
    stops_job: bool = False
    """Whether the whole job is held."""

    @property
    def is_again(self) -> bool:
        """Whether it runs again without a person."""
        return self.verdict in (Verdict.RESUBMIT, Verdict.RESTART)


def judge(policy: Policy, case: Case) -> Judgement:
    """Decide what follows a failed attempt."""
    rule = policy.rule(case.reason)
    is_restart = case.reason in RESTARTED
    number = case.restarts + 1 if is_restart else case.tries
    against = (
        _used_up(rule, number)
        or _no_more_memory(rule, case)
        or _too_large(case)
        or _nowhere(rule, case)
    )
    never = "" if is_restart else _never(policy.never, rule, case)
    if rule.passive:
        would = "it would be tried again" if rule.tries and not (against or never) else ""
        return Judgement(Verdict.FAIL, why=f"the rule is passive{': ' + would if would else ''}")
    if against or never:
        return _give_up(rule, never, against)
    return Judgement(
        Verdict.RESTART if is_restart else Verdict.RESUBMIT,
        delay=rule.pause(number),
        number=number,
        tries=rule.tries,
        elsewhere=bool(rule.elsewhere),
        priority=rule.priority,
        memory=_more_memory(rule, case),
        wall_time=_more_time(rule, case),
    )


def _give_up(rule: Rule, never: str, against: str) -> Judgement:
    """Fail or hold; a package that must never be tried again is not released by itself."""
    why = never or (against if rule.tries else "")
    if rule.hold == JOB:
        return Judgement(Verdict.FAIL, why=why, stops_job=True)
    if not rule.hold:
        return Judgement(Verdict.FAIL, why=why)
    delay = None if never else rule.release
    return Judgement(Verdict.HOLD, delay=delay, elsewhere=bool(rule.elsewhere), why=why)


def _used_up(rule: Rule, number: int) -> str:
    return f"it was tried again {times(rule.tries)}" if number > rule.tries else ""


def _never(never: RetryLimits, rule: Rule, case: Case) -> str:
    """Return which limit of `never` forbids another attempt; empty if none does."""
    if never.attempt is not None and case.lasted > never.attempt:
        return f"the last attempt lasted more than {duration(never.attempt)}"
    if never.all_attempts is not None and case.all_lasted > never.all_attempts:
        return f"all attempts together lasted more than {duration(never.all_attempts)}"
    limit = case.memory or never.memory
    if rule.memory is None and limit is not None and (case.rss or 0) > limit:
        return f"the last attempt used more than {size(limit)} of memory"
    if not case.reported:
        return "the last attempt left no report of its end"
    if never.tries is not None and case.failures > never.tries:
        return f"it was tried again {times(never.tries)} since it was submitted"
    return ""


def _too_large(case: Case) -> str:
    """Return why it would fill its disk again; empty if other packages filled it."""
    if case.reason != Reason.DISK_FULL or case.disk is None or case.most_disk is None:
        return ""
    return "it needs more disk than it requests" if case.disk > case.most_disk else ""


def _nowhere(rule: Rule, case: Case) -> str:
    if rule.elsewhere != ONLY or case.has_others:
        return ""
    return "no other node can take it"


def _no_more_memory(rule: Rule, case: Case) -> str:
    """Return why more memory is impossible; empty if it is possible or not needed."""
    if rule.memory is None or case.memory is None or case.largest is None:
        return ""
    return "no node has more memory" if case.memory >= case.largest else ""


def _more_memory(rule: Rule, case: Case) -> int | None:
    """Return the memory of the next attempt, at most that of the largest node; None: unchanged."""
    had = case.memory or case.rss
    if rule.memory is None or not had:
        return None
    more = int(had * rule.memory)
    if case.memory is None:
        more = -(-more // MEMORY_STEP) * MEMORY_STEP
    return more if case.largest is None else min(more, max(case.largest, had))


def _more_time(rule: Rule, case: Case) -> float | None:
    if rule.wall_time is None or case.wall_time is None:
        return None
    return case.wall_time * rule.wall_time


def sentence(reason: str, message: str | None, judgement: Judgement) -> str:
    """Return the reason, its message, and why there is no other try."""
    cause = f"{reason}: {message}" if message else reason
    if judgement.is_again:
        return f"try {judgement.number} of {judgement.tries}, after {cause}"
    return f"{cause}; {judgement.why}" if judgement.why else cause
