"""Stages that go on with a part of what they read."""

import time

import pytest
from msgspec.structs import replace

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store.checks.check import faults
from d0ctl.store.views import browse
from d0ctl.store.views.left_out import dropped_lines
from tests.store.requiring import end_all, go_on, merge
from tests.support.building import job, line, package
from tests.support.jobs import phases
from tests.support.site import Site


def test_a_merge_continues_with_the_part_that_it_requires(site: Site) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=2)

    go_on(site.store)

    assert site.phase("prod/1/9/1") == "dropped"
    assert site.phase("prod/2/1/1") == "ready"
    site.finish("prod/2/1/1")
    found = browse.job(site.store, "prod")
    assert (found.status, dropped_lines(site.store, found.id).lacking) == ("successful", 2)
    action = browse.actions(site.store, "prod", 1)[0]
    assert (action.actor, action.verb, action.undo) == (
        "d0ctl", "require", "d0ctl restore-line 'prod/1/*'"
    )  # fmt: skip
    assert "80.0% of stage `reco` is successful" in (action.note or "")
    assert "2 lines dropped" in (action.note or "")
    assert faults(site.store) == []


def test_a_merge_with_a_smaller_part_waits_for_a_person(site: Site) -> None:
    site.submit(merge(0.9))
    end_all(site, failing=2)

    go_on(site.store)

    assert site.phase("prod/1/9/1") == "failed"
    assert site.phase("prod/2/1/1") == "waiting"
    assert browse.job(site.store, "prod").status == "failed"


def test_dropped_packages_do_not_count(site: Site) -> None:
    site.submit(merge(0.9))
    end_all(site, failing=2)
    apply(
        site.store,
        request("kill-line", parse("prod/1/9"), drop_outputs=True),
        actor="me",
        note=None,
        now=time.time(),
    )

    go_on(site.store)

    assert site.phase("prod/1/10/1") == "failed"
    apply(
        site.store,
        request("kill-line", parse("prod/1/10"), drop_outputs=True),
        actor="me",
        note=None,
        now=time.time(),
    )
    assert site.phase("prod/2/1/1") == "ready"


@pytest.mark.parametrize("left", ["ready", "held", "running"])
def test_nothing_is_dropped_while_something_can_move(site: Site, left: str) -> None:
    site.submit(merge(0.5))
    end_all(site, failing=2, lines=9)
    if left == "held":
        apply(
            site.store,
            request("hold", parse("prod/1/10/1")),
            actor="me",
            note=None,
            now=time.time(),
        )
    elif left == "running":
        site.launch("prod/1/10/1")

    go_on(site.store)

    assert site.phase("prod/1/9/1") == "failed"
    assert site.phase("prod/2/1/1") == "waiting"


def test_a_stage_that_requires_all_waits_for_a_person(site: Site) -> None:
    spec = merge(0.5)
    strict = job(("strict", [line(package("s", takes=["r10"]))])).stages
    site.submit(replace(spec, stages=(*spec.stages, *strict)))
    end_all(site, failing=2)

    go_on(site.store)

    assert site.phase("prod/1/9/1") == "dropped"
    assert site.phase("prod/1/10/1") == "failed"
    assert site.phase("prod/2/1/1") == "waiting"


def test_chains_of_such_stages_lose_their_lines_one_by_one(site: Site) -> None:
    numbers = range(1, 11)
    spec = job(
        ("reco", [line(package(f"r{n}")) for n in numbers]),
        ("skim", [line(package(f"s{n}", needs=[f"r{n}"])) for n in numbers]),
        ("merge", [line(package("all", takes=[f"s{n}" for n in numbers]))]),
    )
    reco, skim, merged = spec.stages
    site.submit(
        replace(spec, stages=(reco, replace(skim, require=0.9), replace(merged, require=0.8)))
    )
    end_all(site, failing=1)
    go_on(site.store)
    assert site.phase("prod/2/10/1") == "dropped"
    for number in range(1, 9):
        site.finish(f"prod/2/{number}/1")
    assert site.phase("prod/3/1/1") == "waiting"
    site.fail("prod/2/9/1")

    go_on(site.store)

    assert site.phase("prod/2/9/1") == "dropped"
    assert site.phase("prod/3/1/1") == "ready"
    assert faults(site.store) == []


def test_a_line_that_was_restored_is_not_dropped_again_before_it_was_tried(site: Site) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=2)
    go_on(site.store)

    apply(
        site.store,
        request("restore-line", parse("prod/1/9-10")),
        actor="me",
        note=None,
        now=time.time(),
    )
    go_on(site.store)
    assert phases(site.store)["prod/1/9/1"] == "failed"
    apply(site.store, request("retry", parse("prod/1")), actor="me", note=None, now=time.time())
    go_on(site.store)
    site.finish("prod/1/9/1")
    site.fail("prod/1/10/1")
    go_on(site.store)

    assert phases(site.store)["prod/1/10/1"] == "dropped"
    assert phases(site.store)["prod/2/1/1"] == "ready"


def test_a_restored_line_stays_until_it_was_retried_even_if_others_of_its_stage_run_again(
    site: Site,
) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=2)
    go_on(site.store)
    site.finish("prod/2/1/1")

    restored = request("restore-line", parse("prod/1/9"), again=True)
    apply(site.store, restored, actor="me", note=None, now=time.time())
    again = request("set-status", parse("prod/1/1"), status="unscheduled")
    apply(site.store, again, actor="me", note=None, now=time.time())
    go_on(site.store)
    site.finish("prod/1/1/1")
    go_on(site.store)

    assert site.phase("prod/1/9/1") == "failed"
    apply(site.store, request("retry", parse("prod/1/9")), actor="me", note=None, now=time.time())
    go_on(site.store)
    site.fail("prod/1/9/1")
    go_on(site.store)
    assert site.phase("prod/1/9/1") == "dropped"
