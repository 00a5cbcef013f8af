"""Which nodes can ever take packages with a request, or without help from a person."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from d0ctl.errors import Refused
from d0ctl.schedule.node_state import serves
from d0ctl.schedule.resources import Requirement
from d0ctl.store.connection import Row, Selection, Store, as_json
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of
from d0ctl.store.nodes.standstill import node_views
from d0ctl.units import REQUESTS, clean, count, listed

if TYPE_CHECKING:
    from d0ctl.jobfile.spec import JobSpec, PackageSpec

MOST_NAMED = 3
"""How many nodes or requirements a message names; it counts the rest."""


class Misfit(Struct, frozen=True):
    """Requests of packages of a stage that no node meets, with the reason for each node."""

    stage: str
    nodes: Mapping[str, str]
    command: str = ""
    """What adds the software or the node that they name, if the site has it no more."""

    def __str__(self) -> str:
        why = f"stage `{self.stage}`: {in_words(self.nodes) or 'there are no nodes'}"
        return f"{why}: {self.command}" if self.command else why


def in_words(reasons: Mapping[str, str]) -> str:
    """Return the reasons of nodes as one phrase."""
    named = [f"`{name}` is ruled out ({why})" for name, why in list(reasons.items())[:MOST_NAMED]]
    more = len(reasons) - MOST_NAMED
    return listed([*named, f"{count(more, 'more node')} likewise"] if more > 0 else named)


class Nodes:
    """All nodes as they are now, read once."""

    def __init__(self, store: Store, *, now: float) -> None:
        self._views = node_views(store, now=now)

    def cpus(self, names: Iterable[str]) -> int:
        """Return the CPUs of some nodes together, as far as known."""
        wanted = set(names)
        return sum(view.node.room.cpus or 0 for view in self._views if view.name in wanted)

    @property
    def away(self) -> dict[str, str]:
        """The nodes that are drained or down, and so take no packages now, with this word."""
        return {view.name: "drained" if view.node.drained else "down" for view in self._views
                if view.node.drained or view.node.state == "down"}  # fmt: skip

    def against(self, requirement: Requirement) -> Mapping[str, str | None]:
        """Return why a node can never take packages with a requirement, by node; None if it can."""
        return {view.name: view.node.misfit(requirement) for view in self._views}

    def misfits(self, requirement: Requirement) -> Mapping[str, str]:
        """Return why no node can ever take packages with a requirement, by node.

        It is empty if a node can, and while there are no nodes.
        """
        found = self.against(requirement)
        return {} if None in found.values() else {name: str(why) for name, why in found.items()}

    def fits_only(self, requirement: Requirement, name: str, gone: Sequence[str] = ()) -> bool:
        """Return whether a node can take packages with a requirement, and no other ever can.

        Others may be gone by then. It is false if there is no other.
        """
        views = [view for view in self._views if view.name not in gone]
        if len(views) == 1:
            return False
        return [view.name for view in views if view.node.misfit(requirement) is None] == [name]


def wants(spec: "PackageSpec") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the software and the services that the binaries of a package need, each once."""
    if len(spec.binaries) == 1:
        only = spec.binaries[0]
        return ((only.software,) if only.software else ()), only.needs
    software = {binary.software for binary in spec.binaries if binary.software}
    return tuple(sorted(software)), tuple(
        sorted({n for binary in spec.binaries for n in binary.needs})
    )


def space(spec: "PackageSpec") -> int | None:
    """Return how much disk of a node a package may use, rounded up so that few rows differ.

    That is its `disk`; without it the sizes of its outputs and inputs and the largest work files
    of its binaries, as far as they are given.
    """
    if spec.disk is not None:
        return spec.disk
    total = largest = 0
    for binary in spec.binaries:  # plain loops: a generator for each took four times as long
        for file in binary.inputs:
            total += file.size or 0
        for made in binary.outputs:
            total += made.size or 0
        largest = max(largest, binary.work_size or 0)
    total += largest
    if not total:
        return None
    step = 1 << max(0, total.bit_length() - 3)
    return -(-total // step) * step


requested = attrgetter(*REQUESTS, "platform", "nodes", "exclude_nodes")
"""What a package requests of a node besides software and services."""


def requirement_of_spec(spec: "PackageSpec", catalogue: Catalogue, **more: Any) -> Requirement:
    """Return the requirement of a package of a job file; `more` has what is not written there."""
    software, needs = (json.dumps(names) for names in wants(spec))
    return Requirement(
        cpus=spec.cpus, memory=spec.memory, gpus=spec.gpus, space=space(spec), cpu=spec.cpu,
        platform=spec.platform, nodes=spec.nodes, exclude_nodes=spec.exclude_nodes,
        software=catalogue.platforms(software), needs=catalogue.needs(software, needs), **more,
    )  # fmt: skip


def misfits_of_job(store: Store, job: int, *, now: float) -> list[Misfit]:
    """Return the requests of a job that no node can ever meet, one entry per requirement."""
    found = _misfits(store, store.rows("requirements_of_job", job=job), now)
    return [group for _, group in found if group.nodes]


def misfits_selected(selected: Selection, *, now: float) -> list[Misfit]:
    """Return the same of packages that would run again; all of them if there are no nodes."""
    rows = selected.rows("selected_requirements")
    return [group for _, group in _misfits(selected.store, rows, now)]


def misfits_waiting(
    store: Store, job: int, stage: int | None = None, line: int | None = None, *, now: float
) -> dict[str, Misfit]:
    """Return the requests of waiting packages that no node can ever meet, by such a package.

    They are of a job, or of a stage or a line of it by its number. Requests of ready packages of
    the same stage are left out: its standing has these.
    """
    rows = [row for row in store.rows("requirements_of_job", job=job)
            if not row["ready"] and stage in (None, row["stage_seq"])]  # fmt: skip
    found = {store.value("waiting_of_requirement", requirement=row["id"], line=line): group
             for row, group in _misfits(store, rows, now) if group.nodes}  # fmt: skip
    return {path: group for path, group in found.items() if path is not None}


def misfits_of_package(store: Store, package: int, *, now: float) -> list[Misfit]:
    """Return the request of a package if no node can ever meet it."""
    found = _misfits(store, store.rows("requirement_of_package", package=package), now)
    return [group for _, group in found if group.nodes]


def _misfits(store: Store, rows: Iterable[Row], now: float) -> Iterator[tuple[Row, Misfit]]:
    """Yield the requirements that no node can meet, also if there are no nodes."""
    nodes, catalogue = Nodes(store, now=now), Catalogue(store)
    for row in rows:
        requirement = requirement_of(row, catalogue, stay=None)  # they run, not only deliver
        against = nodes.against(requirement)
        if None not in against.values():
            reasons = {name: str(why) for name, why in against.items()}
            yield row, Misfit(row["stage"], reasons, _adding(requirement, against))


def _adding(requirement: Requirement, nodes: Collection[str]) -> str:
    """Return what adds the software or the node without which no node can meet a requirement."""
    absent = [title for title, known in requirement.software.items() if known == frozenset()]
    if absent:
        return f"d0ctl software add {absent[0]} --archive FILE"
    if any(name in nodes for name in requirement.nodes or nodes):
        return ""
    return f"d0ctl node add {[*requirement.nodes, 'NAME'][0]} [user@]host"


class Fit(Struct, frozen=True):
    """Which nodes could take the packages of a stage, and why the others never will."""

    stage: str
    nodes: Mapping[str, str | None]
    """The reason against each node; None for one that could take them."""
    cpus: int
    """The CPUs of the nodes that take them now, as far as known."""
    away: Mapping[str, str] = MappingProxyType({})
    """Nodes that could take them, but are drained or down, with this word."""


def fits_of_spec(store: Store, spec: "JobSpec", *, now: float) -> list[Fit]:
    """Return the requests of each kind of a job's packages, with the nodes that could take them."""
    nodes, catalogue = Nodes(store, now=now), Catalogue(store)
    asked = {
        (stage.name, requested(package), space(package), *wants(package)): package
        for stage in spec.stages
        for line in (stage.lines if stage.kinds is None else stage.kinds)
        for package in line.packages
    }
    found, barred = [], catalogue.barred(spec.originator)
    for (stage, *_), package in sorted(asked.items(), key=repr):
        requirement = requirement_of_spec(package, catalogue, id=0, ready=1, barred=barred)
        against = nodes.against(requirement)
        able = {name for name, why in against.items() if why is None}
        away = {name: word for name, word in nodes.away.items() if name in able}
        found.append(Fit(stage, against, nodes.cpus(able - away.keys()), away))
    return found


def misfits_of_spec(store: Store, spec: "JobSpec", *, now: float) -> list[Misfit]:
    """Return the requests of a job that is not submitted yet that no node can ever meet."""
    return [
        Misfit(fit.stage, {name: str(why) for name, why in fit.nodes.items()})
        for fit in fits_of_spec(store, spec, now=now)
        if fit.nodes and None not in fit.nodes.values()
    ]


def refuse(misfits: Sequence[Misfit]) -> None:
    """Raise Refused for packages that no node can ever take."""
    if misfits:
        raise Refused(
            "no node can ever take some of its packages",
            details=list(lines(misfits)),
            hint="`d0ctl node list` shows the nodes; with `--force` the job is submitted anyway",
        )


def not_taken(misfits: Sequence[Misfit]) -> Iterator[str]:
    """Say which stages have packages that no node can take yet."""
    for line in lines(misfits):
        yield f"no node can take it yet: {clean(line)}"


def lines(misfits: Sequence[Misfit]) -> Iterator[str]:
    """Yield a line for each of the first requirements that no node meets."""
    texts = list(dict.fromkeys(str(misfit) for misfit in misfits))
    yield from texts[: 2 * MOST_NAMED]
    if len(texts) > 2 * MOST_NAMED:
        yield f"and {len(texts) - 2 * MOST_NAMED:,} more"


class Stranded(NamedTuple):
    """How many packages of a job that have not ended only one node can take."""

    job: str
    packages: int


def run_again(store: Store, packages: Sequence[int], *, now: float) -> bool:
    """Return whether successful packages would run again now, on nodes that take packages."""
    rows = store.rows("remake_requests", packages=as_json(packages))
    if sum(row["n"] for row in rows) < len(packages):
        return False
    catalogue, views = Catalogue(store), node_views(store, now=now)
    requirements = [requirement_of(row, catalogue) for row in rows]
    return all(any(serves(view.node, each) for view in views) for each in requirements)


class Without:
    """The site without a node, and without those that go earlier, read once."""

    def __init__(self, store: Store, node: str, *, earlier: Sequence[str], now: float) -> None:
        self._store, self._node, self._earlier = store, node, earlier
        self._nodes, self._catalogue = Nodes(store, now=now), Catalogue(store)

    def jobs(self) -> list[Stranded]:
        """Return the jobs with packages that only this node can take, if they have not ended."""
        only: dict[tuple[int, str], list[int]] = {}
        for row in self._store.rows("requirements_to_run"):
            requirement = requirement_of(row, self._catalogue)
            if self._fits_only(requirement):
                only.setdefault((row["job_id"], row["job"]), []).append(row["id"])
        found = [
            Stranded(name, self._store.value("packages_to_run", job=job, requirements=as_json(ids)))
            for (job, name), ids in only.items()
        ]
        return [each for each in found if each.packages]

    def count(self, packages: Mapping[int, int]) -> int:
        """Count those packages that only this node can take; they are given by requirement."""
        rows = self._store.rows("requirements_by_id", requirements=as_json([*packages]) or "[]")
        return sum(
            packages[row["id"]]
            for row in rows
            if self._fits_only(requirement_of(row, self._catalogue))
        )

    def _fits_only(self, requirement: Requirement) -> bool:
        return self._nodes.fits_only(requirement, self._node, self._earlier)
