"""pause and resume of parts of a job of which some packages are paused and others are not."""

import re
import time

import pytest

from d0ctl.store.nodes import leases
from d0ctl_wrapper.protocol.text import PAUSED
from tests.cli.conftest import Type
from tests.cli.test_pause import say
from tests.support.building import document, production
from tests.support.site import Site


def test_a_resume_names_and_undoes_only_packages_that_a_pause_holds(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1/1")
    d0ctl("pause", "prod/1/2/1")

    plan = d0ctl("resume", "prod/1", "--dry-run").stdout
    done = d0ctl("resume", "prod/1")

    assert plan.splitlines()[:2] == ["would resume 1 package: 1 held", "  prod/1/2/1  held"]
    assert "prod/1/1/1" not in plan
    assert done.stderr.startswith("to undo: d0ctl pause prod/1/2/1\n")
    assert (site.phase("prod/1/1/1"), site.phase("prod/1/2/1")) == ("held", "ready")


def test_a_pause_names_and_undoes_only_packages_that_are_not_asked_yet(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.launch(path)
    d0ctl("pause", "prod/1/1/1", "--running")

    plan = d0ctl("pause", "prod/1/1-2/1", "--running", "--dry-run").stdout
    done = d0ctl("pause", "prod/1/1-2/1", "--running")

    assert plan.splitlines()[1].startswith("  prod/1/2/1 ")
    assert "prod/1/1/1" not in plan
    assert done.stderr.startswith("to undo: d0ctl resume prod/1/2/1\n")


@pytest.mark.parametrize("path", ["prod/1/1/1", "prod/1"])
def test_a_resume_is_undone_before_it_took_effect(site: Site, d0ctl: Type, path: str) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    d0ctl("pause", "prod/1/1/1", "--running")
    say(site, attempt, "suspended", seq=2, why=PAUSED)
    undo = d0ctl("resume", path).stderr.splitlines()[0].removeprefix("to undo: d0ctl ")

    again = d0ctl(*undo.split())

    assert (again.exit_code, again.stdout.splitlines()[0]) == (0, "paused package `prod/1/1/1`")
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["request"] == "pause"


def test_paused_packages_are_to_be_resumed_and_held_ones_released(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("pause", "prod/1/1-2")
    resume, release = "d0ctl resume prod:held\n", "d0ctl release prod:held\n"

    assert resume in d0ctl("status", "prod").stdout
    assert d0ctl("resume", "prod").stderr.endswith(f"\n{resume}")
    assert d0ctl("retry", "prod:held").stderr.endswith(resume)
    refused = " ".join(d0ctl("release", "prod").stderr.split())
    assert "4 packages are paused: `d0ctl resume 'prod:held'`" in refused

    d0ctl("hold", "prod/1/3/1")
    assert release in d0ctl("status", "prod").stdout
    assert d0ctl("resume", "prod").stderr.endswith(f"\n{resume}")
    assert d0ctl("retry", "prod:held").stderr.endswith(release)


@pytest.mark.parametrize(("stop", "back"), [("pause", "resume"), ("hold", "release")])
def test_wait_names_what_undoes_the_stop_of_packages(
    stop: str, back: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl(stop, "prod/*")

    assert d0ctl("wait", "prod").stderr.endswith(f"d0ctl {back} prod:held\n")


@pytest.mark.parametrize(("part", "resume"), [("prod", "prod"), ("prod/1/1/1", "prod/1/1/1")])
def test_a_package_that_was_asked_to_pause_before_it_began_counts_as_stopped(
    site: Site, d0ctl: Type, part: str, resume: str
) -> None:
    site.submit(production(lines=1))
    site.send("prod/1/1/1")
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    d0ctl("pause", part, "--running")

    why = d0ctl("why", "prod/1/1/1").stdout
    assert "- it was asked to pause, so it does not begin before it is resumed\n" in why
    assert f"$ d0ctl resume {resume}\n" in why
    assert "d0ctl logs" not in why
    assert "moving" not in d0ctl("status", "-q").stdout
    assert re.search("attempts\n *1  starting ", d0ctl("status", "prod/1/1/1").stdout)
    if part == "prod":
        assert "`prod` is paused" in d0ctl("wait", "prod", "--timeout", "1s").stdout


@pytest.mark.parametrize("part", ["prod", "prod/1"])
def test_a_pause_tells_packages_that_it_suspends_from_queued_ones_that_nodes_give_back(
    site: Site, d0ctl: Type, part: str
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    site.send("prod/1/2/1")

    plan = d0ctl("pause", part, "--running", "--dry-run").stdout
    done = d0ctl("pause", part, "--running").stdout

    assert "1 package queued on a node would be given back, unless it has begun by then\n" in plan
    if part == "prod":
        assert "; 1 running package would be suspended\n" in plan
    assert "is being suspended\n1 package queued on a node is given back, unless it has" in done
