"""`d0ctl policy`: what follows which failure, and who said so."""

import time
from typing import TYPE_CHECKING, Any

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, paint, table
from d0ctl.units import clean, count, format_size, format_time

if TYPE_CHECKING:
    from d0ctl.cli.schemas import reports
    from d0ctl.policy.rules import Policy
    from d0ctl.store.views.policies import InForce

app = group("What d0ctl does after each kind of failure: show.")

_TIMES = ("longest", "release", "attempt", "all-attempts")


@app.command()
def show(selector: options.MaybeTarget = None, json: options.Json = False) -> None:
    """Show what follows which failure, and where each rule comes from."""
    wanted = None if selector is None else select.parse(selector)
    found = _read(wanted)
    if json:
        emit_json({"selector": selector, "policies": [_document(one) for one in found]})
        return
    for one in found:
        _draw(one, len(found) > 1)


def _read(wanted: select.Selector | None) -> "list[InForce]":
    from d0ctl.policy.rules import combine
    from d0ctl.store.views.policies import InForce, in_force

    if wanted is None and not session.has_home():
        return [InForce(combine([]))]
    with session.reader() as store, store.reading():
        return in_force(store, wanted, now=time.time())


def _document(one: "InForce") -> "reports.Policy":
    said: dict[str, dict[str, reports.Value]] = {
        reason: {key: {"value": value, "from": origin} for key, (value, origin) in keys.items()}
        for reason, keys in one.policy.said.items()
    }
    return {"packages": one.packages, "sample": one.sample, "software": list(one.software),
            "never": said.pop("never"), "rules": said}  # fmt: skip


def _draw(one: "InForce", is_one_of_many: bool) -> None:
    if one.packages is not None:
        emit(paint(f"for {clean(one.sample or '')}" if one.packages == 1 else
                   f"for {count(one.packages, 'package')}, such as {clean(one.sample or '')}",
                   "strong"))  # fmt: skip
    elif one.software and is_one_of_many:
        emit(paint(f"for packages with {clean(', '.join(one.software))}", "strong"))
    rows = [_row(reason, one.policy) for reason in sorted(one.policy.said) if reason != "never"]
    table([[(word, "faint") for word in ("reason", "what follows", "from")], *rows])
    emit("any other reason: it stays failed until a person retries or drops it")
    emit(f"never again: {_never(one.policy)}")
    if is_one_of_many:
        emit()


def _row(reason: str, policy: "Policy") -> list[str]:
    keys = policy.said[reason]
    return [reason, ", ".join(_words(key, value) for key, (value, _) in keys.items()),
            _origins(policy, reason)]  # fmt: skip


def _origins(policy: "Policy", reason: str) -> str:
    """Who said it; where several did, what each of them said."""
    by: dict[str, list[str]] = {}
    for key, (_, origin) in policy.said[reason].items():
        by.setdefault(origin, []).append(key)
    if len(by) == 1:
        return next(iter(by))
    return "; ".join(f"{origin}: {', '.join(keys)}" for origin, keys in by.items())


def _words(key: str, value: Any) -> str:
    """A key and its value as a site file has them."""
    if key == "delay":
        return f"delay {' '.join(format_time(one) for one in value)}"
    if key == "escalate":
        return " ".join(f"{name} x{factor:g}" for name, factor in value.items())
    if value == "only":
        return f"{key} only"
    if isinstance(value, bool):
        return key if value else f"no {key}"
    if key in _TIMES:
        return f"{key} {format_time(value)}"
    return f"{key} {value:g}"


def _never(policy: "Policy") -> str:
    words = []
    for key, (value, origin) in policy.said["never"].items():
        limit = "no limit" if value is None else _limit(key, value)
        words.append(f"{key} {limit}" + ("" if origin == "default" else f" ({clean(origin)})"))
    return ", ".join(words)


def _limit(key: str, value: float) -> str:
    if key in _TIMES:
        return f"over {format_time(value)}"
    return f"over {format_size(int(value))}" if key == "memory" else f"after {value:g} of them"
