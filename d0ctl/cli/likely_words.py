"""Words that are refused with the command that they probably mean."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from d0ctl.actions import Action
from d0ctl.actions.option import Option, fields_of
from d0ctl.cli import session
from d0ctl.errors import BadUsage, D0Error

MOST_JOBS = 100
"""Among how many jobs, the newest first, that of a job file is searched."""


def refuse(verb: str, typed: list[str]) -> None:
    """Raise BadUsage for the number of a limit, or for a job file, among the names of jobs."""
    *jobs, last = typed
    if verb == "limit" and jobs and (last.isdecimal() or last == "none"):
        raise BadUsage(
            "a limit is the value of an option",
            hint=shlex.join(["d0ctl", "limit", *jobs, "--max-running", last]),
        )
    if verb == "update" and Path(last).suffix in (".yaml", ".yml", ".json"):
        name = shlex.quote(_job_of(Path(last)) or "JOB")
        raise BadUsage(f"`update` takes a job, not a job file: `{last}`",
                       hint=f"d0ctl update {name}")  # fmt: skip


def refuse_parameter(typed: list[str]) -> None:
    """Raise BadUsage for `--set NAME VALUE` without an equals sign."""
    if "--set" not in typed:
        return
    name, *values = typed[typed.index("--set") + 1 :]
    if "=" not in name and values and not values[0].startswith("-"):
        raise BadUsage("`--set` takes NAME=VALUE",
                       hint=f"--set {shlex.quote(f'{name}={values[0]}')}")  # fmt: skip


def refuse_swapped(
    action: Action[Any, Any], selectors: list[str], texts: Mapping[str, Any]
) -> None:
    """Raise BadUsage if the value of an argument comes before the selector."""
    for field, option, _ in fields_of(action.options):
        if option.is_argument and _is_swapped(option, selectors[0], texts[field]):
            right = ["d0ctl", *action.name.split(), *selectors[1:], texts[field], selectors[0]]
            raise BadUsage(
                f"the selector comes before the {option.metavar.lower()}",
                hint=shlex.join(right),
            )


def _is_swapped(option: Option, before: str, last: Any) -> bool:
    if not isinstance(last, str):
        return False
    if option.choices:
        return before in option.choices and last not in option.choices
    return _is_value(option, before) and not _is_value(option, last)


def _is_value(option: Option, text: str) -> bool:
    with suppress(ValueError):
        option.type.read(text)
        return True
    return False


def _job_of(path: Path) -> str | None:
    """Return the newest job that was submitted from a job file."""
    from d0ctl.store.jobs.submission.submit import text_of
    from d0ctl.store.views import browse, names

    with suppress(D0Error), session.reader() as store, store.reading():
        for name in names.jobs(store)[:MOST_JOBS]:
            known = text_of(store, browse.jobs(store, name)[0].id)
            if known is not None and Path(known.source).resolve() == path.resolve():
                return name
    return None
