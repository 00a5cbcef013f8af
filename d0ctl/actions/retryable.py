"""Packages that would fail again or never start, and why."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from d0ctl.actions import undo
from d0ctl.actions.action import MOST_SHOWN
from d0ctl.model import Phase
from d0ctl.select import Selector
from d0ctl.select.condense import by_state
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import retry
from d0ctl.store.jobs.restore_line import line_launched_without, lines_to_restore
from d0ctl.store.jobs.scripts import Script
from d0ctl.store.nodes import contact
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of
from d0ctl.store.nodes.fitting import Nodes, in_words
from d0ctl.store.views import selection
from d0ctl.units import count, listed

BY_NAME = frozenset({Phase.CANCELED, Phase.COOLOFF})
"""Packages that are retried only if they are selected by their path or state."""

AT_A_LIMIT = {
    "out-of-memory": "it ran out of memory and would get no more: --memory SIZE",
    "wall-time": "it ran out of time and would get no more: --wall-time TIME",
}


MOST_MAKERS = 3
"""How many of the packages are named that have to run first."""


MOST_PATHS = 3
"""Up to how many paths of lines a command has; of more, it has ranges."""


def keep_retryable(selected: Selection, target: Selector, now: float) -> Selection:
    """Select only the packages of a target that are retried: failed ones, and those that are named.

    Each part counts as it does alone.
    """
    parts = defaultdict[frozenset[Phase], list[Selector]](list)
    for part in target.parts:
        parts[_phases(part)].append(part)
    if len(parts) == 1:
        retry.keep_phases(selected, *parts)
        return selected
    store, packages = selected.store, set[int]()
    for phases, (first, *others) in parts.items():
        joined = replace(first, also=tuple(others))
        of_parts = selection.choose(store, joined, now=now, lenient=True)
        packages |= retry.in_phases(of_parts, phases)
    return store.select(packages)


def selects(target: Selector, phase: Phase) -> bool:
    """Return whether packages in a phase are retried if some of the selected ones are."""
    return any(phase in _phases(part) for part in target.parts)


def _phases(part: Selector) -> frozenset[Phase]:
    """Return the phases of a part that are retried: failed, and those that it selects by name."""
    is_path = part.is_one and part.level == "package"
    return (BY_NAME if is_path else BY_NAME & frozenset(part.phases or ())) | {Phase.FAILED}


def not_retryable(
    selected: Selection,
    memory: int | None,
    wall_time: float | None,
    jobs: Iterable[int],
    scripts: Iterable[Script] = (),
) -> dict[int, str]:
    """Return the selected packages that would fail again, with a clause that says why.

    They would have this memory and wall time, and read the files of these jobs as they are now.
    Packages with other `scripts` may need less.
    """
    others = {each.package for each in scripts}
    limits = retry.at_a_limit(selected, memory, wall_time, jobs)
    reasons = {package: AT_A_LIMIT[reason] for package, reason in limits.items()
               if package not in others}  # fmt: skip
    for package, name in retry.without_inputs(selected).items():
        reasons[package] = f"it needs file `{name}` of a dropped line"
    return reasons


def without_node(selected: Selection, changes: Mapping[str, Any], now: float) -> dict[int, str]:
    """Return the selected packages that no node can take with changed requests, and why."""
    found: dict[int, str] = {}
    nodes, catalogue = Nodes(selected.store, now=now), Catalogue(selected.store)
    for requirement in retry.requirements(selected):
        if why := _no_node(
            nodes, catalogue, retry.changed(requirement, changes), requirement.job_id
        ):
            found |= dict.fromkeys(retry.of_requirement(selected, requirement.id), why)
    return found


def _no_node(nodes: Nodes, catalogue: Catalogue, asked: Mapping[str, Any], job: int) -> str | None:
    """Return why no node can ever take packages with this request; None if one can."""
    row = {**asked, "id": 0, "ready": 1, "stage_id": 0, "job_id": job}
    requirement = requirement_of(row, catalogue, seconds=None)
    reasons = nodes.misfits(requirement)
    return f"no node can take it: {in_words(reasons)}" if reasons else None


def restoring(selected: Selection, target: Selector) -> str:
    """Return how to restore the dropped line of the selected packages."""
    line = "/".join(target.path.split("/")[:3])
    own = lifecycle.line_ids(selected)
    return how_to_restore(selected.store, own) or restore_command(selected.store, [line], own)


def how_to_restore(store: Store, lines: Sequence[int]) -> str | None:
    """Return how to restore dropped lines by their ids; None if nothing has to be restored for it.

    It is a command, unless an update removed all lines that have to come back.
    """
    found = [line for each in lines for line in lines_to_restore(store, each)]
    if paths := dict.fromkeys(line.path for line in found if not line.is_removed):
        return restore_command(store, paths, lines)
    if not found:
        return None
    removed = dict.fromkeys(line.path for line in found)
    them = f"`{found[0].path}`" if len(removed) == 1 else "the lines"
    update = undo.command("update", [found[0].path.partition("/")[0]])
    return f"to restore it, put {them} back into the job file, then: {update}"


def staying(store: Store, lines: Sequence[int], packages: int) -> tuple[str, ...]:
    """Say how many packages of lines to restore stay dropped, and what brings them back."""
    if not packages:
        return ()
    stay = count(packages, "package stays dropped, as files that it needs are",
                 "packages stay dropped, as files that they need are")  # fmt: skip
    return (f"{stay}: {how_to_restore(store, lines)}",)


def stay_dropped(store: Store, lines: Sequence[int]) -> str:
    """Say how many lines of a job file stay dropped, and what restores them; empty without any."""
    if not lines:
        return ""
    how = how_to_restore(store, lines[:MOST_SHOWN])
    more = " ..." if len(lines) > MOST_SHOWN else ""
    stay = count(len(lines), "line of the job file stays", "lines of the job file stay")
    return f"{stay} dropped: {how}{more}"


def removed_lines(paths: Sequence[str]) -> Iterator[str]:
    """Say that later stages do without lines to restore that the job file does not have."""
    if paths:
        is_one = len(paths) == 1
        lines, them = (f"`{paths[0]}`", "it") if is_one else (f"{len(paths):,} lines", "them")
        update = undo.command("update", [paths[0].partition("/")[0]])
        yield (f"the job file does not have {lines}, so `from` leaves these files out: "
               f"put {them} back there, then `{update}`")  # fmt: skip


def restore_command(store: Store, paths: Iterable[str], lines: Iterable[int]) -> str:
    """Return the command that restores lines by their paths, with these and others by their ids."""
    named = list(paths)
    targets = named if len(named) <= MOST_PATHS else undo.ranges(named)
    readers = [line_launched_without(store, line) for line in lines]
    more = ["--again"] * any(reader and reader["phase"] == Phase.DONE for reader in readers)
    return undo.command("restore-line", targets, *more)


def left_behind(selected: Selection) -> Iterator[str]:
    """Say what earlier attempts left: some go on, as their nodes don't know yet that they have been
    given up, and of some there are partial files.
    """
    if (found := contact.left_behind(selected)) and found["packages"]:
        runs = count(found["packages"], "package may run twice: its earlier attempt continues",
                     "packages may run twice: their earlier attempts continue")  # fmt: skip
        nodes = f"`{found['node']}`" if found["nodes"] == 1 else "their nodes"
        yield f"{runs} until {nodes} can be reached again"
    if partial := retry.partial_outputs(selected):
        files = count(partial, "partial file that was kept is", "partial files that were kept are")
        yield f"{files} made again"


def dropped_readers(selected: Selection) -> str:
    """Say which dropped lines read the files of the selected packages; empty if none does."""
    found, lines = retry.dropped_readers(selected)
    if not found.number:
        return ""
    stay = count(found.number, "line that reads their files stays",
                 "lines that read their files stay")  # fmt: skip
    more = "" if found.number == len(found.first) else " ..."
    return f"{stay} dropped: `{restore_command(selected.store, found.first, lines)}{more}`"


def waits_for(ended: Sequence[tuple[str, str]], packages: int) -> str:
    """Say which packages, that failed or were canceled, have to run before some can start."""
    starts = "it can't start" if packages == 1 else "some of them can't start"
    named = [f"`{path}` ({phase})" for path, phase in ended[:MOST_MAKERS]]
    if (more := len(ended) - MOST_MAKERS) > 0:
        named.append(f"{more:,} more")
    command = undo.command("retry", by_state(ended, MOST_MAKERS))
    return f"{starts} without {listed(named)}: `{command}`"
