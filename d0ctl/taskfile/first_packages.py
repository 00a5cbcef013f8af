"""The first packages that a task would make, tried when it is submitted."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.placeholders import LoopGroup
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.taskfile import sources
from d0ctl.taskfile.batch import Rule
from d0ctl.taskfile.spec import MERGE_STAGE, STAGE, DatasetSpec, Rules


def check(
    text: str, source: str, directory: str, parameters: Mapping[str, str], known: KnownNames,
    rules: Rules, datasets: Sequence[DatasetSpec], name: str,
) -> None:  # fmt: skip
    """Make a package of the first values, and one that merges its outputs.

    The values are of a dataset on this machine: two, if packages may have several. Raises
    BadJobFile with what would break the task later, such as an input that is not there.
    """
    inputs = [
        dataset.source
        for dataset in datasets
        if dataset.type == "input" and dataset.source is not None
    ]
    number = 2 if rules.allows_several else 1
    found = (sources.first(source, directory, number) for source in inputs)
    values = next(filter(None, found), () if rules.takes_files else ("1",))
    if not values or (rules.takes_files and not all(_is_here(name, directory) for name in values)):
        return
    events = rules.events_per_package or 0
    rule = Rule(text, source, directory, parameters, known, STAGE)
    spec = rule.packages([LoopGroup("1", values)], [(1 if events else 0, events)], 1)
    outputs = [output.file for line in spec.stages[0].lines for package in line.packages
               for binary in package.binaries for output in binary.outputs]  # fmt: skip
    if rules.merges and outputs:
        known = replace(known, produced=lambda job, file: True)
        merge = Rule(text, source, directory, parameters, known, MERGE_STAGE)
        merge.packages([LoopGroup("1", (f"{name}:{outputs[0]}",))], [], 1, [rules.merges[0]])


def _is_here(name: str, directory: str) -> bool:
    return local_files.size_of(local_files.absolute(directory, name)) is not None
