"""What packages and nodes wait for: missing inputs, files and software in transit."""

import json
from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct

from d0ctl.store.connection import Row, Selection, Store, as_json
from d0ctl.store.rows import make

MOST_FOLLOWED = 60
"""How many packages up the chain are searched for those that have ended."""


class MissingInput(Struct, frozen=True):
    """A file that a package waits for and reads `uses` times, and the package that makes it."""

    name: str
    file_dropped: int
    uses: int
    maker: int | None
    maker_path: str | None
    maker_phase: str | None

    @property
    def phase(self) -> str | None:
        """The phase of its maker, for those that wait for the file: dropped if the file is."""
        return "dropped" if self.file_dropped else self.maker_phase


class Transfer(Struct, frozen=True):
    """An input in transit to the node of its package, or that will be, and a node that has it.

    `maker` is the path of the package that made it.
    """

    name: str
    tries: int
    last_error: str | None
    source: str | None
    source_state: str | None
    source_error: str | None
    maker: str | None


def missing_inputs(store: Store, package: int, limit: int) -> list[MissingInput]:
    """Return a few inputs that a package waits for, with their makers."""
    rows = store.rows("missing_inputs", package=package, limit=limit)
    return [make(MissingInput, row) for row in rows]


def before_in_line(store: Store, package: int) -> Row | None:
    """Return the package before this one in its line: its id, phase and path."""
    return store.row("before_in_line", package=package)


def ended_before(store: Store, packages: Collection[int]) -> list[tuple[str, str]]:
    """Return failed and canceled packages that others wait for: paths and phases, makers first."""
    queue, seen, ended = list(packages), set(packages), dict[str, str]()
    while queue and len(seen) < MOST_FOLLOWED:
        package = queue.pop(0)
        before = before_in_line(store, package)
        rows = [before] if before is not None else []
        rows += lines_before(store, package, MOST_FOLLOWED)
        above = [(row["id"], row["phase"], row["path"]) for row in rows]
        above += [(file.maker, file.maker_phase, file.maker_path)
                  for file in missing_inputs(store, package, MOST_FOLLOWED)]  # fmt: skip
        for maker, phase, path in above:
            if maker not in seen and phase in ("failed", "canceled", "waiting"):
                seen.add(maker)
                queue.append(maker)
                if phase != "waiting":
                    ended[path] = phase
    return list(reversed(ended.items()))


def blocked_by(selected: Selection, readers: Collection[int], *, enough: bool) -> dict[int, int]:
    """Return which of these readers stay blocked without the selected packages, and by which.

    Packages that run only after a retry are few, so the search starts from these. Stages that
    `require` less continue if they have `enough` then.
    """
    rows = selected.rows("unmade_beside", readers=json.dumps([*readers])) if readers else []
    causes = {row["id"]: row["id"] for row in rows}
    ahead = list(causes)
    while ahead:
        rows = selected.rows("waiting_for", packages=json.dumps(ahead), enough=int(enough))
        ahead = []
        for row in rows:
            if row["reader"] not in causes:
                causes[row["reader"]] = causes[row["package"]]
                ahead.append(row["reader"])
    return {reader: causes[reader] for reader in readers if reader in causes}


def lines_before(store: Store, package: int, limit: int) -> list[Row]:
    """Return packages of lines that must succeed before this one: id, phase, path, line."""
    return store.rows("lines_before", package=package, limit=limit)


def stages_before(store: Store, package: int) -> list[Row]:
    """Return stages that must succeed first; one without an id: all others must end."""
    return store.rows("stages_before", package=package)


def order_of_stage(store: Store, stage: int) -> list[str]:
    """Return the names of the stages after which a stage begins."""
    return [row[0] for row in store.rows("order_of_stage", stage=stage)]


def input_list(store: Store, package: int) -> Row | None:
    """Return whether a package starts early, and how many of its inputs exist and do not."""
    return store.row("input_list", package=package)


def transfers_for(store: Store, package: int, limit: int) -> list[Transfer]:
    """Return a few inputs in transit to the node of a package."""
    rows = store.rows("transfers_for", package=package, limit=limit)
    return [make(Transfer, row) for row in rows]


def inputs_away(store: Store, packages: Sequence[int], limit: int) -> tuple[list[Transfer], int]:
    """Return a few inputs of packages that only nodes have that are down, and their number."""
    rows = store.rows("inputs_away", packages=as_json(packages), limit=limit)
    return [make(Transfer, row) for row in rows], rows[0]["n"] if rows else 0


def unreachable_bound(store: Store) -> list[Row]:
    """Return the unreachable packages with inputs that only nodes have that are down: the id, the
    job and the node of each. If they are given up, they wait for such a node.
    """
    return store.rows("unreachable_bound")


def transfers_to(store: Store, cluster: int, limit: int) -> list[Row]:
    """Return a few files in transit to a cluster."""
    return store.rows("transfers_to", cluster=cluster, limit=limit)


def archives_for(store: Store, package: int) -> list[Row]:
    """Return the software archives in transit to the node of a package."""
    return store.rows("archives_under_way", package=package)


def results_of(store: Store, package: int, limit: int) -> list[Row]:
    """Return a few results of a package that are in transit to results/."""
    return store.rows("results_under_way", package=package, limit=limit)


def readers_of(store: Store, package: int, limit: int) -> list[str]:
    """Return the paths of a few packages that wait for files of this one."""
    return [row["path"] for row in store.rows("waiting_consumers", package=package, limit=limit)]


def limits_of(store: Store, package: int) -> Row:
    """Return the stage and job of a package, and how many packages of each may run at once."""
    row = store.row("limits_of_package", package=package)
    assert row is not None
    return row


def limited_stages_of(store: Store, job: int) -> list[Row]:
    """Return the stages of a job with `max-running` and ready packages, and how many."""
    return store.rows("limited_stages_of_job", job=job)


class ReadyBefore(Struct, frozen=True):
    """Ready packages of a higher priority: their job, stage and priority."""

    name: str
    job_id: int
    priority: int
    is_own: int
    """Whether it is not that of their job."""
    stage: str


class LongerChains(Struct, frozen=True):
    """Ready packages of a job at the start of longer chains, and the stage of the longest."""

    stage: str
    n: int


def longer_chains_before(store: Store, package: int) -> LongerChains | None:
    """Return the ready packages of its job that come before a package for their longer chains."""
    row = store.row("longer_chains_before", package=package)
    return None if row is None else make(LongerChains, row)


def ready_before(store: Store, package: int, *, older: bool = False) -> ReadyBefore | None:
    """Return the job and stage of ready packages that come first because of a higher priority.

    With `older`, those of the same priority in older jobs count, too.
    """
    row = store.row("ready_before", package=package, older=older)
    return None if row is None else make(ReadyBefore, row)


def stuck(store: Store) -> dict[int, int]:
    """Return how many packages wait for files of failed, canceled or held ones, by job; bounded."""
    found: Counter[int] = Counter()
    for row in store.rows("eta_stuck"):
        found[row["job_id"]] += row["n"]
    return found
