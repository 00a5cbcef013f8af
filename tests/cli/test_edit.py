"""`edit`: what packages request changes before they start."""

import time
from collections import Counter
from typing import Any

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import leases, registry
from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.cli.test_standing import down, drive
from tests.support.building import job, line, package, production
from tests.support.rows import read
from tests.support.site import Site

ENOUGH = "   # if that is enough"


@pytest.fixture
def site(site: Site) -> Site:
    """A driver, and a node of 2 CPUs, 4 GB of memory and a disk of 100 GB."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up(cpus=2, memory=4 * 10**9, disk_total=100 * 10**9, disk_free=50 * 10**9)
    return site


@pytest.mark.parametrize(
    ("requests", "options"),
    [
        ({"cpus": 64}, "--cpus 2"),
        ({"memory": 900 * 10**9}, "--memory 4GB"),
        ({"disk": 900 * 10**9}, "--disk 49800MB"),
        ({"cpus": 8, "memory": 5 * 10**9}, "--cpus 2 --memory 4GB"),
        ({"nodes": ("far",)}, "--on localhost"),
    ],
)
def test_why_suggests_an_edit_for_a_package_that_no_node_can_take(
    site: Site, d0ctl: Type, requests: dict[str, Any], options: str
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    site.up("far", cpus=1, memory=10**9, disk_total=10**9, machine_id="far")
    other: dict[str, Any] = {"cpus": 2} if "nodes" in requests else {}
    site.submit(job(("a", [line(package("x", **requests, **other))])))
    command = f"d0ctl edit prod/1/1/1 {options}"
    assert "no node can take it" in d0ctl("why", "prod/1/1/1").stdout

    note = "" if "nodes" in requests else ENOUGH
    assert f"{command}{note}" in suggested(d0ctl, "why", "prod/1/1/1")
    assert f"d0ctl edit prod:ready {options}{note}" in suggested(d0ctl, "why", "prod")
    result = d0ctl(*command.split()[1:])

    assert result.stdout.startswith("edited package `prod/1/1/1` to request "), result.output
    assert "no node can take it" not in d0ctl("why", "prod/1/1/1").stdout


def test_why_of_a_job_suggests_one_edit_for_all_alike_packages_and_else_for_the_first(
    site: Site, d0ctl: Type
) -> None:
    site.up(cpus=4)
    wide = [line(package(f"x{n}", cpus=64)) for n in range(3)]
    site.submit(job(("a", wide), name="alike"))
    site.submit(job(("a", [*wide, line(package("y"))]), name="mixed"))

    assert f"d0ctl edit mixed/1/1/1 --cpus 4{ENOUGH}" in suggested(d0ctl, "why", "mixed")
    [command] = [text for text in suggested(d0ctl, "why", "alike") if "edit" in text]
    assert command == f"d0ctl edit alike:ready --cpus 4{ENOUGH}"
    typed = command.removesuffix(ENOUGH).split()[1:]
    assert "edited 3 packages of `alike:ready`" in d0ctl(*typed).stdout
    assert "no node can take" not in d0ctl("why", "alike").stdout


def test_a_job_that_no_node_can_take_does_not_blame_a_node_that_is_down(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    down(site, "far")
    site.submit(job(("a", [line(package("big", cpus=64))])))
    site.submit(production("other"))

    answer = d0ctl("why", "prod").stdout

    assert answer.startswith("job `prod` stands still: no node can take 1 package: `localhost`: ")
    assert "far` down" not in answer and "node check" not in answer
    assert "`far` down since" in d0ctl("why", "other").stdout


def test_why_of_a_job_names_the_drained_node_that_fits_before_an_edit_of_its_ready_packages(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far", memory=8 * 10**9)
    d0ctl("node", "drain", "far", "--reason", "new disks")
    makers = [line(package("x", memory=6 * 10**9))]
    site.submit(job(("a", makers), ("b", [line(package("y", needs=["x"], memory=10**9))])))

    answer = d0ctl("why", "prod").stdout
    commands = suggested(d0ctl, "why", "prod")

    assert answer.startswith(
        "job `prod` stands still: no node that takes packages now can take its 1 package\n"
    )
    assert "node `localhost` is ruled out: 4.0 GB of memory" in answer
    assert "node `far` is drained" in answer
    resume = commands.index("d0ctl node resume far   # once its reason no longer holds")
    assert resume < commands.index(f"d0ctl edit prod:ready --memory 4GB{ENOUGH}")
    assert "1 package" in d0ctl("edit", "prod:ready", "--memory", "4GB", "--dry-run").stdout


def test_no_edit_is_suggested_if_no_option_can_help(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", cpus=64, platform="vax"))])))

    assert "d0ctl edit" not in d0ctl("why", "prod/1/1/1").stdout


def test_an_edit_changes_the_requests_only_of_packages_that_have_not_started(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    result = d0ctl("edit", "prod/1", "--cpus", "2", "--wall-time", "2h", "--env", "A=1")

    changed = "2 CPUs, a wall time of 2 h 00 min and A=1"
    assert f"edited 5 packages of `prod/1` to request {changed}" in result.stdout
    assert "unchanged: 1 running" in result.stdout
    assert Counter(read(site.store, "package", "wall_time", stage_id=1)) == {
        (None,): 1,
        (7200.0,): 5,
    }
    ready = read(site.store, "requirement", "cpus", "ready")
    assert sum(number for cpus, number in ready if cpus == 1) == 0
    assert sum(number for cpus, number in ready if cpus == 2) == 2


def test_an_edit_is_undone_by_the_requests_that_the_packages_had(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x{n}", memory=10**9, wall_time=60)) for n in range(3)])))
    before = read(site.store, "package", "id", "requirement_id", "wall_time")

    result = d0ctl("edit", "prod", "--memory", "3GB", "--cpus", "2", "--wall-time", "2h")

    command = "d0ctl edit prod --memory 1GB --cpus 1 --wall-time 1m"
    assert result.stderr == f"to undo: {command}\n"
    assert d0ctl(*command.split()[1:]).exit_code == 0
    assert read(site.store, "package", "id", "requirement_id", "wall_time") == before


def test_a_request_can_be_dropped_and_the_edit_undone(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", memory=10**9, wall_time=60))])))
    state = "package", "id", "requirement_id", "wall_time"
    before = read(site.store, *state)
    dropping = "edit prod --memory none --wall-time none --on none"

    dropped = d0ctl(*dropping.split())
    without = read(site.store, *state)
    restored = d0ctl("edit", "prod", "--memory", "1GB", "--wall-time", "1m")

    assert (
        dropped.stdout
        == "edited package `prod/1/1/1` to request no memory limit, no wall time and any node\n"
    )
    assert dropped.stderr == "to undo: d0ctl edit prod --memory 1GB --wall-time 1m --on none\n"
    assert read(site.store, *state) == before != without
    assert restored.stderr == "to undo: d0ctl edit prod --memory none --wall-time none\n"
    assert "--memory none --wall-time none --on none" in d0ctl("history", "prod").stdout

    d0ctl(*restored.stderr.split()[3:])
    assert read(site.store, *state) == without


def test_no_edit_is_offered_as_the_undo_of_one_that_lets_a_node_take_packages(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("s", [line(package("a", memory=900 * 10**9))])))

    asked = d0ctl("edit", "prod", "--dry-run")
    answer = d0ctl("edit", "prod", "--memory", "1GB").stdout

    assert (asked.exit_code, "no request is given" in asked.stdout) == (0, True)
    assert "can't be undone" not in asked.stdout
    assert "to undo" not in answer
    assert "can't be undone: no node can take what they requested before" in answer
    assert d0ctl("edit", "prod", "--memory", "900GB").exit_code == 4


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--cpus", "2", "--memory", "3GB"], "the packages had different values of `memory`"),
        (["--disk", "3GB"], "the packages had no `disk`"),
        (["--env", "A=1"], "the history keeps no values of variables"),
    ],
)
def test_an_edit_that_nothing_can_undo_says_why(
    site: Site, d0ctl: Type, words: list[str], reason: str
) -> None:
    site.submit(job(("a", [line(package("x", memory=10**9)), line(package("y", memory=10**8))])))

    planned = d0ctl("edit", "prod", *words, "--dry-run")
    result = d0ctl("edit", "prod", *words)

    assert f"can't be undone: {reason}" in planned.stdout
    assert f"can't be undone: {reason}" in result.stdout
    assert "to undo" not in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        (["prod/1/1/1"], 2, "no request is given"),
        (["prod/1/1/1", "--cpus", "3"], 4, "no node can take it: `localhost` is ruled out (2 CPUs"),
        (["prod/1/1/1", "--on", "nowhere"], 3, "there is no node `nowhere`"),
        (["prod/1/2/1", "--cpus", "1"], 4, "is failed, so it can't be edited"),
    ],
)
def test_edits_without_effect_and_impossible_edits_are_refused(
    site: Site, d0ctl: Type, words: list[str], code: int, answer: str
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    result = d0ctl("edit", *words)

    assert (result.exit_code, answer in result.stderr) == (code, True), result.stderr


@pytest.mark.parametrize("target", ["prod/1/2/1", "prod:failed"])
def test_the_refusal_of_an_edit_of_failed_packages_names_a_retry_that_works(
    site: Site, d0ctl: Type, target: str
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    refused = d0ctl("edit", target, "--memory", "1GB", "--wall-time", "2h")
    command = refused.stderr.splitlines()[-1]
    retried = d0ctl(*command.split()[1:])

    assert command == f"d0ctl retry {target} --memory 1GB --wall-time 2h"
    assert "with 1.0 GB of memory and a wall time of 2 h" in retried.stdout


def test_why_gives_the_unit_that_the_memory_of_a_node_lacks(site: Site, d0ctl: Type) -> None:
    site.up(cpus=2, memory=8)
    site.submit(job(("a", [line(package("x", memory=50 * 10**6))])))

    answer = d0ctl("why", "prod/1/1/1").stdout

    assert "8 B of memory, needs 50 MB" in answer
    assert "$ d0ctl node set localhost memory=8GB" in answer


@pytest.mark.parametrize(("verb", "path"), [("edit", "prod/1/1/1"), ("retry", "prod/1/2/1")])
def test_a_plan_says_if_none_of_the_named_nodes_takes_packages(
    site: Site, d0ctl: Type, verb: str, path: str
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    site.up("far", cpus=1, machine_id="far")
    site.submit(production())
    site.fail("prod/1/2/1")
    d0ctl("node", "drain", "far")

    both = d0ctl(verb, path, "--on", "far", "--on", "localhost", "--dry-run").stdout
    plan = d0ctl(verb, path, "--on", "far", "--dry-run").stdout
    d0ctl("node", "resume", "far")
    down(site, "far")
    done = d0ctl(verb, path, "--on", "far").stdout

    assert "now: d0ctl why" not in both
    so = "so no package starts on it now: d0ctl why --node far"
    assert f"node `far` is drained, {so}\n" in plan
    assert f"node `far` is down, {so}\n" in done
