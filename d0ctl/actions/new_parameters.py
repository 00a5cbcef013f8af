"""What packages would run with other parameters: their job file is read once more."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from d0ctl.actions.plan import Request, Script
from d0ctl.errors import BadUsage, Refused
from d0ctl.jobfile.spec import BinarySpec, InputSpec, JobSpec, PackageSpec
from d0ctl.store.connection import Row, Store
from d0ctl.store.views import browse
from d0ctl.store.views.known_names import known_names


def scripts_of(store: Store, request: Request) -> tuple[Script, ...]:
    """What the chosen packages run with the parameters that are asked for, where it differs.

    Raises Refused when the job file is gone, or would make other files now.
    """
    if request.target.wild_level == "job":
        raise BadUsage(f"`{request.target.brief}` is several jobs, and parameters belong to one",
                       hint="name the job")  # fmt: skip
    spec = _read_again(store, request)
    files = _files(store)
    changed: list[Script] = []
    for place, package in _packages(store, spec, request):
        if _files_of(package) != files.get(place["id"], set()):
            raise _other(request, "other files of its packages would be read or made")
        changed += _changed(store, place["id"], package)
    if not changed:
        names = ", ".join(f"`{name}`" for name in request.changes.parameters)
        raise Refused(f"nothing that `{request.target.brief}` runs depends on {names}",
                      hint="--env NAME=VALUE sets a variable of its environment")  # fmt: skip
    return tuple(changed)


def _read_again(store: Store, request: Request) -> JobSpec:
    from d0ctl.jobfile import reader

    row = store.row("job_source", job=request.target.job)
    if row is None:
        raise browse.no_such_job(store, request.target.job)
    source = Path(row["source"])
    if not source.is_file():
        raise Refused(f"the job file of `{request.target.job}`, `{source}`, is not there any more, "
                      "so its parameters can't be changed",
                      hint="--env NAME=VALUE sets a variable of the environment")  # fmt: skip
    parameters = {**json.loads(row["parameters"]), **request.changes.parameters}
    return reader.read(source, parameters, known_names(store))


def _packages(store: Store, spec: JobSpec, request: Request) -> Iterator[tuple[Row, PackageSpec]]:
    """The chosen packages beside what the job file says of them now."""
    stage, at, lines, line = 0, 0, iter(()), None
    for place in store.rows("chosen_places"):
        if place["stage"] != stage:
            if place["stage"] > len(spec.stages):
                raise _other(request, "it has fewer stages now")
            stage, at, lines = place["stage"], 0, iter(spec.stages[place["stage"] - 1].lines)
        if place["line"] > at:
            line = next(islice(lines, place["line"] - at - 1, None), None)
            at = place["line"]
        if line is None or place["seq"] > len(line.packages):
            raise _other(request, "it has fewer lines or packages now")
        yield place, line.packages[place["seq"] - 1]


def _other(request: Request, what: str) -> Refused:
    return Refused(f"with these parameters the job file says something else: {what}",
                   hint=f"d0ctl submit it anew, and d0ctl kill {request.target.job}")  # fmt: skip


def _files(store: Store) -> Mapping[int, set[tuple[str, int, str]]]:
    """What the chosen packages read and make, by package."""
    found: dict[int, set[tuple[str, int, str]]] = {}
    for row in store.rows("chosen_package_files"):
        found.setdefault(row["package_id"], set()).add((row["kind"], row["binary"], row["name"]))
    return found


def _files_of(package: PackageSpec) -> set[tuple[str, int, str]]:
    files = set()
    for number, binary in enumerate(package.binaries, start=1):
        files |= {("out", number, output.file) for output in binary.outputs}
        files |= {("in", number, _name_of(entry)) for entry in binary.inputs}
    if package.wrapper is not None:
        files.add(("in", 0, _name_of(package.wrapper)))
    return files


def _name_of(entry: InputSpec) -> str:
    """The name of an input in its own job."""
    return entry.file.partition(":")[2] if entry.made and ":" in entry.file else entry.file


def _changed(store: Store, package: int, spec: PackageSpec) -> list[Script]:
    before = {row["seq"]: row for row in store.rows("scripts_of", package=package)}
    if len(before) != len(spec.binaries):
        raise Refused("the job file has other binaries now, so its parameters can't be changed")
    now = (_script(package, seq, binary) for seq, binary in enumerate(spec.binaries, start=1))
    return [script for script in now if _differs(script, before[script.seq])]


def _differs(script: Script, before: Row) -> bool:
    """Whether a binary would run something else; what the catalogue runs goes by parameters."""
    if script.script is None and script.argv is None:
        return bool(script.parameters != before["parameters"])
    return (script.script, script.argv) != (before["script"], before["argv"])


def _script(package: int, seq: int, binary: BinarySpec) -> Script:
    return Script(package, seq, binary.script, _json(binary.argv), _json(binary.parameters))


def _json(value: Any) -> str | None:
    return json.dumps(value, separators=(",", ":"), default=dict) if value else None
