"""What follows a failed attempt, by the policy of its package."""

import enum
from typing import NamedTuple

from msgspec import Struct

from d0ctl.model import Reason
from d0ctl.policy.remarks import Against, GivenUp, TriedAgain, noted
from d0ctl.policy.rules import JOB, ONLY, RESTARTED, Policy, RetryLimits, Rule

MEMORY_STEP = 10**8
"""The step by which memory grows that follows from what an attempt used."""


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


class Limit(NamedTuple):
    """What is against another try, and the limit that is reached: a number, seconds or bytes."""

    against: Against
    limit: float | None = None


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
    why: Limit | None = None
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
    against = _against(rule, case, number)
    never = None if is_restart else _never(policy.never, rule, case)
    if rule.passive:
        would_try = rule.tries and not (against or never)
        return Judgement(
            Verdict.FAIL, why=Limit(Against.PASSIVE_TRIES if would_try else Against.PASSIVE)
        )
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


def _give_up(rule: Rule, never: Limit | None, against: Limit | None) -> Judgement:
    """Fail or hold; a package that must never be tried again is not released by itself."""
    why, is_elsewhere = never or (against if rule.tries else None), bool(rule.elsewhere)
    if rule.hold == JOB:
        return Judgement(Verdict.FAIL, why=why, elsewhere=is_elsewhere, stops_job=True)
    if not rule.hold:
        return Judgement(Verdict.FAIL, why=why, elsewhere=is_elsewhere)
    delay = None if never else rule.release
    return Judgement(Verdict.HOLD, delay=delay, elsewhere=is_elsewhere, why=why)


def _against(rule: Rule, case: Case, number: int) -> Limit | None:
    """Return why the rule has no other try, or why none could succeed."""
    if number > rule.tries:
        return Limit(Against.TRIES, rule.tries)
    if rule.memory is not None and _has_most_memory(case):
        return Limit(Against.NO_LARGER_NODE)
    if case.reason == Reason.DISK_FULL and _has_filled_disk(case):
        return Limit(Against.DISK)
    if rule.elsewhere == ONLY and not case.has_others:
        return Limit(Against.NO_OTHER_NODE)
    return None


def _has_most_memory(case: Case) -> bool:
    return case.memory is not None and case.largest is not None and case.memory >= case.largest


def _has_filled_disk(case: Case) -> bool:
    """Return whether it would fill its disk again; otherwise other packages have filled it."""
    return case.disk is not None and case.most_disk is not None and case.disk > case.most_disk


def _never(never: RetryLimits, rule: Rule, case: Case) -> Limit | None:
    """Return which limit of `never` forbids another attempt."""
    if never.attempt is not None and case.lasted > never.attempt:
        return Limit(Against.TIME, never.attempt)
    if never.all_attempts is not None and case.all_lasted > never.all_attempts:
        return Limit(Against.ALL_TIME, never.all_attempts)
    limit = case.memory or never.memory
    if rule.memory is None and limit is not None and (case.rss or 0) > limit:
        return Limit(Against.MEMORY, limit)
    if not case.reported:
        return Limit(Against.NO_REPORT)
    if never.tries is not None and case.failures > never.tries:
        return Limit(Against.ALL_TRIES, never.tries)
    return None


def _more_memory(rule: Rule, case: Case) -> int | None:
    """Return the memory of the next attempt, at most that of the largest node; None: unchanged."""
    had = case.memory or case.rss
    if rule.memory is None or not had:
        return None
    more, used = int(had * rule.memory), case.rss or 0
    if case.memory is None:
        more = -(-more // MEMORY_STEP) * MEMORY_STEP
    if more <= used:  # it would fail again
        more = (used // MEMORY_STEP + 1) * MEMORY_STEP
    return more if case.largest is None else min(more, max(case.largest, had))


def _more_time(rule: Rule, case: Case) -> float | None:
    if rule.wall_time is None or case.wall_time is None:
        return None
    return case.wall_time * rule.wall_time


def note(reason: str, message: str | None, judgement: Judgement) -> str:
    """Return what is noted of a failure: the next try, or why there is none."""
    if judgement.is_again:
        return noted(TriedAgain(reason, judgement.number, judgement.tries, message or None))
    why, limit = judgement.why or (None, None)
    return noted(GivenUp(reason, message or None, why, limit))
