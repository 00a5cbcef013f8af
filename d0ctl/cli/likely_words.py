"""Words that are refused with the command that they probably mean."""

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from d0ctl import select
from d0ctl.actions import Action
from d0ctl.actions.option import Option, fields_of
from d0ctl.cli import session
from d0ctl.errors import BadUsage, D0Error
from d0ctl.model import Phase, Reason, Status

MOST_JOBS = 100
"""Among how many jobs, the newest first, that of a job file is searched."""

STATES = frozenset({*Status, *Phase})
"""What a selector may have after a colon."""

OF_STATES = frozenset({"d0ctl status", "d0ctl why", "d0ctl history", "d0ctl wait"})
"""Commands that read packages in a state."""


def refuse(verb: str, typed: list[str]) -> None:
    """Raise BadUsage for the number of a limit, or for a job file, among the names of jobs."""
    *jobs, last = typed
    if verb == "limit" and jobs and (last.isdecimal() or last == "none"):
        raise BadUsage(
            "a limit is the value of an option",
            hint=shlex.join(["d0ctl", "limit", *jobs, "--max-running", last]),
        )
    if verb == "update" and Path(last).suffix in (".yaml", ".yml", ".json"):
        right = ["update", *jobs, "--file", last] if jobs else ["update", _job_of(Path(last))]
        raise BadUsage(f"`update` takes a job, not a job file: `{last}`",
                       hint=shlex.join(["d0ctl", *right]))  # fmt: skip


def refuse_state(verb: str, typed: list[str]) -> None:
    """Raise BadUsage for a state that was typed as a word of its own beside a job."""
    states = [word for word in typed if word in STATES and not _is_job(word)]
    if states:
        targets = [word for word in typed if word not in states] or ["JOB"]
        right = [target if ":" in target else f"{target}:{','.join(states)}" for target in targets]
        raise BadUsage(f"`{states[0]}` is a state, which comes after the job and a colon",
                       hint=shlex.join(["d0ctl", *verb.split(), *right]))  # fmt: skip


def is_selector(word: str) -> bool:
    """Return whether a word selects files, packages or a job, and so is no name of a node."""
    return not set(":/*?[").isdisjoint(word) or _is_job(word)


def _is_job(word: str) -> bool:
    from d0ctl.store.views import browse

    if not session.home().exists():
        return False
    with session.reader() as store:
        return browse.has_job(store, word)


def refuse_comment(text: str | None, failed_for: str | None) -> None:
    """Raise BadUsage for a comment that is the name of a failure's reason: a filter is meant."""
    is_site = text is not None and text.startswith("site:") and " " not in text
    if failed_for is None and (is_site or text in list(Reason)):
        raise BadUsage(f"`--reason` of an action is a comment, but `{text}` is a reason of "
                       "failures", hint=f"--failed-for {text} selects the packages that failed "
                       "for it")  # fmt: skip


def refuse_parameter(typed: list[str]) -> None:
    """Raise BadUsage for `--set NAME VALUE` without an equals sign."""
    if "--set" not in typed[:-1]:
        return
    name, *values = typed[typed.index("--set") + 1 :]
    if values[:1] == ["="]:  # NAME = VALUE
        values = values[1:]
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


def refuse_value(action: Action[Any, Any], selectors: list[str]) -> None:
    """Raise BadUsage for `memory=4GB` among selectors, where `--memory 4GB` is meant."""
    known = {option.name for _, option, _ in fields_of(action.options) if option.kind == "value"}
    for word in selectors:
        key, equals, value = word.partition("=")
        if equals and f"--{key}" in known:
            others = [other for other in selectors if other != word]
            right = ["d0ctl", *action.name.split(), *others, f"--{key}", value]
            raise BadUsage(f"`{word}` is the value of an option", hint=shlex.join(right))


def refuse_words(verb: str, typed: list[str]) -> None:
    """Raise BadUsage for `NAME=VALUE`, or another job file, after a job file."""
    file, *more = [word for word in typed if not word.startswith("-")]
    if more and all(re.fullmatch(r"[\w-]+=.*", word) for word in more):
        values = [word for value in more for word in ("--set", value)]
        raise BadUsage("a parameter is the value of `--set`",
                       hint=shlex.join(["d0ctl", verb, file, *values]))  # fmt: skip
    if more and all(_is_job_file(word) for word in (file, *more)):
        raise BadUsage("one job file at a time",
                       hint=" && ".join(shlex.join(["d0ctl", verb, word]) for word in (file, *more))
                       )  # fmt: skip


def _is_job_file(word: str) -> bool:
    """Return whether a word names a job file: one that is there, or by its ending."""
    return Path(word).suffix in (".yaml", ".yml") or Path(word).is_file()


def part_of(command: str, job: str, word: str) -> str | None:
    """Return the command for a file, stage or state of a job that was typed as another word."""
    for target, state in ((job, word), (word, job)):
        if state in STATES and command in OF_STATES and not _is_job(state):
            return f"{command} {shlex.quote(f'{target}:{state}')}"
    from d0ctl.store.views import browse, file_locations

    if not session.home().exists():
        return None
    with suppress(D0Error), session.reader() as store, store.reading():
        summary = browse.job(store, job)
        if file_locations.find(store, word, job=job):
            return f"{command} {shlex.quote(f'{job}:{word}')}"
        browse.stage(store, summary, select.parse(f"{job}/{word}"))
        return f"{command} {shlex.quote(f'{job}/{word}')}"
    return None


def _job_of(path: Path) -> str:
    """Return the newest job that was submitted from a job file; JOB if there is none."""
    from d0ctl.store.jobs.submission.submit import text_of
    from d0ctl.store.views import browse, names

    with suppress(D0Error), session.reader() as store, store.reading():
        for name in names.jobs(store)[:MOST_JOBS]:
            known = text_of(store, browse.jobs(store, name)[0].id)
            if known is not None and Path(known.source).resolve() == path.resolve():
                return name
    return "JOB"
