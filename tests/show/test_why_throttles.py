"""`why` of a ready package that a throttle holds back."""

import json
import time

import pytest

from d0ctl.nodes.transports.transport import Address
from d0ctl.show.why import group
from d0ctl.show.why import node as why_node
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse
from d0ctl.units import moment
from tests.show.asking import why
from tests.support.jobs import job, simple
from tests.support.rows import change
from tests.support.site import Site

LIFT = "d0ctl throttle set {} --max-running none --max-launches none"


def throttled(site: Site, name: str, **keys: object) -> None:
    """Let two of three packages run, and the site have a throttle."""
    site.submit(job("prod", [simple() for _ in range(3)], originator="ada@lab"))
    site.up(cpus=8)
    site.launch("prod/1/1/1")
    site.launch("prod/1/2/1")
    limits = {key.replace("_", "-"): value for key, value in keys.items()}
    with site.store.writing():
        site.store.change("keep_setting", name="throttles", value=json.dumps({name: limits}))
        site.store.forget()


def test_the_throttle_of_a_researcher_is_named(site: Site) -> None:
    throttled(site, "researcher ada*", max_running=2)

    assert why(site, "prod/1/3/1").answer.endswith(
        "researcher `ada@lab` starts no more packages now: 2 packages are on nodes, and"
        " throttle `researcher ada*` allows 2"
    )


def test_the_throttle_of_a_node_is_named(site: Site) -> None:
    throttled(site, "node local*", max_running=2)

    answer = why(site, "prod/1/3/1")

    assert "throttles hold it back on `localhost`" in answer.answer
    assert ("node `localhost` takes no more packages now: 2 packages are on nodes, and"
            " throttle `node local*` allows 2") in answer.facts  # fmt: skip


def test_a_throttle_of_launches_says_when_the_next_may_be(site: Site) -> None:
    throttled(site, "job *", max_launches="4/1h")
    with site.store.writing():
        for seconds in (600, 1230):
            site.store.change("count_launches", throttle="job *", name="prod", n=2,
                              at=time.time() - seconds)  # fmt: skip

    assert (
        "its job starts no more packages now: 4 packages in the last 1 h 00 min, the most"
        " that throttle `job *` allows; the next in 39 min"
    ) in why(site, "prod/1/3/1").answer


def test_a_package_begins_no_sooner_than_the_throttle_allows_its_launch(site: Site) -> None:
    throttled(site, "job *", max_launches="4/1h")
    change(site.store, "stage", is_timed=1)
    change(site.store, "requirement", seconds=60.0)
    now = time.time()
    with site.store.writing():  # in steps of a minute
        site.store.change("count_launches", throttle="job *", name="prod", n=4, at=now - 600)

    answer = why(site, "prod/1/3/1", now)

    said = next(fact for fact in answer.facts if fact.startswith("`prod/1/3/1` begins "))
    assert any(moment(now + 3000 + more, now) in said for more in range(120))


def test_why_of_a_job_says_how_many_ready_packages_wait_for_a_throttle(site: Site) -> None:
    throttled(site, "researcher ada*", max_running=2)

    answer = group.job(site.store, browse.job(site.store, "prod"), time.time())

    assert "1 ready: throttle `researcher ada*` allows 2" in answer.facts
    assert "d0ctl throttle list" in answer.commands


def test_why_of_a_job_names_the_throttles_of_nodes_that_keep_ready_packages(site: Site) -> None:
    throttled(site, "node local*", max_running=2)

    answer = group.job(site.store, browse.job(site.store, "prod"), time.time())

    assert ("1 ready: `localhost` takes no more packages now: 2 packages are on nodes, and"
            " throttle `node local*` allows 2") in answer.facts  # fmt: skip
    assert "d0ctl throttle set node 'local*' --max-running none" in answer.commands


def test_why_of_a_job_names_no_throttle_of_a_node_that_is_full(site: Site) -> None:
    throttled(site, "node local*", max_running=2)
    site.up(cpus=2)

    answer = group.job(site.store, browse.job(site.store, "prod"), time.time())

    assert "throttle" not in " ".join([*answer.facts, *answer.commands])


def test_a_throttle_that_allows_more_is_not_named(site: Site) -> None:
    throttled(site, "researcher ada*", max_running=3)

    answer = group.job(site.store, browse.job(site.store, "prod"), time.time())
    assert not [fact for fact in answer.facts if "throttle" in fact]


def test_why_of_a_throttled_node_names_the_throttle_and_the_command_that_lifts_it(
    site: Site,
) -> None:
    throttled(site, "node local*", max_running=2, max_launches="9/1h")

    answer = why_node.node(site.store, "localhost", time.time())

    assert answer.answer == (
        "node `localhost` is up, with 6 of 8 slots free, but takes no more packages now:"
        " 2 packages are on nodes, and throttle `node local*` allows 2"
    )
    assert LIFT.format("node 'local*'") in answer.commands


def test_why_of_a_node_of_which_the_throttle_allows_more_does_not_name_it(site: Site) -> None:
    throttled(site, "node local*", max_running=3)

    answer = why_node.node(site.store, "localhost", time.time())

    assert answer.answer == "node `localhost` is up, with 6 of 8 slots free"


@pytest.mark.parametrize("name", ["node localhost", "job prod", "researcher ada@lab"])
def test_why_of_a_throttled_package_names_the_command_that_lifts_the_throttle(
    site: Site, name: str
) -> None:
    throttled(site, name, max_running=2, max_launches="9/1h")

    assert LIFT.format(name) in why(site, "prod/1/3/1").commands


def test_a_full_node_is_not_called_throttled_nor_a_throttled_one_full(site: Site) -> None:
    throttled(site, "node local*", max_running=2)
    registry.add(site.store, Address("farm", "ssh", "farm"), cpus=1)
    site.up("farm", cpus=1)
    site.submit(job("other", [simple()]))
    site.launch("other/1/1/1", "farm")

    answer = why(site, "prod/1/3/1").answer

    assert answer.endswith("no slot is free on `farm` and throttles hold it back on `localhost`")
