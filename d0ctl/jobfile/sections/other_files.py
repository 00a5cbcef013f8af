"""Files of other jobs that a job reads: the outputs of a stage, or the files in a node's cache."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from d0ctl.jobfile.language.field_types import FLAG
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.site_names import KnownNames, OtherFile, OtherInput
from d0ctl.jobfile.yaml.document import Mapping, Scalar
from d0ctl.jobfile.yaml.faults import Faults, Position, did_you_mean, shown
from d0ctl.units import listed

MOST_NAMED = 5
"""How many stages of another job are named."""


def of_stage(
    wanted: OtherInput, position: Position, known: KnownNames, faults: Faults
) -> Sequence[OtherFile]:
    """Return the files of `from: JOB/STAGE`, as far as the site is known; record what is wrong."""
    job, stage = wanted.job, wanted.stage or ""
    if known.stage_of is None:
        return ()
    files = known.stage_of(job, stage)
    if files is None:
        known.lacks_job(wanted, position, faults)
        return ()
    if files.files is None:
        stages = listed(map(shown, files.stages[:MOST_NAMED]))
        hint = did_you_mean(stage, files.stages) or f": it has {stages}"
        faults.add(position, f"job {shown(job)} has no stage {shown(stage)}{hint}")
        return ()
    if all(file.is_left_out for file in files.files):
        message = f"stage {shown(stage)} of job {shown(job)} has no output that others can read"
        faults.add(position, message)
        return ()
    return files.files


def of_cache(node: Mapping, reading: Reading) -> Sequence[OtherFile]:
    """Return the files of `cache: NODE`: those in its cache, by `match` and `unread`."""
    scalar = reading.scalar(node.items["cache"][1], "`cache`")
    pattern, unread = text_of("match", node, reading), _is_unread(node, reading)
    known = reading.known
    if scalar is None or known.cached is None:
        return ()
    name = reading.text(scalar)
    if known.nodes is not None and name not in known.nodes:
        hint = did_you_mean(name, known.nodes) or ": d0ctl node list"
        reading.fault(scalar.position, f"there is no node {shown(name)}{hint}")
        return ()
    files = known.cached(name, unread)
    if pattern is not None:
        files = [file for file in files if _matches(file.name, pattern)]
    if not files:
        which = f" that matches {shown(pattern)}" if pattern is not None else ""
        reading.fault(scalar.position, f"the cache of node {shown(name)} has no file{which}")
    return files


def _matches(name: str, pattern: str) -> bool:
    """Compare `JOB:NAME` with a pattern, which may be one for names alone."""
    return fnmatchcase(name if ":" in pattern else name.partition(":")[2], pattern)


def text_of(key: str, node: Mapping, reading: Reading) -> str | None:
    """Return the text of a key; None if the entry does not have it."""
    scalar = reading.scalar(node.items[key][1], f"`{key}`") if key in node.items else None
    return reading.text(scalar) if scalar is not None else None


def _is_unread(node: Mapping, reading: Reading) -> bool:
    if "unread" not in node.items:
        return False
    value: Scalar | None = reading.scalar(node.items["unread"][1], "`unread`")
    try:
        return value is not None and bool(FLAG.convert(reading.text(value)))
    except ValueError:
        assert value is not None
        reading.fault(value.position, f"`unread` takes {FLAG.expected}, not {shown(value.text)}")
        return False
