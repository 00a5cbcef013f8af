"""The scripts that packages would run with other parameters, by their job file."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from d0ctl import units
from d0ctl.errors import BadUsage, Refused
from d0ctl.jobfile.spec import BinarySpec, InputSpec, JobSpec, LineSpec, PackageSpec
from d0ctl.select import Selector
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import scripts
from d0ctl.store.jobs.scripts import Script
from d0ctl.store.jobs.submission.submit import text_of
from d0ctl.store.views import browse
from d0ctl.store.views.job_files.known_names import known_names

REQUESTS = (*units.REQUESTS, "wall_time")


def scripts_of(
    selected: Selection, target: Selector, parameters: Mapping[str, str]
) -> tuple[tuple[Script, ...], tuple[str, ...]]:
    """Return the scripts of the selected packages with other parameters, where they differ.

    Also return the warnings of the job file with these parameters, and of requests that a retry
    does not change. Raises Refused if the job file is missing, or would now read or make other
    files.
    """
    if target.wildcard_level == "job":
        raise BadUsage(f"`{target.brief}` names several jobs, and parameters belong to one",
                       hint="name the job")  # fmt: skip
    spec = _read_again(selected.store, target.job, parameters)
    files = scripts.files(selected)
    changed: list[Script] = []
    for id, package in _packages(selected, spec, target.job):
        if _files_of(package) != files.get(id, set()):
            raise _other(target.job, "its packages would read or make other files")
        changed += _changed(selected.store, id, package)
    options = _request_options(selected, spec, target.job)
    if not changed:
        names = ", ".join(f"`{name}`" for name in parameters)
        env = "--env NAME=VALUE sets a variable of its environment"
        hint = f"{options[0]} changes what it requests" if options else env
        raise Refused(f"no binary of `{target.brief}` depends on {names}", hint=hint)
    notes = [
        f"warning: --set does not change what packages request, but {option} does"
        for option in options
    ]
    return tuple(changed), (*notes, *spec.warnings)


def _request_options(selected: Selection, spec: JobSpec, job: str) -> list[str]:
    """Return the options for requests that differ with other parameters; a retry keeps them."""
    before = _read_again(selected.store, job, {})
    pairs = zip(_packages(selected, before, job), _packages(selected, spec, job), strict=True)
    names = {name for (_, old), (_, new) in pairs for name in REQUESTS
             if getattr(old, name) != getattr(new, name)}  # fmt: skip
    return [f"--{name.replace('_', '-')}" for name in sorted(names)]


def _read_again(store: Store, job: str, parameters: Mapping[str, str]) -> JobSpec:
    from d0ctl.jobfile import reader  # imports yaml, which most actions do not need

    known, names = text_of(store, browse.job(store, job).id), known_names(store)
    values = {**(known.parameters if known else {}), **parameters}
    if known is not None and not known.has_file:
        return reader.read_text(known.text, known.source, known.directory, values, names,
                                is_seen=False)  # fmt: skip
    if known is None or not Path(known.source).is_file():
        source = f", `{known.source}`," if known else ""
        raise Refused(f"the job file of `{job}`{source} is missing, "
                      "so its parameters can't be changed",
                      hint="--env NAME=VALUE sets a variable of the environment")  # fmt: skip
    return reader.read(Path(known.source), values, names)


def _packages(selected: Selection, spec: JobSpec, job: str) -> Iterator[tuple[int, PackageSpec]]:
    """Yield the selected packages with their specs in the job file as it is now."""
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
    now = (_script(package, seq, binary) for seq, binary in enumerate(spec.binaries, start=1))
    return [script for script in now if _differs(script, before[script.seq])]


def _differs(script: Script, before: Script) -> bool:
    """Return whether a binary would run something else.

    Catalogued software depends on its parameters.
    """
    if script.script is None and script.argv is None:
        return script.parameters != before.parameters
    return (script.script, script.argv) != (before.script, before.argv)


def _script(package: int, seq: int, binary: BinarySpec) -> Script:
    return Script(package, seq, binary.script, _json(binary.argv), _json(binary.parameters))


def _json(value: Any) -> str | None:
    return json.dumps(value, separators=(",", ":"), default=dict) if value else None
