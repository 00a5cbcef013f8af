"""The job file that a task file stands for, and the values of the loop of its one line."""

from collections.abc import Sequence as AnySequence

from d0ctl.jobfile.language.placeholders import LoopGroup, LoopName
from d0ctl.jobfile.recipe import Loop, Names
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.taskfile.spec import STAGE

OF_JOB = (
    "title", "originator", "mail", "priority", "max-running", "max-failures", "max-alike-failures",
    "parameters", "policy",
)  # fmt: skip
"""Keys that a task file has in common with a job file."""

LOOP = "contents"
"""What `for` says in the line of a task: its values are files of datasets."""

COLUMNS = ("index", "first", "last", "events", "dataset")
"""What a package has besides its files: its number, its first and last event, and how many. One
that merges has the name of the dataset that gets the merged file."""


def loop_of(
    groups: AnySequence[LoopGroup], events: AnySequence[tuple[int, int]], first: int,
    datasets: AnySequence[str] = (),
) -> Loop:  # fmt: skip
    """Return the loop over packages: the files of each, its range of events, and its number."""
    ranges = events or [(0, 0)] * len(groups)
    names = datasets or [""] * len(groups)
    rows = [
        (str(at), str(begin), str(begin + number - 1), str(number), name) if number
        else (str(at), "0", "0", "0", name)
        for at, ((begin, number), name) in enumerate(zip(ranges, names, strict=True), first)
    ]  # fmt: skip
    loop = {"files": LoopName(0, is_group=True), "package": LoopName(0, COLUMNS)}
    return Loop([Names(loop, [groups, rows])])


def job_tree(
    root: Mapping, stages: AnySequence[str] = (STAGE,), rules: AnySequence[str] = ()
) -> Mapping:
    """Return the job file that makes the packages of a task file, without its loop values.

    Each of its stages is made of the key of the same name, less the `rules`.
    """
    at = root.position
    items = {key: root.items[key] for key in OF_JOB if key in root.items}
    trees: list[Node] = [
        _stage(root, name, rules) for name in stages if name in root.items or name == STAGE
    ]
    items["stages"] = (Scalar(at, "stages"), Sequence(at, trees))
    return Mapping(at, items)


def _stage(root: Mapping, name: str, rules: AnySequence[str]) -> Mapping:
    key, work = root.items.get(name, (Scalar(root.position, name), None))
    line = Mapping(root.position)
    if isinstance(work, Mapping):
        items = {key: value for key, value in work.items.items() if key not in rules}
        line = Mapping(work.position, items)
        line.items["for"] = (key, Scalar(key.position, LOOP))
        line.items.setdefault("name", (key, Scalar(key.position, "{package.index}")))
    return Mapping(root.position, {
        "name": (key, Scalar(key.position, name)),
        "lines": (key, Sequence(key.position, [line])),
    })  # fmt: skip
