"""Actions carried out from Python, with the checks, plans and errors of the command line."""

import getpass
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from d0ctl.actions.action import AnyRequest, Target
from d0ctl.actions.option import fields_of, read
from d0ctl.api.done import Done
from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.store import opening
from d0ctl.store.jobs import audit


def requests(
    name: str, targets: Iterable[Target], options: Mapping[str, Any]
) -> list[AnyRequest[Any, Any]]:
    """Return an action for each target, with the same options. Raises BadUsage."""
    from d0ctl.actions.table import ACTIONS

    action = ACTIONS[name]
    lists = {
        field.name
        for field in fields_of(action.options)
        if field.option.kind in ("list", "arguments")
    }
    texts = {
        key: [value] if key in lists and isinstance(value, str) else _written(value)
        for key, value in options.items()
    }
    values = read(action.options, texts, are_fields_named=True)
    return [action.request(target, values) for target in targets]


def carry_out(
    home: Home,
    request: AnyRequest[Any, Any],
    reason: str | None,
    dry_run: bool,
    *,
    by: str | None = None,
    seen: int | None = None,
) -> Done:
    """Carry an action out as the command line does, or with `dry_run` say what it would do.

    `by` is the actor if it is not this user. With `seen`, from an earlier result, it is refused
    if others have changed the same packages since.
    """
    from d0ctl import actions

    is_first = request.action.may_be_first
    opened = (
        opening.writer if not is_first else opening.rehearsal if dry_run else opening.open_or_create
    )
    with opened(home) as store:
        now = time.time()
        if dry_run:
            plan = actions.preview(store, request, now=now)
            lines = actions.describe(plan)
        else:
            seen = audit.latest(store) if seen is None else seen
            plan = actions.apply(store, request, actor=by or actor(), note=reason, now=now,
                                 seen=seen)  # fmt: skip
            lines = actions.report(plan)
    job = getattr(plan, "job", "")
    return Done(plan.packages, "\n".join(lines), plan.undo, job, plan.seen)


def carry_out_each(
    home: Home,
    requests: Sequence[AnyRequest[Any, Any]],
    reason: str | None,
    dry_run: bool,
    keep_going: bool,
) -> Done:
    """Carry actions out one after another; with `keep_going` also after one that is refused."""
    done: list[Done] = []
    failures: list[str] = []
    if keep_going and requests and requests[0].action.in_pieces:
        from d0ctl import actions

        with opening.reader(home) as store:
            requests, errors = actions.together(store, requests, now=time.time())
        failures += map(str, errors)
    for request in requests:
        try:
            done.append(carry_out(home, request, reason, dry_run))
        except D0Error as error:
            if not keep_going:
                raise
            failures.append(str(error))
    text = "\n".join(result.text for result in done)
    undo = "\n".join(result.undo for result in done if result.undo) or None
    job = done[0].job if len(done) == 1 else ""
    packages = sum(result.packages for result in done)
    return Done(packages, text, undo, job, failures=tuple(failures))


def actor() -> str:
    """Return the name of the user who acts."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _written(value: Any) -> Any:
    """Return an option as it is written on the command line, so that it passes the same checks."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return [f"{name}={item}" for name, item in value.items()]
    return str(value) if isinstance(value, str | int | float) else [str(item) for item in value]
