"""P1: packages of `true` from submission to the last commit, and peers on the same work."""

import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.nodes import registry
from d0ctl.units import count
from tests.bench import peers
from tests.bench.bounds import rounds
from tests.bench.measure import Figure, Options, cpu_of
from tests.bench.site import d0ctl, daemon, job_file, passing_home, ssh_nodes, wait_done
from tests.support.sshd import Sshd
from tests.support.waiting import descendants

NODES = 2
SLOTS = 2

ROUNDS = 3
"""d0ctl and HyperQueue run as often, taking turns, if there is time for it."""

BUDGET = "HyperQueue x2"

SHARE = 20
"""GNU parallel gets a part of the packages, its ssh for each of them takes so long."""


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds so far: of the daemon, of sshd's connections, of relays and all below them."""

    control: float
    sshd: float
    node: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.control - other.control, self.sshd - other.sshd, self.node - other.node)


def measure(options: Options) -> Iterator[Figure]:
    """The rates, and where the CPU time goes."""
    packages = options.packages
    ours, others = [], []
    for _ in rounds(ROUNDS, options.within_s * 0.6):
        ours.append(over_ssh(packages))
        others.append(peers.rate(packages, peers.hyperqueue))
    rates = [rate for rate, _ in ours]
    yield medium("P1", f"{packages} packages over ssh, 2 nodes", rates, BUDGET)
    yield from split(packages, ours[rates.index(statistics.median_low(rates))][1])
    name = f"peer: HyperQueue, local, no history, {packages}"
    yield from beside("P1", name, rates, "HyperQueue", others)
    few = packages // SHARE
    name = f"peer: GNU parallel over ssh, ControlMaster, {few}"
    found = peers.rate(few, lambda number: peers.gnu_parallel(number, NODES, SLOTS))
    yield from beside("P1", name, rates, "GNU parallel", [found])
    rate, _ = on_this_machine(packages // 4)
    yield Figure("P1", f"{packages // 4} packages, local node", rate, "/s")


def medium(budget_id: str, what: str, rates: Sequence[float], budget: str = "") -> Figure:
    """The median of several rates, with their spread."""
    spread = f"{min(rates):.0f} to {max(rates):.0f}, {count(len(rates), 'round')}"
    return Figure(budget_id, what, statistics.median(rates), "/s", budget, note=spread)


def beside(
    budget_id: str, what: str, rates: Sequence[float], name: str, others: Sequence[float | str]
) -> Iterator[Figure]:
    """The rate of a peer, and ours as a part of it; or why there is none."""
    found = [rate for rate in others if not isinstance(rate, str)]
    if not found:
        yield Figure(budget_id, what, None, "/s", note=f"skipped: {others[-1]}")
        return
    yield medium(budget_id, what, found)
    ratio = statistics.median(rates) / statistics.median(found)
    yield Figure(budget_id, f"  d0ctl as a part of {name}", ratio, "")


def split(count: int, spent: Spent, budget_id: str = "P1") -> Iterator[Figure]:
    """CPU time a package, by side."""
    whole = spent.control + spent.sshd + spent.node
    for what, seconds in (
        ("all", whole),
        ("control", spent.control),
        ("sshd", spent.sshd),
        ("node", spent.node),
    ):
        budget = "2.8 ms" if what == "all" else ""
        yield Figure(budget_id, f"  CPU a package, {what}", seconds / count * 1000, "ms", budget)


def over_ssh(count: int) -> tuple[float, Spent]:
    """Packages a second on two ssh nodes of two slots each, and what they cost."""
    with passing_home() as home, ssh_nodes(home, NODES, cpus=SLOTS) as sshds:
        return _drive(home, count, sshds, NODES)


def on_this_machine(count: int) -> tuple[float, Spent]:
    """The same on one local node with as many slots as there are cores."""
    with passing_home() as home:
        with open_store(home) as store:
            registry.add_localhost(store)
        return _drive(home, count, (), 1)


def _drive(home: Home, count: int, sshds: Sequence[Sshd], up: int) -> tuple[float, Spent]:
    with daemon(home, up) as pid:
        before = spent_so_far(pid, sshds)
        began = time.monotonic()
        subprocess.run(
            d0ctl(home, "submit", job_file(home.root.parent, count)),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with open_store(home, read_only=True) as store:
            wait_done(store, count)
        took = time.monotonic() - began
        return count / took, spent_so_far(pid, sshds) - before


def spent_so_far(pid: int, sshds: Sequence[Sshd] = ()) -> Spent:
    """What a daemon and its nodes have used; without sshds, its local node."""
    everyone = [one for sshd in sshds for one in descendants(sshd.pid)] or descendants(pid)
    connections = [one.number for one in everyone if one.name().startswith("sshd")]
    below = [one.number for one in everyone if one.number not in connections]
    return Spent(
        control=cpu_of(pid),
        sshd=sum(map(cpu_of, connections)),
        node=sum(cpu_of(one, reaped=True) for one in below),
    )
