"""What follows which failure, and which file says so."""

from collections.abc import Mapping, Sequence
from typing import Any

from d0ctl.policy.rules import Policy
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.views.policies import InForce, Trial
from d0ctl.units import count, format_size, format_time, listed

_TIMES = ("longest", "release", "attempt", "all-attempts")


def draw(sheet: Sheet, policies: Sequence[InForce]) -> None:
    """Draw the policies in force, each with its packages."""
    for policy in policies:
        if title := _title(policy, len(policies) > 1):
            sheet.add((title, "strong"))
        rows = [
            _row(reason, policy.policy)
            for reason in sorted(policy.policy.said)
            if reason != "never"
        ]
        heads: list[Cell] = [(word, "faint") for word in ("reason", "from", "action")]
        sheet.rows([heads, *rows])
        sheet.say("any other reason: it stays failed until a person retries or drops it")
        sheet.say(f"never again: {_never(policy.policy)}")
        if len(policies) > 1:
            sheet.add()
    if policies and (selector := policies[0].differs_in):
        sheet.say(f"some packages have rules of their own: d0ctl policy show '{selector}'")


def draw_trial(sheet: Sheet, trials: Sequence[Trial], *, has_new_rules: bool) -> None:
    """Draw what followed failures, beside the answers of another policy.

    With other log rules, some might have had another reason.
    """
    if not trials:
        sheet.add("no failures in this time")
        return
    heads: list[Cell] = [(word, "faint") for word in ("reason", "failures", "happened", "would be")]
    rows = [[trial.reason, f"{trial.count:,}", _counts(trial.happened), _counts(trial.would)]
            for trial in trials]  # fmt: skip
    sheet.rows([heads, *rows])
    sheet.say("each failure is judged as it was recorded; the outcome of further tries is unknown")
    if has_new_rules:
        sheet.say("the `log-rules` of the file differ from those in force, and are not tried: "
                  "each failure keeps the reason that it had")  # fmt: skip


def _counts(counted: Mapping[str, int]) -> str:
    return listed(
        f"{n:,} {outcome}" for outcome, n in sorted(counted.items(), key=lambda pair: -pair[1])
    )


def _title(rule: InForce, is_one_of_many: bool) -> str:
    if rule.packages is not None:
        number = "" if rule.packages == 1 else f"{count(rule.packages, 'package')}, such as "
        return f"for {number}{rule.sample or ''}"
    return (
        f"for packages with {', '.join(rule.software)}" if rule.software and is_one_of_many else ""
    )


def _row(reason: str, policy: Policy) -> list[Cell]:
    keys = policy.said[reason]
    return [reason, _origins(policy, reason),
            ", ".join(_key_texts(key, value) for key, (value, _) in keys.items())]  # fmt: skip


def _origins(policy: Policy, reason: str) -> str:
    """Return the origin of a rule; if there are several, the keys of each."""
    by: dict[str, list[str]] = {}
    for key, (_, origin) in policy.said[reason].items():
        by.setdefault(origin, []).append(key)
    if len(by) == 1:
        return next(iter(by))
    return "; ".join(f"{origin}: {', '.join(keys)}" for origin, keys in by.items())


def _key_texts(key: str, value: Any) -> str:
    """Return a key and its value as a site file has them."""
    if key == "delay":
        return f"delay {' '.join(format_time(seconds) for seconds in value)}"
    if key == "escalate":
        return " ".join(f"{name} x{factor:g}" for name, factor in value.items())
    if isinstance(value, bool):
        return key if value else f"no {key}"
    if key in _TIMES:
        return f"{key} {format_time(value)}"
    return f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"


def _never(policy: Policy) -> str:
    limits = []
    for key, (value, origin) in policy.said["never"].items():
        limit = "no limit" if value is None else _limit(key, value)
        limits.append(f"{key} {limit}" + ("" if origin == "default" else f" ({origin})"))
    return ", ".join(limits)


def _limit(key: str, value: float) -> str:
    if key in _TIMES:
        return f"over {format_time(value)}"
    return f"over {format_size(int(value))}" if key == "memory" else f"after {value} of them"
