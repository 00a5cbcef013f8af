"""Groups of values as the values of a loop name: each 20 files of a stage, 2 GB, 10^5 events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import FLAG, BadValueError
from d0ctl.jobfile.language.file_names import is_pattern, output_name, own_name
from d0ctl.jobfile.language.name_index import NameIndex, too_long
from d0ctl.jobfile.language.placeholders import LoopGroup
from d0ctl.jobfile.recipe import BinaryRecipe, StageRecipe
from d0ctl.jobfile.sections import other_files, splitters
from d0ctl.jobfile.sections.loop_sources import MAX_VALUES
from d0ctl.jobfile.sections.splitters import COUNT, Limit, Member
from d0ctl.jobfile.site_names import OtherFile, OtherInput
from d0ctl.jobfile.stage_advice import nothing_to_read
from d0ctl.jobfile.yaml.document import Mapping, Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

if TYPE_CHECKING:
    from d0ctl.jobfile.sections.level import Reading

GROUP_KEYS = ("from", "match", "cache", "unread", "by", "whole")
"""The keys of a loop name with groups as values, beside those of its source."""


class Members(NamedTuple):
    """The members of groups; for late outputs the files, or the patterns while these are open."""

    found: Sequence[Member]
    is_late: bool = False
    is_open: bool = False
    are_there: bool = True
    """Whether there are outputs, which may be late ones that are no files."""


def grouped(node: Mapping, members: Members, limit: Limit, reading: Reading) -> list[LoopGroup]:
    """Group the members; one group stands for all while they are not known."""
    if members.is_open or (members.is_late and not members.found):
        return [_group(1, members.found)]
    return _grouped(node, members.found, limit, reading)


def _grouped(
    node: Mapping, members: Sequence[Member], limit: Limit, reading: Reading
) -> list[LoopGroup]:
    """Group the members in their order; the last group may be smaller.

    With `whole: yes` the members of a smaller last group are left out.
    """
    by = node.items["by"][1].position
    seen: set[str] = set()
    for member in members:
        if member.name in seen:
            reading.fault(by, f"{shown(member.name)} would go into groups twice: list it once")
            return []
        seen.add(member.name)
    if limit.plugin is not None:
        return splitters.split(limit.plugin, limit.argument, node, members, reading)
    weights: list[int] = []
    for member in members:
        weight = 1 if limit.kind == "members" else getattr(member, limit.kind)
        if weight is None:
            unit = "size" if limit.kind == "size" else "number of events"
            message = f"the {unit} of {shown(member.name)} is not known: {_advice(limit)}"
            reading.fault(by, message)
            return []
        weights.append(weight)
    groups = list(_cut(members, weights, limit.size))
    if not _is_whole(node, reading) or not groups:
        return groups
    if limit.kind != "members":
        position = node.items["whole"][0].position
        reading.fault(position, "`whole` needs a number of files in `by`")
    elif len(groups[-1].members) < limit.size:
        left = groups.pop().members
        names = shown(left[0]) + (f" to {shown(left[-1])}" if len(left) > 1 else "")
        if not groups:
            reading.fault(by, f"{len(members)} files do not fill a group of {limit.size}")
        message = f"{len(left)} of {len(members)} left out because of `whole`: {names}"
        reading.faults.leave_out(by, message)
    return groups


def _advice(limit: Limit) -> str:
    if limit.kind == "events":
        return "`by` events needs a csv file with the columns `file` and `events`"
    return "add `size` to the output, or use a number of files"


def _cut(members: Sequence[Member], weights: Sequence[int], limit: int) -> Iterator[LoopGroup]:
    """Close a group before the member that would make it too large."""
    begin, total, number = 0, 0, 1
    for at, weight in enumerate(weights):
        if at > begin and total + weight > limit:
            yield _group(number, members[begin:at])
            begin, total, number = at, 0, number + 1
        total += weight
    if members:
        yield _group(number, members[begin:])


def _group(number: int, members: Sequence[Member]) -> LoopGroup:
    return LoopGroup(str(number), tuple([member.name for member in members]))


def _is_whole(node: Mapping, reading: Reading) -> bool:
    if "whole" not in node.items:
        return False
    scalar = reading.scalar(node.items["whole"][1], "`whole`")
    try:
        return scalar is not None and bool(FLAG.convert(reading.text(scalar)))
    except ValueError:
        assert scalar is not None
        reading.fault(scalar.position, f"`whole` takes {FLAG.expected}, not {shown(scalar.text)}")
        return False


def stage_members(node: Mapping, reading: Reading) -> Members:
    """Return the files of `from`: the outputs of a stage that no package of it consumes."""
    scalar = reading.scalar(node.items["from"][1], "`from`")
    if scalar is None:
        return Members(())
    name = reading.text(scalar)
    if "/" in name:
        return Members(_other_members(name, scalar, node, reading))
    stage = next((stage for stage in reversed(reading.stages) if stage.name == name), None)
    if stage is None:
        hint = did_you_mean(name, (stage.name for stage in reading.stages))
        reading.fault(scalar.position, f"there is no stage {shown(name)} before this one{hint}")
        return Members(())
    made = sum(line.loop.size * max(1, line.files) for line in stage.lines)
    if made > MAX_VALUES:
        message = f"stage {shown(name)} has {made:,} inputs and outputs (at most {MAX_VALUES:,})"
        reading.fault(scalar.position, message)
        return Members(())
    if name not in reading.grouped:
        reading.grouped[name] = _of_stage(stage, reading)
    members: Members = reading.grouped[name]
    if members.is_open:
        if any(line.loop.is_open for line in stage.lines):
            return members
        return members._replace(found=_possible(members.found, name, node, reading))
    if not members.are_there and not reading.faults:
        reading.fault(scalar.position, nothing_to_read(reading.stages, name))
    return members._replace(
        found=_matching(members.found, name, node, reading, is_late=members.is_late)
    )


def _possible(
    members: Sequence[Member], stage: str, node: Mapping, reading: Reading
) -> Sequence[Member]:
    """Return the late outputs, and the outputs that match: all others go to results."""
    late = [member for member in members if is_pattern(member.name)]
    plain = [member for member in members if not is_pattern(member.name)]
    return [*_matching(plain, stage, node, reading, is_late=True), *late]


def _of_stage(stage: StageRecipe, reading: Reading) -> Members:
    """Return the files of a stage, whatever `match` says."""
    members = list(_unconsumed(stage))
    patterns = {member.name for member in members if is_pattern(member.name)}
    loops = [line.loop for line in stage.lines]
    late = reading.known.late
    if patterns - late.keys() or any(loop.is_open for loop in loops):
        return Members(members, is_late=True, is_open=True)
    is_late = bool(patterns) or any(loop.is_late for loop in loops)
    files = [file for member in members for file in _files_of(member, late)]
    return Members(files, is_late, are_there=bool(members))


def _files_of(member: Member, late: AnyMapping[str, Sequence[OtherFile]]) -> Sequence[Member]:
    """Return the files of a late output; any other output as it is."""
    if member.name not in late:
        return (member,)
    return [Member(file.name, file.size) for file in late[member.name]]


def _note_late(late: str, stage: str, scalar: Scalar, reading: Reading) -> None:
    message = f"late output {shown(late)} of stage {shown(stage)} can't be counted"
    reading.fault(scalar.position, f"{message}: its files get names when they are made")


def _other_members(name: str, scalar: Scalar, node: Mapping, reading: Reading) -> Sequence[Member]:
    """Return the files of `from: JOB/STAGE`."""
    job, _, stage = name.partition("/")
    wanted = OtherInput(job, stage=stage, match=other_files.text_of("match", node, reading))
    files = other_files.of_stage(wanted, scalar.position, reading.known, reading.faults)
    files = [file for file in files if not file.is_left_out]
    late = [file.name for file in files if file.is_late]
    if late:
        _note_late(late[0], name, scalar, reading)
        return []
    return _matching([Member(file.name, file.size) for file in files], name, node, reading)


def _matching(
    members: Sequence[Member], stage: str, node: Mapping, reading: Reading, *, is_late: bool = False
) -> Sequence[Member]:
    """Return the members that match `match`; for files of other jobs, names without the job.

    It is no fault if no late output matches.
    """
    if "match" not in node.items or not members:
        return members
    pattern = reading.scalar(node.items["match"][1], "`match`")
    text = reading.text(pattern) if pattern is not None else ""
    key = "index", stage
    if key not in reading.sources:
        reading.sources[key] = NameIndex([own_name(file.name) for file in members])
    index: NameIndex = reading.sources[key]
    members = [members[at] for at in index.matching(text)]
    if index.is_spent and pattern is not None:
        reading.fault(pattern.position, too_long(text))
    elif not (members or is_late or pattern is None or reading.faults.hidden):
        message = f"no output of stage {shown(stage)} matches {shown(text)}"
        reading.fault(pattern.position, message)
    return members


def _unconsumed(stage: StageRecipe) -> Iterator[Member]:
    """Iterate over the outputs of a stage that none of its named inputs reads."""
    members: dict[str, Member] = {}
    consumed: set[str] = set()
    for line in stage.lines:
        binaries = [binary for package in line.packages for binary in package.binaries]
        for values in line.loop:
            for binary in binaries:
                members.update((member.name, member) for member in _made(binary, values))
                consumed.update(
                    recipe.file.render(values)
                    for recipe in binary.inputs
                    if recipe.file is not None
                )
    return (member for member in members.values() if member.name not in consumed)


def _made(binary: BinaryRecipe, values: tuple[Any, ...]) -> Iterator[Member]:
    for output in binary.outputs:
        if output.file.broken:
            continue
        try:
            name = output_name(output.file.render(values))
            yield Member(name, output.fields.get(values).get("size"))
        except BadValueError:
            continue


def file_members(names: Iterable[str], directory: str) -> list[Member]:
    """Return files beside the job file, with their sizes."""
    return [
        Member(name, local_files.size_of(local_files.absolute(directory, name))) for name in names
    ]


def row_members(
    rows: Sequence[tuple[str, ...]], columns: Sequence[str], node: Mapping, reading: Reading
) -> list[Member]:
    """Return the files of a csv file with their sizes and events."""
    source = "csv" if "csv" in node.items else "catalogue"
    position = node.items[source][1].position
    if "file" not in columns:
        file = "csv file" if source == "csv" else source
        reading.fault(position, f"files of a {file} need a column `file`")
        return []
    members = []
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        for column in ("size", "events"):
            if column in values and not COUNT.fullmatch(values[column].strip()):
                message = f"column `{column}` has {shown(values[column])}, which is not a number"
                reading.fault(position, message)
                return []
        size, events = (int(values[key]) if key in values else None for key in ("size", "events"))
        members.append(Member(values["file"], size, events))
    return members
