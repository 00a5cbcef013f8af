"""A job that is built in Python, with the keys of the job file."""

import re
import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import timedelta
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from msgspec.structs import replace as changed

from d0ctl import select
from d0ctl.api.carry_out import carry_out
from d0ctl.api.done import Done
from d0ctl.api.selection import Selection
from d0ctl.config import find_home
from d0ctl.errors import BadJobFile
from d0ctl.jobfile.spec import JobSpec, without_file
from d0ctl.units import format_time

_PLACE = re.compile(r"^[^:]*:(\d+):(\d+): ", re.DOTALL)


class Part:
    """A part of a job with its keys; `-` is written as `_`, and `for` as `for_`."""

    def __init__(self, **keys: Any) -> None:
        self.keys: dict[str, Any] = {}
        self.set(**keys)

    def __repr__(self) -> str:
        name = self.keys.get("job") or self.keys.get("name")
        return f"{type(self).__name__}({'' if name is None else repr(name)})"

    def set(self, **keys: Any) -> None:
        """Set keys, or change them."""
        for name, value in keys.items():
            self.keys[name.rstrip("_").replace("_", "-")] = _plain(value)

    def _add(self, key: str, part: "Part") -> None:
        self.keys.setdefault(key, []).append(part.keys)


class Package(Part):
    """A package; without `binary`, it has the keys of its one binary."""

    def binary(self, name: str | None = None, **keys: Any) -> None:
        """Add a binary, which runs after those before it."""
        self._add("binaries", Part(**_named(name), **keys))


class Line(Part):
    """A line; without `package`, it has the keys of its one package."""

    def package(self, name: str | None = None, **keys: Any) -> Package:
        """Add a package, which runs after those before it."""
        package = Package(**_named(name), **keys)
        self._add("packages", package)
        return package


class Stage(Part):
    """A stage."""

    def line(self, name: str | None = None, **keys: Any) -> Line:
        """Add a line, or with `for_` a line for each value."""
        line = Line(**_named(name), **keys)
        self._add("lines", line)
        return line


class Job(Part):
    """A job; its files are relative to `directory`, by default the current one."""

    def __init__(
        self, name: str | None = None, *, directory: str | PathLike[str] = ".", **keys: Any
    ) -> None:
        super().__init__(**({} if name is None else {"job": name}), **keys)
        self.directory = Path(directory).absolute()

    def stage(self, name: str | None = None, **keys: Any) -> Stage:
        """Add a stage."""
        stage = Stage(**_named(name), **keys)
        self._add("stages", stage)
        return stage

    def copy(self, name: str | None = None, **keys: Any) -> "Job":
        """Return the same job under another name, with other keys."""
        job = Job(name, directory=self.directory)
        job.keys = {**deepcopy(self.keys), **job.keys}
        job.set(**keys)
        return job

    @property
    def text(self) -> str:
        """The job file that says the same."""
        import yaml

        keys = sorted(self.keys.items(), key=lambda pair: pair[0] == "stages")
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        text = yaml.dump(dict(keys), Dumper=dumper, sort_keys=False, allow_unicode=True, width=100)
        return str(text)

    def check(self, *, home: str | PathLike[str] | None = None) -> JobSpec:
        """Check the job as `d0ctl validate` does, and return it with all its lines and `warnings`.

        Raises BadJobFile with every fault, each with its position.
        """
        return self._checked(self.text, home)

    def _checked(self, text: str, home: str | PathLike[str] | None) -> JobSpec:
        from d0ctl.actions.jobs.submit import NO_HOME
        from d0ctl.jobfile import reader
        from d0ctl.store import opening
        from d0ctl.store.views.job_files.known_names import known_names

        found, known = find_home(home), NO_HOME
        if found.exists():
            with opening.reader(found) as store:
                known = known_names(store)
        try:
            spec = reader.read_text(text, self._source, self.directory, {}, known)
        except BadJobFile as error:
            places = _places(text)
            placed = [_placed(fault, places) for fault in error.faults]
            raise BadJobFile(placed, note=error.note) from None
        if spec.warnings:
            spec = changed(spec, warnings=_warnings(spec.warnings, _places(text)))
        return without_file(spec)

    @property
    def _source(self) -> str:
        return str(self.keys.get("job") or "job")

    def submit(
        self,
        name: str | None = None,
        *,
        hold: bool = False,
        force: bool = False,
        reason: str | None = None,
        home: str | PathLike[str] | None = None,
    ) -> Selection:
        """Check and submit the job; the daemon, or `run` of the result, drives it.

        Its warnings are Python warnings. Raises BadJobFile with every fault, or Refused as
        `d0ctl submit` does.
        """
        done = self._submit(name, hold, force, reason, home, is_rehearsal=False)
        return Selection.of(done.job, home)

    def preview(
        self,
        name: str | None = None,
        *,
        force: bool = False,
        home: str | PathLike[str] | None = None,
    ) -> Done:
        """Say what `submit` would do, with its warnings, and change nothing."""
        return self._submit(name, False, force, None, home, is_rehearsal=True)

    def update(
        self,
        name: str | None = None,
        *,
        again: bool = False,
        accept: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        home: str | PathLike[str] | None = None,
    ) -> Done:
        """Correct the submitted job of this name, as `d0ctl submit --update` does.

        With `again`, packages that are out of date run again; with `accept`, their results are
        accepted as they are; with `dry_run`, the result only says what would change. Raises
        BadJobFile, BadUsage, NotFound or Refused.
        """
        from d0ctl.actions.jobs.update import ACTION, UpdateOptions

        options = UpdateOptions(again=again, accept=accept, spec=self._checked(self.text, home))
        request = ACTION.request(select.parse(name or self._source), options)
        return carry_out(find_home(home), request, reason, dry_run)

    def _submit(
        self,
        name: str | None,
        hold: bool,
        force: bool,
        reason: str | None,
        home: str | PathLike[str] | None,
        *,
        is_rehearsal: bool,
    ) -> Done:
        from d0ctl.actions.jobs.submit import ACTION, JobFile, SubmitOptions

        text = self.text
        spec = self._checked(text, home)
        for warning in spec.warnings:
            warnings.warn(warning, stacklevel=3)
        options = SubmitOptions(name=name, hold=hold, force=force, spec=spec)
        request = ACTION.request(JobFile(self._source, text), options)
        return carry_out(find_home(home), request, reason, is_rehearsal)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


def _named(name: str | None) -> dict[str, str]:
    return {} if name is None else {"name": name}


def _plain(value: Any) -> Any:
    """Return a value as YAML has it; for times it is the text."""
    if isinstance(value, timedelta):
        return format_time(value.total_seconds())
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def _places(text: str) -> dict[tuple[int, int], list[str]]:
    """Return the Python expression for each position of a job file, the outer part first."""
    from d0ctl.jobfile.yaml.document import Mapping as MappingNode
    from d0ctl.jobfile.yaml.document import Node, Sequence
    from d0ctl.jobfile.yaml.faults import Faults
    from d0ctl.jobfile.yaml.parser import parse

    positions: dict[tuple[int, int], list[str]] = {}

    def walk(node: Node, expression: str) -> None:
        places = positions.setdefault(node.position, [])
        if expression not in places:
            places.append(expression)
        if isinstance(node, MappingNode):
            for name, (key, value) in node.items.items():
                inner = f"{expression}.{name}".lstrip(".")
                positions.setdefault(key.position, []).append(inner)
                walk(value, inner)
        elif isinstance(node, Sequence):
            for number, item in enumerate(node.items):
                walk(item, f"{expression}[{number}]")

    if (root := parse(text, Faults("-"))) is not None:
        walk(root, "")
    return dict(sorted(positions.items()))


def _warnings(texts: Sequence[str], places: Mapping[tuple[int, int], list[str]]) -> tuple[str, ...]:
    """Return warnings with their places in the job."""
    return tuple(_placed(text, places).replace(": warning: ", ": ", 1) for text in texts)


def _placed(fault: str, places: Mapping[tuple[int, int], list[str]]) -> str:
    """Return a fault with its place in the job in place of a line of a generated file."""
    named = _PLACE.match(fault)
    if named is None:
        return fault
    positions = list(places)
    before = bisect_right(positions, (int(named[1]), int(named[2])))
    here = places[positions[before - 1]] if before else [""]
    keys = [expression for expression in here if f"`{expression.rpartition('.')[2]}`" in fault]
    return f"{(keys or here)[0] or 'job'}: {fault[named.end() :]}"
