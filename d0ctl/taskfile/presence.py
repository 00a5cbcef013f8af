"""The inputs of a task that are missing when it is submitted, each a fault with its position."""

from d0ctl.catalogues import BUILT_IN
from d0ctl.jobfile import local_files
from d0ctl.jobfile.sections import other_files
from d0ctl.jobfile.sections.catalogues import read_rows
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.sections.loop_sources import read_csv, read_glob, read_lines
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar
from d0ctl.jobfile.yaml.document import Sequence as ListNode
from d0ctl.jobfile.yaml.faults import Faults, Position, did_you_mean, shown
from d0ctl.plugins import installed, named
from d0ctl.taskfile.spec import Rules
from d0ctl.units import listed

LATER = ": `wait-for-input: yes` under `split` if its files come later"
"""What helps if files are not there yet."""

LOCAL = {"glob": read_glob, "lines": read_lines, "csv": read_csv}
"""The sources on this machine, by their keys."""


def check(level: Level, rules: Rules) -> None:
    """Record a fault for each input that is not there, and for each name that nothing has.

    Files may come later if the task waits for input; a catalogue is not asked, as it may be down.
    """
    inputs = level.get("inputs")
    for _, node in inputs.items.values() if isinstance(inputs, Mapping) else ():
        items = {key: value for key, (_, value) in node.items.items()} if isinstance(
            node, Mapping) else {"list": node}  # fmt: skip
        for kind, source in items.items():
            _check_name(kind, source, node, level.reading)
            if kind in LOCAL and not rules.waits_for_input:
                LOCAL[kind](source, _hinting(level.reading))
        files = items.get("list")
        if isinstance(files, ListNode) and rules.takes_files and not rules.waits_for_input:
            _check_files(files, level.reading)
    if "parent" in level:
        _check_task(level.get("parent"), None, level.reading)


def _check_name(kind: str, source: Node, node: Node, reading: Reading) -> None:
    """Compare the name of a catalogue, a node or a task with those that there are."""
    if kind == "catalogue":
        _check_catalogue(source, reading)
    elif kind == "task":
        _check_task(source, node, reading)
    elif kind == "cache":
        assert isinstance(node, Mapping)
        names = reading.known.nodes
        if isinstance(source, Scalar) and names is not None and source.text not in names:
            other_files.of_cache(node, reading)


def _check_catalogue(source: Node, reading: Reading) -> None:
    scalar = reading.scalar(source, "`catalogue`")
    name = reading.text(scalar).strip().partition(" ")[0] if scalar is not None else ""
    if name in BUILT_IN:
        read_rows(source, 1, reading)
    elif scalar is not None and named("catalogue", name) is None:
        known = [*BUILT_IN, *(plugin.name for plugin in installed("catalogue"))]
        hint = did_you_mean(name, known) or f"; there are {listed(map(shown, known))}"
        reading.fault(source.position, f"no installed package has a catalogue {shown(name)}{hint}")


def _check_task(source: Node | None, node: Node | None, reading: Reading) -> None:
    """Check that there is a task, and that it has the dataset that a source names."""
    if not isinstance(source, Scalar) or reading.known.outputs_of is None:
        return
    name = reading.text(source)
    outputs = reading.known.outputs_of(name)
    wanted = node.items.get("dataset") if isinstance(node, Mapping) else None
    if outputs is None:
        reading.fault(source.position, f"there is no task {shown(name)}: d0ctl task list")
    elif wanted is not None and isinstance(wanted[1], Scalar):
        dataset = reading.text(wanted[1])
        if dataset not in outputs:
            hint = did_you_mean(dataset, outputs) or f": d0ctl task status {name}"
            message = f"task {shown(name)} has no output dataset {shown(dataset)}{hint}"
            reading.fault(wanted[1].position, message)


def _check_files(files: ListNode, reading: Reading) -> None:
    for item in files.items:
        name = reading.text(item) if isinstance(item, Scalar) else ""
        if name and ":" not in name:
            path = local_files.absolute(reading.directory, name)
            if local_files.size_of(path) is None:
                near_by = did_you_mean(name, local_files.beside(reading.directory, name))
                message = f"there is no file {shown(name)}{near_by}"
                reading.faults.add_similar(item.position, "no file", f"{message}{LATER}")


class _Hinting(Faults):
    """Faults that also say what helps if files are not there yet."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(None, faults.what)
        self._all = faults

    def add(self, position: Position, message: str) -> None:
        """Record a fault."""
        is_absent = message.startswith(("no file matches", "there is no file"))
        self._all.add(position, f"{message}{LATER if is_absent else ''}")


def _hinting(reading: Reading) -> Reading:
    return Reading(_Hinting(reading.faults), reading.directory, reading.scope, reading.known)
