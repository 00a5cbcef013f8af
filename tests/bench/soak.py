"""Soak: the memory of daemon and relay while many short packages pass through one daemon."""

from collections.abc import Iterator
from contextlib import suppress

from d0ctl.store import open_store
from d0ctl.store.nodes import registry
from tests.bench.measure import Figure, Options, process, pss_of
from tests.bench.site import counts, d0ctl, daemon, job_file, passing_home
from tests.support.waiting import descendants, wait_until

PARTS = 10

WITHIN_S = 3600.0
"""How long a tenth of the packages may take."""

BUDGET = "flat"


def measure(options: Options) -> Iterator[Figure]:
    """The memory at each tenth, and how much each package adds in the second half."""
    count = options.soak
    with passing_home() as home:
        with open_store(home) as store:
            registry.add_localhost(store)
        process(d0ctl(home, "submit", job_file(home.root.parent, count)))
        with daemon(home, 1) as pid, open_store(home, read_only=True) as store:
            found: list[tuple[int, int]] = []
            for part in range(1, PARTS + 1):
                wanted = count * part // PARTS
                wait_until(lambda: counts(store).get("done", 0) >= wanted, WITHIN_S, "a tenth")  # noqa: B023
                found.append((pss_of(pid), relay_memory(pid)))
                for what, size in zip(("daemon", "relay"), found[-1], strict=True):
                    name = f"memory of the {what} after {wanted:,} packages"
                    yield Figure("soak", name, size / 1e6, "MB")
    for place, what in enumerate(("daemon", "relay")):
        grown = found[-1][place] - found[PARTS // 2 - 1][place]
        name = f"growth of the {what} in the second half"
        yield Figure("soak", name, grown / (count / 2), "B", BUDGET, "per package")


def relay_memory(daemon_pid: int) -> int:
    """The memory of the relay, the only child of the daemon itself; 0 while there is none."""
    children = [child.number for child in descendants(daemon_pid) if child.parent == daemon_pid]
    with suppress(OSError, StopIteration):
        return max(map(pss_of, children), default=0)
    return 0
