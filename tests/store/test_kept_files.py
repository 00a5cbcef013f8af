"""Packages go where the kept files of another job are, with which their chains may begin."""

import pytest

from d0ctl.jobfile.spec import Disposition, OutputSpec, PackageSpec
from d0ctl.store import Store
from tests.support.jobs import binary, job, package, submitted
from tests.support.rows import read
from tests.support.site import Site


def chain(*nodes: str, script: str = "reco raw") -> PackageSpec:
    """Two binaries, of whose files that of the first one is kept."""
    kept = OutputSpec("reco", dispositions=frozenset({Disposition.RETAIN_TEMP}))
    return package(binary(script, ["/data/raw"], [kept]),
                   binary("root reco", ["reco"], ["hist"]), nodes=nodes)  # fmt: skip


@pytest.mark.parametrize(("script", "is_there"), [("reco raw", True), ("reco -v raw", False)])
def test_a_chain_goes_where_the_files_are_with_which_it_may_begin(
    store: Store, script: str, is_there: bool
) -> None:
    site = Site.of(store, "farm1", "farm2", cpus=2)
    farm = site.node("farm2")
    submitted(store, job("one", [chain("farm2")]))
    site.schedule()
    site.carry()
    site.carry()
    site.hand_out(farm)
    site.order(farm)
    farm.end(next(iter(farm.attempts)), "successful")
    site.deliver(farm, farm.spool)

    submitted(store, job("two", [chain(script=script)]))
    site.schedule()

    nodes = dict(read(store, "v_package", "job", "node", by="package_id"))
    assert nodes["one"] == "farm2"
    assert (nodes["two"] == "farm2") is is_there
