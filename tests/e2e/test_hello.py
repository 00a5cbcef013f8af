"""The first job of a newcomer, on this machine and over ssh."""

import json
import re
import subprocess
from typing import Any

import pytest

from tests.support.site import Site
from tests.support.site.commands import D0CTL, EXAMPLES
from tests.support.waiting import PATIENCE_S


@pytest.fixture
def site(newcomer: Site) -> Site:
    """A user with no home yet."""
    return newcomer


HELLO = EXAMPLES / "hello" / "job.yaml"


@pytest.fixture(params=["this machine", "ssh"])
def ran(site: Site, request: pytest.FixtureRequest) -> Site:
    """A site where hello has just been run."""
    if request.param == "ssh":
        site.add("farm")
        site.alone()
    done = site.d0ctl("run", HELLO)
    assert done.code == 0, done
    assert "submitted `hello`: 5 packages" in done.err
    assert "`hello` is successful: 5 packages in" in done.out
    assert "  hello.txt\n" in done.out
    return site


def node_of(site: Site) -> str:
    """Where the packages must have run."""
    return "farm" if site.sshds else "localhost"


def test_hello_runs_and_all_commands_report_the_same_state(ran: Site) -> None:
    text = (ran.home.root / "results" / "hello" / "hello.txt").read_text()
    names = re.findall(r"^Hello (\w+), this is \S+\.$", text, re.MULTILINE)
    assert names == ["Ada", "Emmy", "Lise", "Marie"]

    job = ran.json("status", "hello")
    assert (job["job"], job["status"], job["dropped"]) == ("hello", "successful", 0)
    assert job["packages"] == counts(successful=5)
    assert [stage["packages"] for stage in job["stages"]] == [
        counts(successful=4),
        counts(successful=1),
    ]
    assert [one["job"] for one in ran.json("status")["jobs"]] == ["hello"]

    package = ran.package("hello/2/1/1")
    (attempt,) = package["attempts"]
    assert (attempt["node"], attempt["outcome"]) == (node_of(ran), "successful")
    assert attempt["exit_code"] == 0 and attempt["signal"] is None
    assert {"done", "total", "percent", "eta"} <= set(package["progress"])
    assert set(package["progress"].values()) == {None}

    assert ran.ok("wait", "hello") == "`hello` is successful\n"
    assert ran.ok("logs", "hello/1/1/1") == ""
    history = ran.json("history", "hello")
    assert (history["reasons"], history["failures"]) == ([], [])
    assert [one["verb"] for one in history["actions"]] == ["submit"]
    why = ran.json("why", "hello/1/2/1")
    assert why["status"] == "successful"
    assert f"on `{node_of(ran)}`" in why["answer"]
    assert ran.ok("doctor").startswith("✔ no problems found")


def counts(**some: int) -> dict[str, Any]:
    """The six statuses, all zero but some."""
    words = ("unscheduled", "scheduled", "launched", "successful", "failed", "canceled")
    return dict.fromkeys(words, 0) | some


def test_without_a_home_status_lists_no_jobs(site: Site) -> None:
    environment = {key: site.environment[key] for key in ("HOME", "LANG", "PATH")}
    done = subprocess.run(
        [str(D0CTL), "status", "--json"], env=environment, capture_output=True, timeout=PATIENCE_S
    )

    assert (done.returncode, json.loads(done.stdout)) == (0, {"jobs": [], "obstacles": []})
    assert list((site.folder / "user").iterdir()) == []


def test_a_missing_named_home_is_reported(site: Site) -> None:
    done = site.d0ctl("status", "--json")

    assert done.code == 5
    assert f"there is no home at `{site.home.root}`" in done.err
    assert not site.home.root.exists()


def test_a_job_that_runs_twice_needs_another_name(site: Site) -> None:
    site.ok("run", HELLO)

    again = site.d0ctl("run", HELLO)
    assert again.code == 4
    assert "job `hello` already exists" in again.err

    site.ok("run", HELLO, "--as", "hello2")
    assert {one["job"] for one in site.json("status")["jobs"]} == {"hello", "hello2"}


def test_this_machine_can_be_drained_before_anything_has_run(site: Site) -> None:
    assert site.ok("node", "drain", "localhost") == "drained `localhost`\n"

    assert site.listed_node("localhost")["drained"]
