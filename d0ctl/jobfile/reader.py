"""Read a job file and return a JobSpec."""

import getpass
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.checks.job import Checked, check_job
from d0ctl.jobfile.checks.warnings import advise
from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.language.placeholders import Scope
from d0ctl.jobfile.recipe import JobRecipe
from d0ctl.jobfile.sections.late_outputs import late_stages
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.sections.loops import MAX_LISTED
from d0ctl.jobfile.sections.stages import read_job
from d0ctl.jobfile.site_names import NOTHING_KNOWN, KnownNames
from d0ctl.jobfile.source import mapping_of, text_of
from d0ctl.jobfile.spec import JobSpec, StageSpec
from d0ctl.jobfile.stage_lines import LineKinds, StageLines, has_loops
from d0ctl.jobfile.yaml.faults import Faults, few_comparisons

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
) -> JobSpec:
    """Read a job from a text; faults name it `source`, its files are in `directory`.

    For a generated text, faults and warnings have no position.
    """
    faults = Faults(source if is_seen else None)
    root = mapping_of(text, faults, "`job` and `stages`")
    folder = local_files.absolute(str(directory or "."))
    reading = Reading(faults, folder, Scope(), known)
    recipe = read_job(root, reading, parameters)
    if reading.listed["values"] > MAX_LISTED:
        raise BadJobFile(faults.lines())  # what was listed takes long to check
    named = "job" in recipe.fields.fixed
    name = recipe.fields.fixed.get("job") or job_name_of(source)
    spec = spec_of(recipe, name, named, source, folder, known, faults, is_seen=is_seen)
    return replace(spec, text=text, warnings=tuple(faults.warnings.lines()))


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
) -> JobSpec:
    """Check a job as a whole. Raises BadJobFile with every fault."""
    checked = check_job(recipe, name, folder, known, faults)
    if faults:
        raise BadJobFile(faults.lines())
    advise(recipe, checked.files, faults.warnings, is_seen=is_seen)
    settings = settings_of(recipe, name, folder, source)
    return replace(
        settings, named=named, stages=_stages(recipe, checked), packages=checked.packages
    )


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


def settings_of(recipe: JobRecipe, name: str, folder: str, source: str) -> JobSpec:
    """Return a job without stages: its settings as a whole."""
    fields = recipe.fields.fixed
    return JobSpec(
        name=name,
        named=False,
        title=fields.get("title", ""),
        originator=fields.get("originator") or current_user(),
        priority=fields.get("priority", 50),
        hold=fields.get("hold", False),
        parameters=recipe.parameters,
        policy=recipe.policy,
        directory=folder,
        source=local_files.absolute(source) if source != "-" else source,
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
