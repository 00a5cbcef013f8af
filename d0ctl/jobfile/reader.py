"""Read a job file and return a JobSpec."""

import getpass
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.checks.job import Checked, check_job
from d0ctl.jobfile.checks.warnings import advise
from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.expand import LineOrder, line_maker
from d0ctl.jobfile.input_files import InputFiles
from d0ctl.jobfile.language.placeholders import Scope
from d0ctl.jobfile.recipe import (
    JobRecipe,
    LineRecipe,
    StageRecipe,
)
from d0ctl.jobfile.sections.late_outputs import late_stages
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.sections.loops import MAX_LISTED
from d0ctl.jobfile.sections.stages import read_job
from d0ctl.jobfile.site_names import NOTHING_KNOWN, KnownNames
from d0ctl.jobfile.source import mapping_of, text_of
from d0ctl.jobfile.spec import JobSpec, LineSpec, StageSpec, has_file
from d0ctl.jobfile.stage_advice import not_copied
from d0ctl.jobfile.yaml.faults import Faults, few_comparisons
from d0ctl.units import REQUESTS

__all__ = ["KnownNames", "read", "read_text"]

NO_PARAMETERS: Mapping[str, str] = {}


def read(
    path: Path, parameters: Mapping[str, str] = NO_PARAMETERS, known: KnownNames = NOTHING_KNOWN
) -> JobSpec:
    """Read and check a job file; `parameters` replace those in it.

    Raises BadJobFile with every fault of the file.
    """
    text = text_of(path)
    return read_text(text, str(path), path.parent, parameters, known)


@without_collector()
@few_comparisons()
def read_text(
    text: str,
    source: str = "-",
    directory: Path | None = None,
    parameters: Mapping[str, str] = NO_PARAMETERS,
    known: KnownNames = NOTHING_KNOWN,
    *,
    is_seen: bool = True,
    submitter: str | None = None,
    name: str | None = None,
) -> JobSpec:
    """Read a job from a text; faults name it `source`, its files are in `directory`.

    For a generated text, faults and warnings have no position. The submitter, by default the
    current user, is the originator of a job that names none; the name is that of a job whose text
    has none.
    """
    faults = Faults(source if is_seen else None)
    root = mapping_of(text, faults, "`job` and `stages`")
    folder = local_files.absolute(str(directory or "."))
    reading = Reading(faults, folder, Scope(), known)
    recipe = read_job(root, reading, parameters)
    if reading.listed["values"] > MAX_LISTED:
        raise BadJobFile(faults.lines())  # what was listed takes long to check
    named = "job" in recipe.fields.fixed
    name = recipe.fields.fixed.get("job") or name or job_name_of(source)
    spec = spec_of(recipe, name, named, source, folder, known, faults, is_seen=is_seen,
                   submitter=submitter)  # fmt: skip
    return replace(spec, text=text, warnings=tuple(faults.warnings.lines()),
                   left_out=tuple(faults.left_out.lines()))  # fmt: skip


def spec_of(
    recipe: JobRecipe,
    name: str,
    named: bool,
    source: str,
    folder: str,
    known: KnownNames,
    faults: Faults,
    *,
    is_seen: bool = True,
    submitter: str | None = None,
) -> JobSpec:
    """Check a job as a whole. Raises BadJobFile with every fault."""
    checked = check_job(recipe, name, folder, known, faults)
    if faults:
        raise BadJobFile(faults.lines(), note=faults.note)
    advise(recipe, checked.files, faults.warnings, is_seen=is_seen)
    not_copied(recipe, checked.files, checked.outputs, known, faults.warnings)
    settings = settings_of(recipe, name, folder, source, submitter)
    return replace(
        settings, named=named, stages=_stages(recipe, checked), packages=checked.packages,
        others=checked.others,
    )  # fmt: skip


def _stages(recipe: JobRecipe, checked: Checked) -> tuple[StageSpec, ...]:
    late = late_stages(recipe.stages)
    return tuple(
        StageSpec(
            stage.name,
            StageLines(stage, checked.files, checked.order, checked.outputs[stage.name]),
            stage.require,
            stage.max_running,
            checked.order.stages(stage.after),
            stage.final,
            LineKinds(stage, checked.files, checked.order) if has_loops(stage) else None,
            stage.name in late,
        )
        for stage in recipe.stages
    )


def settings_of(
    recipe: JobRecipe, name: str, folder: str, source: str, submitter: str | None
) -> JobSpec:
    """Return a job without stages: its settings as a whole."""
    fields = recipe.fields.fixed
    return JobSpec(
        name=name,
        named=False,
        title=fields.get("title", ""),
        originator=fields.get("originator") or submitter or current_user(),
        priority=fields.get("priority", 50),
        hold=fields.get("hold", False),
        parameters=recipe.parameters,
        policy=recipe.policy,
        directory=folder,
        source=local_files.absolute(source) if has_file(source) else source,
        stages=(),
        packages=0,
        mail=fields.get("mail"),
        max_alike_failures=fields.get("max_alike_failures"),
        max_running=fields.get("max_running"),
        max_failures=fields.get("max_failures"),
    )


def job_name_of(source: str) -> str:
    """Make the name of a job from the name of its file."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", Path(source).stem).strip("-_")
    if not name:
        return "job"
    return (name if name[0].isalpha() else f"job-{name}")[:100]


def current_user() -> str:
    """Return `USER@HOST` of the current user."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    host = socket.gethostname()
    return f"{user}@{host}" if host else user


class StageLines(Struct, frozen=True):
    """The lines of one stage."""

    stage: StageRecipe
    files: InputFiles
    order: LineOrder
    outputs: Sequence[str]
    """The names of all outputs, in the order of their makers, as the check has made them."""
    cached_lines: list[LineSpec] = field(default_factory=list)
    """Lines without loops, which take more to make than to keep beside their recipes."""

    def __iter__(self) -> Iterator[LineSpec]:
        if not self.cached_lines and not has_loops(self.stage):
            with without_collector():
                self.cached_lines.extend(self._made())
        return iter(self.cached_lines) if self.cached_lines else self._made()

    def _made(self) -> Iterator[LineSpec]:
        number = 0
        name = iter(self.outputs).__next__
        for line in self.stage.lines:
            make = line_maker(line, self.stage.name, self.files, self.order, name)
            for at, values in enumerate(line.loop):
                number += 1
                yield make(values, at, number)

    def __len__(self) -> int:
        return sum(line.loop.size for line in self.stage.lines)

    def __repr__(self) -> str:
        return f"<lines of stage {self.stage.name}>"


def has_loops(stage: StageRecipe) -> bool:
    """Return whether a recipe of the stage makes several lines."""
    return any(line.loop.size > 1 for line in stage.lines)


class LineKinds(Struct, frozen=True):
    """The various requests of the lines of one stage."""

    stage: StageRecipe
    files: InputFiles
    order: LineOrder

    def __iter__(self) -> Iterator[LineSpec]:
        number = 1
        for line in self.stage.lines:
            make = line_maker(line, self.stage.name, self.files, self.order, None)
            most = 1 if _ask_alike(line) else None
            for at, values in enumerate(islice(line.loop, most)):
                yield make(values, at, number + at)
            number += line.loop.size


_ASKED = frozenset(
    {
        *REQUESTS, "platform", "nodes", "exclude_nodes", "software", "needs",
        "work_size", "size",
    }
)  # fmt: skip
"""The fields with the requests of a package."""


def _ask_alike(line: LineRecipe) -> bool:
    """Return whether all lines of a recipe have the same requests."""
    binaries = [binary for package in line.packages for binary in package.binaries]
    inputs = [entry for binary in binaries for entry in binary.inputs]
    fields = [
        *(package.fields for package in line.packages),
        *(binary.fields for binary in binaries),
        *(entry.fields for entry in inputs),
        *(output.fields for binary in binaries for output in binary.outputs),
    ]
    return not any(_ASKED & field.varying.keys() for field in fields) and not any(
        "size" in entry.fields.fixed and entry.file is None for entry in inputs
    )
