"""The job file that a task file stands for, and the values of the loop of its one line."""

from collections.abc import Sequence as AnySequence

from d0ctl.jobfile.language.placeholders import LoopGroup, LoopName
from d0ctl.jobfile.recipe import Loop, Names
from d0ctl.jobfile.yaml.document import Mapping, Scalar, Sequence
from d0ctl.taskfile.spec import STAGE

OF_JOB = (
    "title", "originator", "mail", "priority", "max-running", "max-failures", "max-alike-failures",
    "parameters", "policy",
)  # fmt: skip
"""Keys that a task file has in common with a job file."""

LOOP = "contents"
"""What `for` says in the line of a task: its values are files of datasets."""

COLUMNS = ("index", "first", "last", "events")
"""What a package has besides its files: its number, its first and last event, and how many."""


def loop_of(
    groups: AnySequence[LoopGroup], events: AnySequence[tuple[int, int]], first: int
) -> Loop:
    """Return the loop over packages: the files of each, its range of events, and its number."""
    ranges = events or [(0, 0)] * len(groups)
    rows = [
        (str(first + at), str(begin), str(begin + number - 1 if number else 0), str(number))
        for at, (begin, number) in enumerate(ranges)
    ]
    names = {"files": LoopName(0, is_group=True), "package": LoopName(0, COLUMNS)}
    return Loop([Names(names, [groups, rows])])


def job_tree(root: Mapping) -> Mapping:
    """Return the job file that makes the packages of a task file, without its loop values."""
    at = root.position
    items = {key: root.items[key] for key in OF_JOB if key in root.items}
    key, process = root.items.get("process", (Scalar(at, "process"), None))
    line = Mapping(at)
    if isinstance(process, Mapping):
        line = Mapping(process.position, dict(process.items))
        line.items["for"] = (key, Scalar(key.position, LOOP))
        line.items.setdefault("name", (key, Scalar(key.position, "{package.index}")))
    stage = Mapping(at, {
        "name": (key, Scalar(key.position, STAGE)),
        "lines": (key, Sequence(key.position, [line])),
    })  # fmt: skip
    items["stages"] = (key, Sequence(key.position, [stage]))
    return Mapping(at, items)
