"""The scripts that packages would run with other parameters, by their job file."""

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from d0ctl import units
from d0ctl.actions import wording
from d0ctl.actions.option import write_pairs
from d0ctl.errors import BadJobFile, BadUsage, Refused
from d0ctl.jobfile.spec import InputSpec, JobSpec, LineSpec, PackageSpec
from d0ctl.select import Selector
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import scripts
from d0ctl.store.jobs.correction.texts import is_changed_on_disk
from d0ctl.store.jobs.scripts import Script
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


class _Specs(NamedTuple):
    """A job by its own parameters, and by new ones."""

    own: JobSpec
    new: JobSpec


def scripts_of(selected: Selection, target: Selector, parameters: Mapping[str, str]) -> NewScripts:
    """Return the scripts of the selected packages with other parameters.

    Raises Refused if there is no job file, its packages would read or make other files, or none of
    them depends on a parameter.
    """
    if target.wildcard_level == "job":
        raise BadUsage(f"`{target.brief}` names several jobs, and parameters belong to one",
                       hint="name the job")  # fmt: skip
    spec = _read_again(selected.store, target.job, parameters)
    specs = _Specs(_read_again(selected.store, target.job, {}), spec)
    files = scripts.files(selected)
    changed: list[Script] = []
    for id, package in _packages(selected, spec, target.job):
        if _files_of(package) != files.get(id, set()):
            raise _other(target.job, "its packages would read or make other files")
        changed += _changed(selected.store, id, package)
    own = _same(selected, specs, target.job)
    options = _request_options(selected, specs, target.job)
    unused = [*_unused(selected, specs, target.job, parameters)]
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
    if {script.package for script in changed} - own:
        sets = " ".join(f"--set {shlex.quote(text)}" for text in write_pairs(parameters))
        notes.append(
            "warning: other packages keep the parameters of the job, so the results of these "
            f"will be out of date; d0ctl update {target.job} {sets} changes the job"
        )
    return NewScripts(tuple(changed), own, (*notes, *spec.warnings))


def _unused(
    selected: Selection, specs: _Specs, job: str, parameters: Mapping[str, str]
) -> Iterator[str]:
    """Yield the parameters on which none of the selected packages depends.

    One with the value of the job is left out: without it, nothing would differ.
    """
    for name, value in parameters.items():
        if value != str(specs.own.parameters.get(name)):
            others = {key: parameters[key] for key in parameters if key != name}
            without = _read_again(selected.store, job, others)
            if len(_same(selected, _Specs(without, specs.new), job)) == selected.count():
                yield name


def _same(selected: Selection, specs: _Specs, job: str) -> frozenset[int]:
    """Return the selected packages that run the same by both."""
    return frozenset(old[0] for old, new in _pairs(selected, specs, job)
                     if _scripts(*old) == _scripts(*new))  # fmt: skip


def _request_options(selected: Selection, specs: _Specs, job: str) -> list[str]:
    """Return the options for requests that differ with other parameters; a retry keeps them."""
    names = {name for (_, old), (_, new) in _pairs(selected, specs, job) for name in REQUESTS
             if getattr(old, name) != getattr(new, name)}  # fmt: skip
    return [f"--{name.replace('_', '-')}" for name in sorted(names)]


def _pairs(
    selected: Selection, specs: _Specs, job: str
) -> Iterator[tuple[tuple[int, PackageSpec], tuple[int, PackageSpec]]]:
    """Yield each selected package by the job's parameters, and by the new ones."""
    return zip(_packages(selected, specs.own, job), _packages(selected, specs.new, job),
               strict=True)  # fmt: skip


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
                                known_names(store), is_seen=known.has_file)  # fmt: skip
    except BadJobFile as error:
        if not is_changed_on_disk(store, id):
            raise
        edited = wording.changed_job_file(job, "a retry runs the job")
        note = "\n".join(filter(None, [error.note, edited]))
        raise BadJobFile(error.faults, error.warnings, note=note) from error


def _packages(selected: Selection, spec: JobSpec, job: str) -> Iterator[tuple[int, PackageSpec]]:
    """Yield the selected packages with their specs in the job file as it was submitted."""
    stage, at = 0, 0
    lines: Iterator[LineSpec] = iter(())
    line: LineSpec | None = None
    for position in scripts.positions(selected):
        if position.stage != stage:
            if position.stage > len(spec.stages):
                raise _other(job, "it has fewer stages now")
            stage, at, lines = position.stage, 0, iter(spec.stages[position.stage - 1].lines)
        if position.line > at:
            line = next(islice(lines, position.line - at - 1, None), None)
            at = position.line
        if line is None or position.seq > len(line.packages):
            raise _other(job, "it has fewer lines or packages now")
        yield position.package, line.packages[position.seq - 1]


def _other(job: str, what: str) -> Refused:
    return Refused(f"with these parameters the job file describes another job: {what}",
                   hint=f"submit it as a new job, and d0ctl kill {job}")  # fmt: skip


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


def _changed(store: Store, package: int, spec: PackageSpec) -> list[Script]:
    before = scripts.of_package(store, package)
    if len(before) != len(spec.binaries):
        raise Refused("the job file has other binaries now, so its parameters can't be changed")
    return [script for script in _scripts(package, spec) if _differs(script, before[script.seq])]


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
