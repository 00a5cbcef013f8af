"""The scripts that packages would run with other parameters, by their job file."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from d0ctl import units
from d0ctl.actions import wording
from d0ctl.actions.option import write_pairs
from d0ctl.errors import BadJobFile, BadUsage, Refused
from d0ctl.jobfile.spec import InputSpec, JobSpec, PackageSpec
from d0ctl.select import Selector
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import scripts
from d0ctl.store.jobs.correction import counterparts
from d0ctl.store.jobs.correction.counterparts import Entry
from d0ctl.store.jobs.correction.texts import differs_on_disk
from d0ctl.store.jobs.scripts import Position, Script
from d0ctl.store.jobs.submission.submit import text_of
from d0ctl.store.views import browse
from d0ctl.store.views.job_files.known_names import known_names

REQUESTS = (*units.REQUESTS, "wall_time")


class NewScripts(NamedTuple):
    """The scripts with other parameters, where they differ from those that packages have.

    `own` are the packages that run what the job itself says, `warnings` those of the job file with
    these parameters, and of what a retry does not change.
    """

    scripts: tuple[Script, ...]
    own: frozenset[int]
    warnings: tuple[str, ...]


class _Run(NamedTuple):
    """What a package runs, requests, and reads or makes, as a job file describes it."""

    scripts: list[Script]
    requests: Mapping[str, Any]
    files: set[tuple[str, int, str]]


class _Reading(NamedTuple):
    """A job file that was read again, and what the selected packages run by it."""

    spec: JobSpec
    entries: Mapping[int, Entry]
    runs: Mapping[int, _Run]


def scripts_of(selected: Selection, target: Selector, parameters: Mapping[str, str]) -> NewScripts:
    """Return the scripts of the selected packages with other parameters.

    Raises Refused if there is no job file, its packages would read or make other files, or none of
    them depends on a parameter.
    """
    if target.wildcard_level == "job" or len({part.job for part in target.parts}) > 1:
        raise BadUsage(f"`{target.brief}` names several jobs, and parameters belong to one",
                       hint="name the job")  # fmt: skip
    store, job = selected.store, target.job
    spec, positions = _read_again(store, job, {}), scripts.positions(selected)
    own = _reading(spec, counterparts.in_own(store, browse.job(store, job).id, spec, positions))
    new = _with(store, job, own, parameters)
    _check(selected, job, positions, own, new, parameters)
    changed = [script for id, run in new.runs.items()
               for script in _changed(store, job, id, run.scripts)]  # fmt: skip
    same = _same(own, new)
    options = _request_options(own, new)
    unused = [*_unused(store, job, own, new, parameters)]
    if not changed and not unused:
        raise Refused(f"`{target.brief}` runs with {', '.join(write_pairs(parameters))} already",
                      hint=f"d0ctl retry {shlex.quote(str(target))}")  # fmt: skip
    if unused:
        names = ", ".join(f"`{name}`" for name in unused)
        env = "--env NAME=VALUE sets a variable of its environment"
        hint = f"{options[0]} changes what it requests" if options else env
        raise Refused(f"no binary of `{target.brief}` depends on {names}", hint=hint)
    notes = [
        f"warning: --set does not change what packages request, but {option} does"
        for option in options
    ]
    if {script.package for script in changed} - same:
        notes.append(
            "warning: other packages keep the parameters of the job, so the results of these "
            f"will be out of date; d0ctl update {job} {_sets(parameters)} changes the job"
        )
    return NewScripts(tuple(changed), same, (*notes, *new.spec.warnings))


def _reading(spec: JobSpec, entries: Mapping[int, Entry]) -> _Reading:
    runs = {
        id: _Run(_scripts(id, package), {name: getattr(package, name) for name in REQUESTS},
                 _files_of(package))
        for id, package in counterparts.specs(spec, entries)
    }  # fmt: skip
    return _Reading(spec, entries, runs)


def _with(store: Store, job: str, own: _Reading, parameters: Mapping[str, str]) -> _Reading:
    """Read the job file with other parameters."""
    spec = _read_again(store, job, parameters)
    return _reading(spec, counterparts.in_other(own.spec, spec, own.entries))


def _check(
    selected: Selection,
    job: str,
    positions: Sequence[Position],
    own: _Reading,
    new: _Reading,
    parameters: Mapping[str, str],
) -> None:
    """Raise Refused if a package would not be itself, with its own parameters or the new ones."""
    files = scripts.files(selected)
    for position in positions:
        id, path = position.package, f"{job}/{position.path}"
        if id not in own.runs:
            raise Refused(f"`{path}` is not in the job file of `{job}` as it is read now, so its "
                          "parameters can't be changed", hint=f"d0ctl retry {path}")  # fmt: skip
        if own.runs[id].files != files.get(id, set()):
            raise Refused(f"`{path}` would read or make other files now, with any parameters",
                          hint=f"d0ctl update {job} --dry-run")  # fmt: skip
        if id not in new.runs:
            raise _other(job, f"it has no package `{path}`", parameters)
        if own.runs[id].files != new.runs[id].files:
            raise _other(job, f"`{path}` would read or make other files", parameters)


def _unused(
    store: Store, job: str, own: _Reading, new: _Reading, parameters: Mapping[str, str]
) -> Iterator[str]:
    """Yield the parameters on which none of the selected packages depends.

    One with the value of the job is left out: without it, nothing would differ.
    """
    for name, value in parameters.items():
        if value != str(own.spec.parameters.get(name)):
            others = {key: parameters[key] for key in parameters if key != name}
            if len(_same(_with(store, job, own, others), new)) == len(new.runs):
                yield name


def _same(old: _Reading, new: _Reading) -> frozenset[int]:
    """Return the selected packages that run the same by both."""
    return frozenset(id for id, run in new.runs.items()
                     if id in old.runs and old.runs[id].scripts == run.scripts)  # fmt: skip


def _request_options(own: _Reading, new: _Reading) -> list[str]:
    """Return the options for requests that differ with other parameters; a retry keeps them."""
    names = {name for id, run in new.runs.items() for name in REQUESTS
             if own.runs[id].requests[name] != run.requests[name]}  # fmt: skip
    return [f"--{name.replace('_', '-')}" for name in sorted(names)]


def _read_again(store: Store, job: str, parameters: Mapping[str, str]) -> JobSpec:
    """Read the stored job file of a job: edits since the submission are for `update`."""
    from d0ctl.jobfile import reader  # imports yaml, which most actions do not need

    known = text_of(store, id := browse.job(store, job).id)
    if known is None:
        raise Refused(f"job `{job}` was not made from a job file, so its parameters can't be "
                      "changed",
                      hint="--env NAME=VALUE sets a variable of the environment")  # fmt: skip
    values = {**known.parameters, **parameters}
    try:
        return reader.read_text(known.text, known.source, known.directory, values,
                                known_names(store, id), is_seen=known.has_file)  # fmt: skip
    except BadJobFile as error:
        if not differs_on_disk(store, id):
            raise
        raise error.noted(wording.changed_job_file(job, "a retry runs the job")) from error


def _other(job: str, what: str, parameters: Mapping[str, str]) -> Refused:
    return Refused(f"with these parameters the job file describes another job: {what}",
                   hint=f"d0ctl update {job} {_sets(parameters)} --dry-run")  # fmt: skip


def _sets(parameters: Mapping[str, str]) -> str:
    return " ".join(f"--set {shlex.quote(text)}" for text in write_pairs(parameters))


def _files_of(package: PackageSpec) -> set[tuple[str, int, str]]:
    files = set()
    for number, binary in enumerate(package.binaries, start=1):
        files |= {("out", number, output.file) for output in binary.outputs}
        files |= {("in", number, _name_of(entry)) for entry in binary.inputs}
    if package.wrapper is not None:
        files.add(("in", 0, _name_of(package.wrapper)))
    return files


def _name_of(entry: InputSpec) -> str:
    """Return the name of an input within its own job."""
    return entry.file.partition(":")[2] if entry.made and ":" in entry.file else entry.file


def _changed(store: Store, job: str, package: int, runs: Sequence[Script]) -> list[Script]:
    before = scripts.of_package(store, package)
    if len(before) != len(runs):
        raise Refused(f"the job file of `{job}` has other binaries now, so its parameters can't be "
                      "changed", hint=f"d0ctl update {job} --dry-run")  # fmt: skip
    return [script for script in runs if _differs(script, before[script.seq])]


def _differs(script: Script, before: Script) -> bool:
    """Return whether a binary would run something else.

    Catalogued software depends on its parameters.
    """
    if script.script is None and script.argv is None:
        return script.parameters != before.parameters
    return (script.script, script.argv) != (before.script, before.argv)


def _scripts(package: int, spec: PackageSpec) -> list[Script]:
    return [Script(package, seq, binary.script, _json(binary.argv), _json(binary.parameters))
            for seq, binary in enumerate(spec.binaries, start=1)]  # fmt: skip


def _json(value: Any) -> str | None:
    return json.dumps(value, separators=(",", ":"), default=dict) if value else None
