"""Packages without a node, whose inputs are only on a node that is down."""

import time

import pytest

from d0ctl.daemon.steps.schedule import decide
from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.cli.test_standing import down, drive
from tests.support.building import document, job, line, package
from tests.support.site import Site

CAN_NOT = "file `x` can't be copied: node `far` is down: connection refused"


@pytest.fixture
def site(site: Site) -> Site:
    """A site with a ready package whose input is only on a node that is down."""
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job(("a", [line(package("x"), package("y", needs=["x"]))])))
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1")
    site.up()
    down(site, "far")
    return site


def test_a_ready_package_says_that_its_input_is_out_of_reach(site: Site, d0ctl: Type) -> None:
    answer, card = d0ctl("why", "prod/1/1/2").stdout, d0ctl("status", "prod/1/1/2").stdout

    first = "package `prod/1/1/2` is ready, and 1 input can't be copied now\n"
    assert answer.startswith(f"{first}- {CAN_NOT}\n")
    assert f"\n{first}- {CAN_NOT}\n" in card
    assert "if it were next" not in answer and "takes less than" not in answer
    assert "has been down since" not in answer, "it is said once that the node is down"
    commands = [text.strip() for text in answer.splitlines() if text.startswith("  $ ")]
    assert commands == [
        "$ d0ctl node check far",
        "$ d0ctl set-status prod/1/1/1 unscheduled   # makes `x` again elsewhere",
        "$ d0ctl node remove far   # if it is gone for good: what is needed is made again",
    ]
    assert document(d0ctl("why", "prod/1/1/2", "--json").stdout)["details"]["nodes_down"] == ["far"]


def test_one_whose_input_has_another_copy_waits_for_a_slot(site: Site, d0ctl: Type) -> None:
    site.up("far", machine_id="m2", base="/tmp/far")

    answer = d0ctl("why", "prod/1/1/2").stdout

    assert "it starts on `localhost` or `far` when its turn comes" in answer
    assert "can't be copied" not in answer


def test_one_that_cools_off_says_it_too(site: Site, d0ctl: Type) -> None:
    site.launch("prod/1/1/2", "far")
    site.end("prod/1/1/2", "failed", reason="stage-in", detail="no answer")
    down(site, "far")
    assert site.phase("prod/1/1/2") == "cooloff"

    answer = d0ctl("why", "prod/1/1/2").stdout

    assert f"- {CAN_NOT}\n" in answer
    assert "  $ d0ctl node check far\n" in answer
    assert "  $ d0ctl retry prod/1/1/2\n" in answer


def test_without_a_node_that_could_take_it_that_comes_first(site: Site, d0ctl: Type) -> None:
    d0ctl("node", "drain", "localhost")

    answer = d0ctl("why", "prod/1/1/2").stdout

    assert answer.startswith("package `prod/1/1/2` is ready, and no node can take it\n")


def test_a_job_with_such_a_package_has_no_end_until_the_node_is_back(
    site: Site, d0ctl: Type
) -> None:
    waits = "some of its packages or inputs are on `far`, which is down"

    assert d0ctl("eta", "prod").stdout.startswith(f"prod  no estimate of its end: {waits}\n")
    assert waits in d0ctl("status", "prod").stdout
    assert waits in d0ctl("status").stdout
    estimate = document(d0ctl("eta", "prod", "--json").stdout)
    assert (estimate["end"], estimate["waits_for_nodes"]) == (None, ["far"])
    (shown,) = document(d0ctl("status", "--json").stdout)["jobs"]
    assert (shown["estimated_end"], shown["waits_for_nodes"]) == (None, ["far"])

    site.up("far", machine_id="m2", base="/tmp/far")

    assert "no estimate" not in d0ctl("eta", "prod").stdout
    assert document(d0ctl("eta", "prod", "--json").stdout)["waits_for_nodes"] == []


def test_why_of_a_file_leads_to_the_only_node_that_has_it(site: Site, d0ctl: Type) -> None:
    check = "  $ d0ctl node check far\n"

    assert f"{check}  $ d0ctl set-status prod/1/1/1" in d0ctl("why", "prod:x").stdout

    d0ctl("kill", "prod/1/1/2")
    assert f"{check}  $ d0ctl status prod/1/1/1\n" in d0ctl("why", "prod:x").stdout

    site.up("far", machine_id="m2", base="/tmp/far")
    assert "node check" not in d0ctl("why", "prod:x").stdout


@pytest.mark.parametrize("phase", ["ready", "assigned"])
def test_why_of_a_job_names_such_a_package_beside_unreachable_ones(
    site: Site, d0ctl: Type, phase: str
) -> None:
    site.up("far", machine_id="m2", base="/tmp/far")
    lines = [line(package("v"), package("w", needs=["v"])), line(package("z"))]
    site.submit(job(("a", lines), name="more"))
    site.launch("more/1/1/1", "far")
    site.end("more/1/1/1")
    site.launch("more/1/2/1", "far")
    if phase == "assigned":
        site.assign("more/1/1/2")
    down(site, "far")

    answer = d0ctl("why", "more").stdout

    reason = CAN_NOT.replace("`x`", "`v`")
    assert answer.startswith("1 package is unreachable: package `more/1/2/1` was launched on `far`")
    assert f"- `more/1/1/2` is {phase}, but {reason}\n" in answer
    assert "  $ d0ctl why more/1/1/2\n" in answer
    site.up("far", machine_id="m2", base="/tmp/far")
    assert "can't be copied" not in d0ctl("why", "more").stdout


def test_why_of_a_job_makes_the_inputs_of_all_its_packages_again_by_one_command(
    site: Site, d0ctl: Type
) -> None:
    site.up("far", machine_id="m2", base="/tmp/far")
    sims = [line(package(f"s{number}")) for number in range(1, 7)]
    merges = [line(package(f"m{number}", takes=[f"s{number}", f"s{number + 3}"]))
              for number in range(1, 4)]  # fmt: skip
    parts = [("sim", sims), ("merge", merges), ("else", [line(package("z"))])]
    site.submit(job(*parts, name="more"))
    for number in (1, 2, 4, 5, 6):
        site.launch(f"more/1/{number}/1", "far")
        site.end(f"more/1/{number}/1")
    site.finish("more/1/3/1")
    site.launch("more/3/1/1")
    down(site, "far")

    running = d0ctl("why", "more").stdout
    site.end("more/3/1/1")
    answers = [d0ctl("why", path).stdout for path in ("more", "more/2")]
    alone = d0ctl("why", "more/2/2/1").stdout

    again = "  $ d0ctl set-status more/1/1-2/1 more/1/4-6/1 unscheduled"
    for answer in (running, *answers):
        assert answer.count(f"{again}   # makes these 5 files again elsewhere\n") == 1
        assert answer.count("again elsewhere") == 1
    assert "set-status more/1/2/1 more/1/5/1 unscheduled" in alone
    assert d0ctl(*again.split()[2:], "--yes").exit_code == 0
    assert [site.phase(f"more/1/{number}/1") for number in (1, 3, 6)] == ["ready", "done", "ready"]
    assert "again elsewhere" not in d0ctl("why", "more").stdout


def test_why_of_a_job_says_once_that_an_input_can_not_be_copied(site: Site, d0ctl: Type) -> None:
    assert d0ctl("why", "prod").stdout.count("can't be copied: node `far` is down") == 1


def test_the_check_of_a_job_names_the_node_that_all_its_ready_packages_wait_for(
    site: Site, d0ctl: Type
) -> None:
    with site.store.writing():
        decide(site.store, now=time.time())

    said = d0ctl("status", "prod", "-q").stdout

    assert said.endswith("; some of its packages or inputs are on `far`, which is down\n")


def test_no_edit_leads_packages_to_nodes_that_their_inputs_can_not_reach(
    site: Site, d0ctl: Type
) -> None:
    d0ctl("edit", "prod/1/1/2", "--on", "far")

    alone, of_job = d0ctl("why", "prod/1/1/2").stdout, d0ctl("why", "prod").stdout

    for answer in (alone, of_job):
        assert answer.count(CAN_NOT) == 1
        assert "node `localhost` is ruled out: not in its node list\n" in answer
        assert "d0ctl node check far\n" in answer
        assert "could take it" not in answer and "d0ctl edit" not in answer
    assert of_job.startswith("job `prod` stands still: ")
    assert d0ctl("status", "-q").stdout.startswith("stands still: `prod`")


def test_why_of_a_job_advises_an_edit_that_lets_one_of_its_packages_run(
    site: Site, d0ctl: Type
) -> None:
    site.up("far", machine_id="m2", base="/tmp/far")
    lines = [line(package("u"), package("v", needs=["u"])), line(package("w"))]
    site.submit(job(("a", lines), name="b"))
    site.launch("b/1/1/1", "far")
    site.end("b/1/1/1")
    down(site, "far")
    d0ctl("edit", "b:ready", "--on", "far")

    assert "  $ d0ctl edit b/1/2/1 --on localhost\n" in d0ctl("why", "b").stdout


def test_an_edit_is_for_all_that_request_the_same_also_if_one_of_them_was_lost(
    site: Site, d0ctl: Type
) -> None:
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job(("a", [line(package("u")), line(package("v"))]), name="b"))
    d0ctl("edit", "b:ready", "--on", "far")
    site.launch("b/1/1/1", "far")
    site.end("b/1/1/1", "failed", reason="lost", detail="gone")
    d0ctl("node", "drain", "far")

    assert site.phase("b/1/1/1") == "ready"
    assert "  $ d0ctl edit b:ready --on localhost\n" in d0ctl("why", "b").stdout


def test_why_of_a_job_names_packages_that_only_a_drained_node_could_take(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package(name)) for name in "uvw"]), name="b"))
    site.launch("b/1/1/1")
    d0ctl("edit", "b/1/2-3", "--on", "mid")
    none = d0ctl("why", "b").stdout
    registry.add(site.store, Address("mid", "ssh", "mid"), cpus=2)
    site.up("mid", machine_id="m3", base="/tmp/mid")
    d0ctl("edit", "b/1/2-3", "--on", "mid")
    up = d0ctl("why", "b").stdout
    d0ctl("node", "drain", "mid")

    drained, of_stage = d0ctl("why", "b").stdout, d0ctl("why", "b/1").stdout

    fact = "- no node that takes packages now can take "
    assert f"{fact}2 ready packages, such as `b/1/2/1`\n" in drained
    assert f"{fact}`b/1/2/1`, which is ready\n" in of_stage
    assert "  $ d0ctl why b/1/2/1\n" in drained
    assert fact not in none + up
