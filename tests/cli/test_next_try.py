"""A job of which nothing can move before another try is trouble, with the time of that try."""

import json
import re
import time
from typing import Any

import pytest

from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.store.failing import say
from tests.support.building import job, line, package
from tests.support.rows import change
from tests.support.site import Site


@pytest.fixture
def site(site: Site) -> Site:
    """A site with a driver and two jobs; the inputs of `late` are fetched from outside."""
    drive(site)
    site.up()
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2, 3)]), name="late"))
    site.submit(job(("a", [line(package("y"))]), name="fine"))
    site.launch("fine/1/1/1")
    return site


def never_comes(site: Site, *lines: int, **more: Any) -> None:
    """The inputs of packages of `late` are not there yet."""
    for seq in lines:
        site.fail(f"late/1/{seq}/1", reason="stage-in", detail="no such file: raw.dat", **more)


def test_status_names_the_next_try_and_its_reason(site: Site, d0ctl: Type) -> None:
    never_comes(site, 1, 2, 3)

    page = d0ctl("status").stdout

    page = " ".join(page.split())
    when = (
        r"`late`: nothing moves until (\d+ \w+ )?\S+, the next try of `late/1/1/1` \(1 of \d+\), "
    )
    assert re.search(rf"{when}after stage-in: no such file: raw\.dat; ", page)
    assert "2 more packages wait for other tries" in page
    assert re.search(r"\blate \S+ stands still", page)
    assert "d0ctl why late" in page


def test_why_of_the_job_says_so_first_and_how_to_try_at_once(site: Site, d0ctl: Type) -> None:
    never_comes(site, 1, 2, 3)

    answer = d0ctl("why", "late").stdout

    assert answer.startswith("job `late` stands still: nothing moves until ")
    assert "d0ctl retry late:cooloff" in answer and "retry late/1/1/1" not in answer


def test_a_check_counts_it_as_failures_not_as_a_standstill(site: Site, d0ctl: Type) -> None:
    never_comes(site, 1, 2, 3)

    beside = d0ctl("status", "-q")
    of_job = d0ctl("status", "late", "-q")
    site.end("fine/1/1/1")
    alone = d0ctl("status", "--check", "--json")

    assert beside.exit_code == 1
    assert "nothing moves until" in beside.stdout
    assert of_job.exit_code == 1
    assert "and stands still" in of_job.stdout
    answer = json.loads(alone.stdout)
    assert (alone.exit_code, answer["state"], answer["cause"]) == (1, "failures", None)
    assert answer["stopped"] == {"late": "next-try"}


def test_a_job_whose_package_cools_off_for_some_seconds_does_not_stand_still(
    site: Site, d0ctl: Type
) -> None:
    say(site.store, stage_in={"tries": 3, "delay": [20.0]})
    never_comes(site, 1, 2, 3)

    page = d0ctl("status").stdout
    of_parts = [d0ctl("status", part, "-q") for part in ("late", "late/1", "late/1/1/1")]
    why = d0ctl("why", "late").stdout
    alone = d0ctl("status", "--check", "--json")

    assert "stands still" not in page + why + "".join(part.stdout for part in of_parts)
    text = "`late`: the next try of `late/1/1/1` is at "
    assert text in page and text in why and "nothing moves" not in page + why
    assert [part.exit_code for part in of_parts] == [0, 0, 0]
    assert (alone.exit_code, json.loads(alone.stdout)["stopped"]) == (0, {})


def test_one_package_that_cools_off_while_others_move_is_no_trouble(
    site: Site, d0ctl: Type
) -> None:
    never_comes(site, 1, 2)
    assert "nothing moves" not in d0ctl("status").stdout

    site.launch("late/1/3/1")

    assert "nothing moves" not in d0ctl("status").stdout
    assert d0ctl("status", "-q").exit_code == 0


def test_a_release_by_the_policy_counts_as_a_try(site: Site, d0ctl: Type) -> None:
    say(site.store, stage_in={"tries": 0, "hold": True, "release": 3600.0})
    never_comes(site, 1, 2, 3)

    page = d0ctl("status").stdout

    text = "when the policy releases `late/1/1/1`: stage-in: no such file: raw.dat; 2 more"
    assert text in " ".join(page.split())


def test_a_job_held_by_a_person_is_only_held(site: Site, d0ctl: Type) -> None:
    never_comes(site, 1, 2, 3)

    d0ctl("hold", "late")

    page = d0ctl("status").stdout
    assert "nothing moves" not in page
    assert "held" in page


def test_the_earliest_try_is_named(site: Site, d0ctl: Type) -> None:
    never_comes(site, 1, 2)
    package = {"id": site.id_of("late/1/2/1")}
    change(site.store, "package", package, not_before=time.time() + 60)
    never_comes(site, 3)

    assert "the next try of `late/1/2/1` (1 of" in " ".join(d0ctl("status").stdout.split())


def test_a_part_that_waits_for_something_else_says_so_and_names_no_next_try(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x"))]), name="src"))
    lines = [line(package("c")), line(package("d", needs=["src:x"]))]
    site.submit(job(("use", lines), ("after", [line(package("e", needs=["d"]))]), name="mix"))
    site.fail("src/1/1/1")
    site.fail("mix/1/1/1", reason="stage-in", detail="no such file: raw.dat")

    of_job, of_line, after, cools = (
        d0ctl("why", path).stdout for path in ("mix", "mix/1/2", "mix/2", "mix/1/1")
    )

    assert "nothing moves until" in of_job.partition("\n")[0]
    assert "`mix/1/2/1` waits for file `x` of `src/1/1/1`, which is failed" in of_job
    assert "waits for file `x` of `src/1/1/1`" in of_line.partition("\n")[0]
    assert "waits for file `d` of `mix/1/2/1`" in after.partition("\n")[0]
    assert "mix/1/1/1" not in of_line + after
    assert "d0ctl retry mix/1/1/1" in cools


def test_a_part_whose_packages_fit_is_not_said_to_fit_nowhere(site: Site, d0ctl: Type) -> None:
    lines = [line(package("c", cpus=64)), line(package("d"))]
    site.submit(job(("use", lines), name="mix"))

    assert "no node can take 1 package" in d0ctl("why", "mix/1/1").stdout
    assert "no node can take" not in d0ctl("why", "mix/1/2").stdout
