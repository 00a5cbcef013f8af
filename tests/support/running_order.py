"""The shares of several workers in the tests: some wait for nodes while others compute."""

from pathlib import Path

import pytest

WAITING = {"chaos", "e2e", "hostile"}
"""The folders whose tests mostly wait for daemons and nodes."""

LONGEST = (
    "slurm",
    "rest",
    "howto",
    "tutorials",
    "readme",
    "htcondor",
    "direct",
    "batch_pages",
    "pilot_ends",
    "kept",
    "clock",
    "nodes",
    "site_keys",
    "zpeak",
    "chaos",
    "hostile",
    "software",
)
"""Their modules that take half a minute and more: begun last, they would run alone."""


def share_out(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return the tests so that half of the workers begin with those that wait, the longest first.

    Workers get the tests in equal shares, and take the last ones of each other when they are done.
    """
    modules: dict[Path, list[pytest.Item]] = {}
    computing = []
    for item in items:
        if WAITING & set(item.path.parts):
            modules.setdefault(item.path, []).append(item)
        else:
            computing.append(item)
    order = sorted(modules, key=lambda path: path.stem.removeprefix("test_") not in LONGEST)
    half = (workers + 1) // 2
    shares: list[pytest.Item] = []
    for worker in range(workers):
        end = len(shares) + (len(items) - len(shares)) // (workers - worker)
        if worker < half:
            shares += [item for path in order[worker::half] for item in modules[path]]
        room = max(0, end - len(shares))
        shares += computing[:room]
        del computing[:room]
    shares += computing
    assert len(shares) == len(items)
    return shares
