"""From a job file to a JobSpec: the way in."""

import getpass
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from d0ctl.construct import disk
from d0ctl.construct.check import Check
from d0ctl.construct.document import MOST_CHARACTERS, parse
from d0ctl.construct.document import Mapping as MappingNode
from d0ctl.construct.expand import StageLines
from d0ctl.construct.faults import Faults, Place, did_you_mean, escape
from d0ctl.construct.inputs import World
from d0ctl.construct.known import NOTHING_KNOWN, KnownNames
from d0ctl.construct.level import Reading, kind_of
from d0ctl.construct.recipe import JobRecipe
from d0ctl.construct.spec import JobSpec, StageSpec
from d0ctl.construct.stages import read_job
from d0ctl.construct.template import Scope
from d0ctl.errors import BadJobFile

__all__ = ["KnownNames", "read", "read_text"]

NO_PARAMETERS: Mapping[str, str] = {}


def read(
    path: Path, parameters: Mapping[str, str] = NO_PARAMETERS, known: KnownNames = NOTHING_KNOWN
) -> JobSpec:
    """Read and check a job file; `parameters` take the place of those in it.

    Raises BadJobFile with every fault of the file.
    """
    try:
        with path.open("rb") as file:
            data = file.read(4 * MOST_CHARACTERS + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(path, data, error) from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    return read_text(text, str(path), path.parent, parameters, known)


def read_text(
    text: str,
    source: str = "-",
    directory: Path | None = None,
    parameters: Mapping[str, str] = NO_PARAMETERS,
    known: KnownNames = NOTHING_KNOWN,
) -> JobSpec:
    """Read a job from a text; `source` is how faults name it, `directory` where its files lie."""
    faults = Faults(source)
    root = parse(text.replace("\r\n", "\n").replace("\r", "\n"), faults)
    if not isinstance(root, MappingNode):
        what = "it is empty" if root is None else f"this is {kind_of(root)}"
        place = root.place if root is not None else Place(1, 1)
        faults.add(place, f"a job file has keys such as `job` and `stages`; {what}")
        raise BadJobFile(faults.lines())
    folder = disk.absolute(str(directory or "."))
    nodes = None if known.nodes is None else frozenset(known.nodes)
    recipe = read_job(root, Reading(faults, folder, Scope(), nodes), parameters)
    named = "job" in recipe.fields.fixed
    name = recipe.fields.fixed.pop("job", None) or job_name_of(source)
    check = Check(recipe, name, World(folder), known, faults)
    check.run()
    if faults:
        raise BadJobFile(faults.lines())
    return _spec(recipe, check, name, named, source)


def _spec(recipe: JobRecipe, check: Check, name: str, named: bool, source: str) -> JobSpec:
    fields = recipe.fields.fixed
    stages = tuple(
        StageSpec(stage.name, StageLines(stage, check.world), stage.require)
        for stage in recipe.stages
    )
    return JobSpec(
        name=name,
        named=named,
        title=fields.get("title", ""),
        originator=fields.get("originator") or _originator(),
        priority=fields.get("priority", 50),
        hold=fields.get("hold", False),
        parameters=recipe.parameters,
        policy=recipe.policy,
        directory=check.world.directory,
        source=disk.absolute(source) if source != "-" else source,
        stages=stages,
        packages=check.packages,
    )


def job_name_of(source: str) -> str:
    """Make a job's name out of its file's."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", Path(source).stem).strip("-_")
    if not name:
        return "job"
    return (name if name[0].isalpha() else f"job-{name}")[:100]


def _originator() -> str:
    """Return who reads the file, as mail would name them."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    host = socket.gethostname()
    return f"{user}@{host}" if host else user


def _not_text(path: Path, data: bytes, error: UnicodeDecodeError) -> BadJobFile:
    before = data[: error.start]
    line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
    byte = data[error.start]
    told = f"the byte 0x{byte:02x} is no UTF-8 text, so this is no job file"
    return BadJobFile([escape(f"{path}:{line}:{column}: {told}")])


def _unreadable(path: Path, error: Exception) -> BadJobFile:
    if isinstance(error, FileNotFoundError):
        hint = did_you_mean(path.name, disk.beside(str(path.parent), path.name))
        return BadJobFile([escape(f"{path}: there is no such file{hint}")])
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return BadJobFile([escape(f"{path}: it can't be read: {reason}")])
