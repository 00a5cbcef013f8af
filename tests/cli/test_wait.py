"""`wait --until`: the end of a wait at the first failure, or at the first end of a package."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.support.building import job, line, package, production
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S

PROGRAM = Path(sys.executable).with_name("d0ctl")


def waiting(*words: str) -> "subprocess.Popen[str]":
    """A wait of the real program, which a test lets end."""
    return subprocess.Popen([PROGRAM, "wait", *words, "--timeout", f"{PATIENCE_S:.0f}s"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip


def test_a_wait_ends_when_a_package_fails_while_others_are_waiting(site: Site) -> None:
    site.submit(production())
    process = waiting("prod", "--until", "failed")
    assert process.stderr is not None
    assert "no daemon is running" in process.stderr.readline()  # it has looked once

    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (1, "`prod`: 2 of 8 packages ended, 1 failed\n")
    assert err == "d0ctl logs prod --failed\n"


def test_a_wait_for_a_held_job_names_the_release_at_once_and_goes_on(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up()
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("hold", "prod")
    process = waiting("prod")
    assert process.stderr is not None

    said = process.stderr.readline()
    assert said == "`prod` is held, so nothing more of it starts: d0ctl release prod\n"

    site.end("prod/1/1/1")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (1, "`prod` is held\n")
    assert err == "d0ctl release prod\n"


def test_a_wait_that_ends_with_held_packages_names_their_release(site: Site, d0ctl: Type) -> None:
    site.up()
    site.submit(job(("a", [line(package("x"))]), name="one"))
    site.submit(job(("a", [line(package("y"))]), name="two"))
    d0ctl("hold", "one/1/1/1")
    d0ctl("pause", "two")

    held, paused = d0ctl("wait", "one"), d0ctl("wait", "two")

    assert (held.exit_code, held.stdout, held.stderr) == (
        1, "`one` is held\n", "d0ctl release one:held\n",
    )  # fmt: skip
    assert (paused.exit_code, paused.stdout, paused.stderr) == (
        1, "`two` is paused\n", "d0ctl resume two\n",
    )  # fmt: skip


def test_a_wait_for_any_package_ends_with_the_first_success(site: Site) -> None:
    site.submit(production())
    process = waiting("prod", "--until", "any")
    assert process.stderr is not None
    assert "no daemon is running" in process.stderr.readline()

    site.finish("prod/1/1/1")
    out, _ = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (0, "`prod`: 1 of 8 packages ended, 0 failed\n")


def test_a_failure_before_the_wait_counts_and_only_in_the_selected_part(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.submit(production("other"))
    site.fail("prod/1/2/1")

    assert d0ctl("wait", "prod/1", "--until", "failed").exit_code == 1
    several = d0ctl("wait", "*", "--until", "any")
    assert (several.exit_code, several.stdout) == (1, "`prod`: 1 of 8 packages ended, 1 failed\n")
    over = d0ctl("wait", "other", "--until", "failed", "--timeout", "0s")
    assert (over.exit_code, "(submitted)" in over.stderr) == (1, True)


def two(site: Site) -> None:
    """Two jobs of one package each."""
    for name in ("left", "right"):
        site.submit(job(("a", [line(package("x"))]), name=name))


def test_a_wait_for_two_jobs_ends_when_both_have_ended(site: Site, d0ctl: Type) -> None:
    two(site)
    site.finish("left/1/1/1")
    process = waiting("left", "right")
    assert process.stderr is not None
    assert "no daemon is running" in process.stderr.readline()

    site.finish("right/1/1/1")
    out, _ = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (0, "`left` is successful\n`right` is successful\n")


def test_one_failed_job_of_two_makes_the_wait_exit_1(site: Site, d0ctl: Type) -> None:
    two(site)
    site.finish("left/1/1/1")
    site.fail("right/1/1/1")

    both = d0ctl("wait", "left", "right")

    assert both.exit_code == 1
    assert both.stdout == "`left` is successful\n`right` failed: 1 failed of 1 package\n"
    assert both.stderr == "d0ctl why right\n"


@pytest.mark.parametrize(("until", "code"), [("any", 0), ("failed", 1)])
def test_the_first_of_two_jobs_ends_a_wait_until_any_or_failed(
    site: Site, d0ctl: Type, until: str, code: int
) -> None:
    two(site)
    end = site.fail if until == "failed" else site.finish
    end("right/1/1/1")

    answer = d0ctl("wait", "left", "right/1", "--until", until)

    assert answer.exit_code == code
    assert answer.stdout == f"`right/1`: 1 of 1 package ended, {code} failed\n"


def test_after_the_timeout_only_the_job_that_goes_on_is_not_over(site: Site, d0ctl: Type) -> None:
    two(site)
    site.finish("left/1/1/1")

    answer = d0ctl("wait", "left", "right", "--timeout", "0s")

    assert (answer.exit_code, answer.stdout) == (1, "`left` is successful\n")
    assert "`right` has not ended after 0.0 s (submitted): d0ctl why right\n" in answer.stderr


def test_after_the_timeout_a_job_has_the_state_that_status_shows(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.finish("prod/1/1/1")

    answer = d0ctl("wait", "prod", "--timeout", "0s")

    assert "`prod` has not ended after 0.0 s (ready): d0ctl why prod\n" in answer.stderr
    assert "ready" in d0ctl("status", "prod").stdout


def test_after_the_timeout_the_nodes_that_are_down_are_named(site: Site, d0ctl: Type) -> None:
    two(site)
    site.launch("left/1/1/1")
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=time.time())

    answer = d0ctl("wait", "left", "--timeout", "0s")

    assert ("`left` has not ended after 0.0 s (running), and down with packages: `localhost`: "
            "d0ctl why left\n") in answer.stderr  # fmt: skip


def test_a_wait_for_an_unknown_job_beside_a_known_one_exits_3(site: Site, d0ctl: Type) -> None:
    two(site)

    answer = d0ctl("wait", "left", "rigth")

    assert answer.exit_code == 3
    assert "there is no job `rigth`" in answer.stderr and "right" in answer.stderr


@pytest.mark.parametrize("until", ["done", "failed", "any"])
def test_packages_that_ended_before_the_wait_are_reported_alike(
    site: Site, d0ctl: Type, until: str
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    waited = d0ctl("wait", "prod/1/1/1", "--until", until)

    assert (waited.exit_code, waited.stdout) == (0, "`prod/1/1/1` is successful\n")


def test_wait_refuses_an_unknown_condition(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("wait", "prod", "--until", "soon")

    assert result.exit_code == 2
    assert "--until takes `done`, `failed` or `any`, not `soon`" in result.stderr


def test_a_wait_says_what_stops_a_job_that_may_go_on(site: Site) -> None:
    drive(site)
    site.up()
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job(("a", [line(package("x", nodes=("far",)))])))
    with site.store.writing():
        far = registry.named(site.store, "far").id
        contact.down(site.store, far, "no route to host", now=time.time())
    process = waiting("prod")
    assert process.stderr is not None

    said = process.stderr.readline()

    assert said == "`prod` stands still, and this waits until it goes on: d0ctl why prod\n"
    site.up("far", machine_id="m2", base="/tmp/far")
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1")
    assert process.communicate(timeout=PATIENCE_S) == ("`prod` is successful\n", "")
