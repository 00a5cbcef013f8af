"""`status --check`, and how `status` names what stops production first."""

import time

import pytest

from d0ctl.config import Home
from d0ctl.model import Address
from d0ctl.store.nodes import contact, leases, registry
from tests.cli.conftest import Type
from tests.support.acting import act
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


def drive(site: Site) -> None:
    """A process drives the home, as a daemon does."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())


def down(site: Site, *names: str) -> None:
    """Nodes stop answering."""
    for name in names:
        with site.store.writing():
            node = registry.named(site.store, name).id
            contact.down(site.store, node, "connection refused", now=time.time())


def test_running_production_prints_one_line_and_exits_0(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")

    result = d0ctl("status", "--check")

    assert (result.exit_code, result.stdout) == (0, "moving: 1 job\n")


def test_a_site_without_work_has_nothing_to_do(site: Site, d0ctl: Type) -> None:
    result = d0ctl("status", "--check")

    assert (result.exit_code, result.stdout) == (0, "nothing to do; no daemon is running\n")
    drive(site)
    assert d0ctl("status", "--check").stdout == "nothing to do\n"


def test_failures_exit_1_even_after_the_job_has_ended(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    result = d0ctl("status", "--check")

    assert (result.exit_code, result.stdout) == (1, "failures: 1 package failed in `prod`\n")


def test_work_without_a_daemon_is_a_standstill(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("status", "--check")

    stops = "stands still: no daemon is running, so nothing new starts; 8 packages have not ended\n"
    assert (result.exit_code, result.stdout) == (5, stops)


def test_launched_packages_without_a_reachable_node_are_a_standstill(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    down(site, "localhost")
    act(site.store, "node drain", "far", actor="ada", note="new disk", now=time.time())

    result = d0ctl("status", "--check")

    assert result.exit_code == 5
    assert result.stdout.startswith("stands still: 0 of 2 nodes up: `localhost` down since ")
    assert (
        "(connection refused); `far` drained (new disk); 8 packages have not ended" in result.stdout
    )


def test_a_node_that_a_person_drained_is_no_obstacle_while_others_take_packages(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up()
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far")
    site.submit(production())
    d0ctl("node", "drain", "far", "--reason", "new disk")

    assert "far" not in d0ctl("status").stdout
    assert "nodes up" not in d0ctl("why", "prod").stdout

    down(site, "localhost")

    assert "`far` drained (new disk)" in d0ctl("status").stdout.replace("\n", " ")


@pytest.mark.parametrize(("verb", "state"), [("pause", "paused"), ("hold", "held")])
def test_jobs_that_a_person_stopped_are_named_but_do_not_count(
    site: Site, d0ctl: Type, verb: str, state: str
) -> None:
    drive(site)
    site.up()
    site.submit(production())
    d0ctl(verb, "prod")

    result = d0ctl("status", "--check")

    assert (result.exit_code, result.stdout) == (0, f"nothing to do; `prod` is {state}\n")


def test_packages_that_no_node_can_take_need_a_person_while_others_move(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up()
    site.submit(job(("a", [line(package("x", cpus=64)), line(package("y"))])))

    result = d0ctl("status", "--check")

    assert result.exit_code == 1
    assert "`prod`: no node can take 1 package: `localhost`: 4 CPUs, needs 64" in result.stdout


def test_a_missing_home_exits_5(home: Home, d0ctl: Type) -> None:
    result = d0ctl("status", "--check", "--json")

    assert result.exit_code == 5
    assert document(result.stdout)["headline"] == f"stands still: there is no home at `{home.root}`"


def test_the_json_check_has_the_same_facts_as_the_text(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("status", "--check", "--json")
    answer = document(result.stdout)

    assert result.exit_code == answer["code"] == 5
    assert (answer["state"], answer["cause"], answer["daemon"]) == (
        "standstill",
        "no-daemon",
        False,
    )
    assert answer["stopped"] == {"prod": "no-daemon"}
    assert answer["commands"] == ["d0ctl daemon start"]


@pytest.mark.parametrize("words", [["status"], ["status", "prod"]])
def test_status_names_a_missing_daemon_first(site: Site, d0ctl: Type, words: list[str]) -> None:
    site.submit(production())

    first = d0ctl(*words).stdout.splitlines()[0]

    assert first == "✘ no daemon is running, so nothing new starts: d0ctl daemon start"


@pytest.mark.parametrize("words", [["status"], ["status", "prod"]])
def test_status_names_nodes_that_are_out_of_use_first(
    site: Site, d0ctl: Type, words: list[str]
) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")
    down(site, "localhost")

    screen = d0ctl(*words).stdout

    assert screen.startswith("✘ 0 of 1 node up: `localhost` down since ")
    assert "d0ctl node check localhost" in screen.splitlines()[0]
    assert "✘ stands still" in screen
    assert "1 unreachable" in screen
    assert "1 running" not in screen
    assert "1 on localhost" not in screen


def test_the_overview_marks_a_paused_job_with_running_packages(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("pause", "prod")

    assert "◫ paused" in d0ctl("status").stdout


def test_a_finished_production_needs_no_daemon(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.finish("prod/1/1/1")

    assert "no daemon" not in d0ctl("status").stdout


def test_daemon_status_exits_3_when_none_runs(site: Site, d0ctl: Type) -> None:
    assert d0ctl("daemon", "status").exit_code == 3
    assert d0ctl("daemon", "status", "--json").exit_code == 3


def test_checking_excludes_watching_and_filters(d0ctl: Type) -> None:
    assert d0ctl("status", "--check", "--watch").exit_code == 2
    assert d0ctl("status", "prod", "--check", "--node", "localhost").exit_code == 2


def test_doctor_says_first_that_production_stands_still(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("doctor")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        "! production stands still: no daemon is running, so nothing new starts; "
        "8 packages have not ended: d0ctl daemon start"
    )
    assert "no problems found" not in result.stdout
    assert result.stdout.splitlines()[1].startswith("  nothing else found: ")


def test_doctor_names_a_node_that_is_down_as_not_checked(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    down(site, "far")

    result = d0ctl("doctor")

    assert result.exit_code == 0
    assert "all is well" not in result.stdout
    assert result.stdout.startswith("✔ no problems found: ")
    assert result.stdout.endswith("; `far` was not checked: connection refused\n")


def test_a_job_has_a_line_and_a_code_of_its_own(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.submit(production("fine", lines=1))
    stopped = d0ctl("status", "prod", "-q")
    drive(site)
    site.launch("prod/1/1/1")
    site.launch("fine/1/1/1")
    running = d0ctl("status", "prod", "-q")
    site.fail("prod/1/2/1")
    failing = d0ctl("status", "prod", "-q")

    why = "no daemon is running, so nothing new starts"
    still = f"`prod` is submitted and stands still: 0 of 8 packages done; {why}\n"
    assert (stopped.exit_code, stopped.stdout) == (5, still)
    moves = "`prod` is running: 0 of 8 packages done\n"
    assert (running.exit_code, running.stdout) == (0, moves)
    fails = "`prod` is running: 0 of 8 packages done, 1 failed\n"
    assert (failing.exit_code, failing.stdout) == (1, fails)
    assert d0ctl("status", "prod/1/1", "-q").exit_code == 0
    both = d0ctl("status", "*", "-q")
    assert (both.exit_code, len(both.stdout.splitlines())) == (1, 2)
    assert d0ctl("status", "none", "-q").exit_code == 3
    assert d0ctl("status", "prod", "-q", "--json").exit_code == 2


def test_an_ended_job_exits_as_it_ended(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(job(("a", [line(package("x"))])))
    site.submit(job(("a", [line(package("x")), line(package("y"))]), name="bad"))
    site.finish("prod/1/1/1")
    site.finish("bad/1/1/1")
    site.fail("bad/1/2/1")

    assert d0ctl("status", "prod", "-q").exit_code == 0
    assert d0ctl("status", "bad", "-q").exit_code == 1


def test_the_overview_names_the_job_with_failures(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.submit(production("later"))

    assert d0ctl("status").stdout.endswith("d0ctl status prod    d0ctl why prod\n")


def test_failures_that_are_acknowledged_need_nobody(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    assert document(d0ctl("status", "-q", "--json").stdout)["failed"] == 2

    assert d0ctl("acknowledge", "prod/1/2/1", "--reason", "known").exit_code == 0

    assert document(d0ctl("status", "-q", "--json").stdout)["failed"] == 1


def test_doctor_does_not_call_a_node_fine_that_it_was_to_check(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    down(site, "far")

    result = d0ctl("doctor", "--nodes")
    answer = document(d0ctl("doctor", "--nodes", "--json").stdout)

    assert result.exit_code == 6
    assert result.stdout.startswith("✘ `far` was not checked: connection refused: d0ctl node check")
    assert "nothing else found: " in result.stdout
    assert (answer["ok"], answer["unseen"]) == (False, {"far": "connection refused"})
