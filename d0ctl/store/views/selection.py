"""The packages that a selector names."""

import json
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from math import prod
from shlex import quote

from msgspec.structs import replace

from d0ctl.errors import NotFound
from d0ctl.select import Selector, split, union
from d0ctl.select.selector import Span
from d0ctl.select.selector import numbers as numbers_of
from d0ctl.store.connection import Selection, Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import as_heard
from d0ctl.store.views.browse import (
    jobs,
    line,
    listing,
    nearest,
    no_such_job,
    numbers,
    package,
    stage,
    stages,
)
from d0ctl.store.views.shapes import PackageRow, StageSummary
from d0ctl.units import duration

MOST_BY_LINE = 5_000
"""From more lines on, packages in some phases are found by their phase."""


def choose(store: Store, wanted: Selector, *, now: float, lenient: bool = False) -> Selection:
    """Select the packages of a selector.

    Raises NotFound if there are none; with `lenient`, only if their level does not exist.
    """
    wanted = located(store, wanted)
    selected = store.select()
    if len(wanted.parts) == 1:
        parts, plain = [wanted], list[Selector]()
    else:
        plain = [part for part in wanted.parts if part.is_plain]
        parts = [part for part in wanted.parts if not part.is_plain]
    for part in _choose_plain(selected, plain):
        _check_levels(store, part)
        raise _nothing(store, part)
    for part in parts:
        if not _choose(selected, part, now) and not _matches(selected, wanted, part, now):
            _check_levels(store, part)
            if not (lenient and part.is_filtered):
                raise _nothing(store, part)
    return selected


def ids(store: Store, wanted: Selector, *, now: float) -> frozenset[int]:
    """Return the ids of the packages of a selector. Raises NotFound."""
    return frozenset(row[0] for row in choose(store, wanted, now=now).rows("selected_ids"))


def _choose_plain(selected: Selection, parts: Sequence[Selector]) -> list[Selector]:
    """Add the packages of selectors without filters, all at once; return those without any."""
    ranges = _ranges(parts)
    most = sum(map(_most, parts))
    if selected.change("choose_by_ranges", ranges=ranges) == most:
        return []
    return [parts[row["key"]] for row in selected.rows("empty_ranges", ranges=ranges)]


def _ranges(parts: Sequence[Selector]) -> str:
    return json.dumps([
        (part.job, part.stage.first, part.stage.last, part.line.first, part.line.last,
         part.package.first, part.package.last, part.stage_name)
        for part in parts
    ])  # fmt: skip


def with_phases(selected: Selection, wanted: Selector, phases: Iterable[str]) -> list[Selector]:
    """Return the parts of a selector that have selected packages in one of these phases."""
    parts = wanted.parts
    rows = selected.rows("ranges_with_phases", ranges=_ranges(parts), phases=json.dumps([*phases]))
    return [parts[row["key"]] for row in rows]


def _most(part: Selector) -> int:
    """Return how many packages a selector could name."""
    return prod(span.last - span.first + 1 for span in (part.stage, part.line, part.package))


def _matches(selected: Selection, wanted: Selector, part: Selector, now: float) -> bool:
    """Return whether a part that added nothing matches packages that other parts have added."""
    if not wanted.also:
        return False
    selected.empty("selected_package")
    matches = _choose(selected, part, now) > 0
    for other in wanted.parts:
        _choose(selected, other, now)
    return matches


def _choose(selected: Selection, wanted: Selector, now: float) -> int:
    """Add the packages of one selector; return how many are new."""
    if wanted.node is not None:
        check_node(selected.store, wanted.node)
    phases = wanted.phases
    by_phase = phases is not None and wanted.line.last - wanted.line.first > MOST_BY_LINE
    return selected.change(
        "choose_by_phase" if by_phase else "choose_by_path",
        job=wanted.job, stage_name=wanted.stage_name, stage_from=wanted.stage.first,
        stage_to=wanted.stage.last, line_from=wanted.line.first, line_to=wanted.line.last,
        package_from=wanted.package.first, package_to=wanted.package.last,
        phases=None if phases is None else json.dumps(phases), node=wanted.node,
        reason=wanted.reason,
        before=None if wanted.older_than is None else now - wanted.older_than,
    )  # fmt: skip


def check_node(store: Store, name: str) -> None:
    """Raise NotFound, with the nearest name, for a node that does not exist."""
    if not registry.find(store, name):
        raise registry.no_such_node(store, name)


def _check_levels(store: Store, wanted: Selector) -> None:
    """Raise NotFound for the first level that does not exist."""
    matching_jobs = jobs(store, wanted.job)
    if not matching_jobs:
        raise no_such_job(store, wanted.job)
    single = wanted.wildcard_level != "job"
    if not single or wanted.depth < 2:
        return
    if wanted.stage_name or wanted.stage.is_one:
        there = stage(store, matching_jobs[0], wanted)
        if wanted.depth > 2 and wanted.line.is_one:
            line(store, matching_jobs[0], there, wanted.line.first)
            if wanted.depth > 3 and wanted.package.is_one:
                package(store, wanted)


def _nothing(store: Store, wanted: Selector) -> NotFound:
    parts = [f"`{wanted}`"]
    if wanted.reason:
        parts.append(f"that failed for {wanted.reason}")
    if wanted.node:
        parts.append(f"on node `{wanted.node}`")
    if wanted.older_than is not None:
        parts.append(f"unchanged for {duration(wanted.older_than)}")
    return NotFound(f"no package matches {' '.join(parts)}", hint=_nearest_to(store, wanted))


def _nearest_to(store: Store, wanted: Selector) -> str:
    """Return what exists instead: how far ranges go, or other states and reasons."""
    job = jobs(store, wanted.job)[0]
    there = stages(store, job)
    if wanted.stage_name is None and wanted.stage.first > len(there):
        return f"job `{job.name}` has {numbers('stage', len(there))}"
    candidate = next(
        (s for s in there if s.name == wanted.stage_name or s.seq == wanted.stage.first), there[0]
    )
    if wanted.line.first > candidate.lines:
        return f"stage `{job.name}/{candidate.seq}` has {numbers('line', candidate.lines)}"
    if wanted.reason:
        reasons = [row["reason"] for row in
                   store.rows("job_failure_summary", job=job.id) if row["reason"]]  # fmt: skip
        if wanted.reason not in reasons:
            return nearest(wanted.reason, reasons) or (
                f"its packages failed for {listing(reasons)}"
                if reasons
                else "none of its packages has failed"
            )
        return f"its failures with their nodes: d0ctl report failures {job.name}"
    counts = job.counts if wanted.depth == 1 else candidate.counts
    if wanted.states:
        counted = ", ".join(f"{number:,} {phase}" for phase, number in counts.items() if number)
        where = job.name if wanted.depth == 1 else f"{job.name}/{candidate.seq}"
        return f"`{where}` has {counted}"
    return f"d0ctl status {quote(wanted.job)}"


def numbered(store: Store, selector: str) -> str | None:
    """Return a selector with numbers in place of names of a line and a package; None if unknown.

    Names have no index: it reads the lines of a stage.
    """
    path, colon, states = split(selector)
    job, stage, *levels = path.split("/")
    for level, name in enumerate(levels[:2]):
        if numbers_of(name) is None:
            query = "number_of_package" if level else "number_of_line"
            line = {"line": levels[0]} if level else {}
            number = store.value(query, job=job, stage=stage, name=name, **line)
            if number is None:
                return None
            levels[level] = str(number)
    return "/".join((job, stage, *levels)) + colon + states


def packages(selected: Selection, limit: int = -1) -> list[PackageRow]:
    """Return the selected packages, in order."""
    return as_heard(selected.store, PackageRow, selected.rows("selected_packages", limit=limit))


def located(store: Store, wanted: Selector) -> Selector:
    """Return a selector whose numbers count from 1, also if they count from the end, or if lines
    are selected by the values of their loops. Raises NotFound.
    """
    if not wanted.needs_numbers:
        return wanted
    selectors: list[Selector] = []
    for part in wanted.parts:
        here = list(_located(store, part)) if part.needs_numbers else [part]
        if not here:
            level = f"{part.job}/{part.stage_name or part.stage}" if part.values else part.job
            raise NotFound(f"no package matches `{part}`", hint=f"d0ctl status {quote(level)}")
        selectors += here
    return union(selectors)


def _located(store: Store, part: Selector) -> Iterator[Selector]:
    matching_jobs = jobs(store, part.job)
    if not matching_jobs:
        raise no_such_job(store, part.job)
    for job in matching_jobs:
        there = [stage(store, job, part)] if part.stage_name is not None else stages(store, job)
        here = replace(part, job=job.name)
        span = part.stage.within(len(there))
        if part.values is None and not (part.line.counts_back or part.package.counts_back):
            if span.first <= span.last:
                yield replace(here, stage=span)
            continue
        for candidate in there:
            if part.stage_name is not None or span.first <= candidate.seq <= span.last:
                yield from _in_stage(store, here, candidate)


def _in_stage(store: Store, part: Selector, there: StageSummary) -> Iterator[Selector]:
    """Yield the selected parts of a stage: lines with equally many packages go together."""
    if part.values is not None:
        for named in _with_values(store, there, part.values):
            yield from _in_stage(store, replace(part, line=named, values=None), there)
        return
    lines = part.line.within(there.lines)
    here = replace(part, stage=Span(there.seq, there.seq), stage_name=None)
    if lines.first > lines.last:
        return
    if not part.package.counts_back:
        yield replace(here, line=lines)
        return
    sizes = store.rows("package_counts", stage=there.id, first=lines.first, last=lines.last)
    for size, rows in groupby(sizes, lambda row: int(row["packages"])):
        alike = [row["seq"] for row in rows]
        packages = part.package.within(size)
        if packages.first <= packages.last:
            yield replace(here, line=Span(alike[0], alike[-1]), package=packages)


def _with_values(store: Store, there: StageSummary, values: str) -> Iterator[Span]:
    """Yield the numbers of the lines of a stage whose names have values such as `mass=12*`."""
    patterns = values.split()
    found = []
    for row in store.rows("line_names", stage=there.id):
        own = row["name"].split()
        if all(any(fnmatchcase(value, pattern) for value in own) for pattern in patterns):
            found.append(row["seq"])
    for _, run in groupby(enumerate(found), lambda pair: pair[1] - pair[0]):
        seqs = [seq for _, seq in run]
        yield Span(seqs[0], seqs[-1])


def acknowledged(selected: Selection) -> int:
    """Return how many of the selected packages have an acknowledged failure."""
    return int(selected.value("count_acknowledged"))
