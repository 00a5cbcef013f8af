"""`why` of ready packages that wait for a limit, used up by packages that do not run."""

import json
import time

import pytest

from d0ctl.model import Address
from d0ctl.show.why import group
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.views import browse
from tests.show.asking import why
from tests.support.jobs import job, simple, stage
from tests.support.rows import change
from tests.support.site import Site

SILENT = "(2 unreachable on `far`)"


@pytest.fixture
def site(site: Site) -> Site:
    """Two of four packages are on a node that is down; another node is free."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job("prod", [simple() for _ in range(4)], originator="ada@lab"))
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.launch("prod/1/1/1", "far")
    site.launch("prod/1/2/1", "far")
    site.up(cpus=8)
    far = registry.named(site.store, "far").id
    with site.store.writing():
        contact.down(site.store, far, "connection refused", now=time.time())
    return site


def throttled(site: Site, name: str, most: int) -> None:
    """The site has a throttle."""
    with site.store.writing():
        said = json.dumps({name: {"max-running": most}})
        site.store.change("keep_setting", name="throttles", value=said)
        site.store.forget()


def of_job(site: Site, name: str = "prod") -> tuple[list[str], list[str]]:
    """What `why` of a job says below its answer, and advises."""
    answer = group.job(site.store, browse.job(site.store, name), time.time())
    return answer.facts, answer.commands


@pytest.mark.parametrize("name", ["researcher ada@lab", "job prod"])
def test_unreachable_packages_use_up_a_throttle(site: Site, name: str) -> None:
    throttled(site, name, 2)
    lift = f"d0ctl throttle set {name} --max-running none"

    answer = why(site, "prod/1/3/1")
    facts, commands = of_job(site)

    said = f"2 packages are on nodes {SILENT}, and throttle `{name}` allows 2"
    assert answer.answer.endswith(said) and lift in answer.commands
    assert f"2 ready: throttle `{name}` allows 2 {SILENT}" in facts
    assert lift in commands


def test_unreachable_packages_of_another_job_use_up_a_throttle(site: Site) -> None:
    site.submit(job("other", [simple() for _ in range(3)], originator="ada@lab"))
    site.fail("other/1/1/1")
    throttled(site, "researcher ada@lab", 2)

    facts, _ = of_job(site, "other")

    assert f"2 ready: throttle `researcher ada@lab` allows 2 {SILENT}" in facts


def test_a_throttle_that_is_not_used_up_is_not_named(site: Site) -> None:
    throttled(site, "researcher ada@lab", 3)

    assert "throttle" not in " ".join(
        [*map(" ".join, of_job(site)), why(site, "prod/1/3/1").answer]
    )


@pytest.mark.parametrize("kind", ["job", "stage"])
def test_the_limit_of_a_job_or_stage_is_named_with_what_uses_it_up(site: Site, kind: str) -> None:
    change(site.store, kind, max_running=2)
    path = {"job": "prod", "stage": "prod/1"}[kind]

    answer = why(site, "prod/1/3/1")
    facts, commands = of_job(site)

    limit = f"runs 2 packages at once, its `max-running` {SILENT}"
    assert answer.answer.endswith(f"its {kind} {limit}")
    assert f"2 ready: {kind} `{path}` {limit}" in facts
    for told in (answer.commands, commands):
        assert f"d0ctl limit {path} --max-running none" in told


def test_only_the_stages_with_a_limit_that_is_used_up_are_named(site: Site) -> None:
    site.submit(job("two", stage(simple(), simple()), stage(simple(), simple())))
    change(site.store, "stage", {"seq": 2}, max_running=1)
    site.launch("two/2/1/1")

    facts, _ = of_job(site, "two")
    summary = browse.job(site.store, "two")
    first, second = (group.stage(site.store, summary, each, time.time()).facts
                     for each in browse.stages(site.store, summary))  # fmt: skip

    said = "1 ready: stage `two/2` runs 1 package at once, its `max-running`"
    assert [said in told for told in (facts, first, second)] == [True, False, True]


def test_packages_that_are_queued_on_a_drained_node_use_up_a_limit(site: Site) -> None:
    site.submit(job("more", [simple() for _ in range(2)], originator="eve@lab"))
    site.send("more/1/1/1", "localhost")
    throttled(site, "researcher eve@lab", 1)
    registry.add(site.store, Address("third", "ssh", "third"), cpus=2)
    site.up("third", machine_id="m3", base="/tmp/third")
    change(site.store, "node", {"name": "localhost"}, drained=1)

    queued = "(1 starting on `localhost`)"
    assert why(site, "more/1/2/1").answer.endswith(
        f"1 package is on nodes {queued}, and throttle `researcher eve@lab` allows 1"
    )
    assert f"1 ready: throttle `researcher eve@lab` allows 1 {queued}" in of_job(site, "more")[0]
