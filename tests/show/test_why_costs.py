"""`why` of a ready package whose run time is known: what it would cost on each node."""

import re
import time

from d0ctl.nodes.transports.transport import Address
from d0ctl.store.nodes import registry
from tests.show.asking import why
from tests.support.building import production
from tests.support.jobs import binary, job, package
from tests.support.rows import change
from tests.support.site import Site


def test_a_ready_package_is_compared_on_the_nodes_that_could_take_it(site: Site) -> None:
    site.up(cpus=1)
    registry.add(site.store, Address("slow", "ssh", "slow"), cpus=1)
    site.up("slow", cpus=1)
    with site.store.writing():
        change(site.store, "node", {"name": "slow"}, speed_asked=0.1)
    site.submit(job("prod", [package(binary(runtime=600.0)) for _ in range(2)]))
    site.launch("prod/1/1/1")

    answer = why(site, "prod/1/2/1")

    assert re.search(
        "waits for `localhost`, where it would end in [12][0-9] min .*, on `slow` only in 1 h 40",
        answer.answer,
    )
    assert (
        "on `slow`, if it were next, it would end in 1 h 40 min: 1 h 40 min to run" in answer.facts
    )
    first, second = answer.details["candidates"]
    assert (first["node"], first["run"]) == ("localhost", 600.0)
    assert second == {
        "node": "slow",
        "transfer": 0.0,
        "wait": 0.0,
        "rate": None,
        "per_file": 0.0,
        "run": 6000.0,
        "end": 6000.0,
    }


def test_no_time_is_promised_for_cpus_in_use_by_packages_of_unknown_run_time(site: Site) -> None:
    site.up(cpus=1)
    known = package(binary(runtime=600.0), name="known")
    site.submit(job("prod", [package(binary(), name="unknown"), known]))
    site.launch("prod/1/1/1")
    change(site.store, "attempt", {}, launched=time.time() - 60, started=time.time() - 60)
    change(site.store, "package", {"phase": "running"}, changed=time.time() - 60)

    facts = why(site, "prod/1/2/1").facts

    assert (
        "on `localhost`: CPUs free once packages of unknown run time end, 10 min 00 s to run"
        in facts
    )


def test_packages_that_come_first_for_their_longer_chains_are_counted(site: Site) -> None:
    site.up(cpus=1)
    site.submit(production(lines=4))
    site.launch("prod/1/4/1")
    site.finish("prod/1/1/1")

    facts = why(site, "prod/1/1/2").facts

    assert site.phase("prod/1/1/2") == "ready"
    assert (
        "2 ready packages of its job, such as of stage `make`, come first: "
        "longer chains begin with them"
    ) in facts
    assert not any("longer chains" in fact for fact in why(site, "prod/1/2/1").facts)
