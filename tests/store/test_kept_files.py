"""Packages go where the kept files of another job are, with which their chains may begin."""

import pytest

from d0ctl.jobfile.spec import Disposition, OutputSpec, PackageSpec
from d0ctl.store import Store
from tests.support.jobs import binary, job, package, submitted
from tests.support.rows import read
from tests.support.world import World


def chain(*nodes: str, script: str = "reco raw") -> PackageSpec:
    """Two binaries, of whose files that of the first one is kept."""
    kept = OutputSpec("reco", dispositions=frozenset({Disposition.RETAIN_TEMP}))
    return package(binary(script, ["/data/raw"], [kept]),
                   binary("root reco", ["reco"], ["hist"]), nodes=nodes)  # fmt: skip


@pytest.mark.parametrize(("script", "is_there"), [("reco raw", True), ("reco -v raw", False)])
def test_a_chain_goes_where_the_files_are_with_which_it_may_begin(
    store: Store, script: str, is_there: bool
) -> None:
    world = World(store, "farm1", "farm2")
    farm = world.node("farm2")
    submitted(store, job("one", [chain("farm2")]))
    world.schedule()
    world.carry()
    world.carry()
    world.launch(farm)
    world.order(farm)
    farm.end(next(iter(farm.attempts)), "successful")
    world.deliver(farm, farm.spool)

    submitted(store, job("two", [chain(script=script)]))
    world.schedule()

    nodes = dict(read(store, "v_package", "job", "node", by="package_id"))
    assert nodes["one"] == "farm2"
    assert (nodes["two"] == "farm2") is is_there
