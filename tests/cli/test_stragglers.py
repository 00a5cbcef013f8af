"""Packages that run much longer than expected are counted on every page, and have no end."""

import time

import pytest

from d0ctl.store.nodes import leases
from d0ctl.store.views import one_package
from d0ctl.units import moment
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.jobs import binary, job, package
from tests.support.rows import change, read
from tests.support.site import Site


@pytest.fixture
def late(site: Site) -> Site:
    """A job of which only two packages of a minute are left, which began an hour ago."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up(cpus=8)
    site.submit(job("hang", [package(binary(runtime=60.0)) for _ in range(3)]))
    site.finish("hang/1/3/1")
    for path in ("hang/1/1/1", "hang/1/2/1"):
        attempt = site.launch(path)
        with site.store.writing():
            change(site.store, "attempt", {"id": attempt}, started=time.time() - 3600.0)
    return site


def test_the_list_of_jobs_and_the_check_count_stragglers(
    late: Site, d0ctl: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    (row,) = [row for row in d0ctl("status").stdout.splitlines() if row.startswith("hang")]
    checked = d0ctl("status", "-q")

    assert "  2 stragglers" in row and "  late  " in row and "ends" not in row
    assert (checked.exit_code, checked.stdout) == (0, "moving: 1 job; 2 stragglers in `hang`\n")
    commands = document(d0ctl("status", "-q", "--json").stdout)["commands"]
    assert commands == ["d0ctl why hang"]


def test_the_line_about_a_job_counts_its_stragglers(late: Site, d0ctl: Type) -> None:
    checked = d0ctl("status", "hang", "-q")

    assert checked.exit_code == 0
    assert checked.stdout.startswith("`hang` is running: ")
    assert checked.stdout.endswith(" done, 2 stragglers\n")


def test_a_straggler_has_one_state_on_all_pages(late: Site, d0ctl: Type) -> None:
    for selector in ("hang", "hang/1", "hang/1/1", "hang/1/1/1", "hang/1/1/1/1", "hang/*:running"):
        page = d0ctl("status", selector).stdout
        assert "straggler" in page, selector
    assert "◷ straggler on localhost" in d0ctl("status", "hang/1/1/1").stdout


def test_stragglers_of_a_stage_or_line_are_named_and_counted(late: Site, d0ctl: Type) -> None:
    named = {
        path: [row for row in d0ctl("why", path).stdout.splitlines() if "straggler: " in row]
        for path in ("hang", "hang/1", "hang/1/1", "hang/1/3")
    }
    job, stage = (d0ctl("status", path).stdout.splitlines() for path in ("hang", "hang/1"))
    lines = stage[stage.index("lines") + 1 :]

    assert [len(rows) for rows in named.values()] == [2, 2, 1, 0]
    assert "`hang/1/1/1` has been running on `localhost`" in named["hang/1/1"][0]
    assert "d0ctl why hang/1/1/1" in d0ctl("why", "hang/1").stdout
    assert (
        sum("2 stragglers" in row for row in job) == sum("2 stragglers" in row for row in stage) + 1
    )
    assert ["1 straggler" in row for row in lines[:3]] == [True, True, False]


def test_a_job_of_which_only_stragglers_are_left_has_no_end(late: Site, d0ctl: Type) -> None:
    for selector in ("hang", "hang/1"):
        page = d0ctl("status", selector).stdout
        assert " · late" in page and "ends" not in page, selector

    assert d0ctl("eta", "hang").stdout.startswith("hang  late: 2 stragglers")
    assert document(d0ctl("status", "hang", "--json").stdout)["estimated_end"] is None
    assert document(d0ctl("eta", "hang", "--json").stdout)["end"] is None


def test_a_job_with_more_to_do_than_its_stragglers_has_an_end(late: Site, d0ctl: Type) -> None:
    late.submit(job("more", [package(binary(runtime=6000.0)) for _ in range(9)]))
    attempt = late.launch("more/1/1/1")
    with late.store.writing():
        change(late.store, "attempt", {"id": attempt}, started=time.time() - 360_000.0)

    page = d0ctl("status", "more").stdout

    assert "straggler" in page and " · ends about " in page


def test_a_package_has_been_running_since_its_start(late: Site, d0ctl: Type) -> None:
    (attempt,) = one_package.attempts(late.store, late.id_of("hang/1/1/1"))
    assert attempt.started is not None

    for path in ("hang/1/1/1", "hang/1/1/1/1"):
        page = d0ctl("status", path).stdout
        (state,) = [row for row in page.splitlines() if "straggler on localhost" in row]
        assert state.endswith(f"  since {moment(attempt.started, time.time())}"), path


def test_another_priority_leaves_packages_their_expected_run_times(site: Site, d0ctl: Type) -> None:
    site.up(cpus=8)
    site.submit(job("mixed", [package(binary(runtime=time_s)) for time_s in (20.0, 6000.0)]))
    attempt = site.launch("mixed/1/2/1")
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, started=time.time() - 600.0,
               expected=None, expected_high=None)  # fmt: skip
    assert "straggler" not in d0ctl("status", "mixed").stdout

    assert d0ctl("priority", "mixed/1", "80").exit_code == 0

    assert "straggler" not in d0ctl("status", "mixed").stdout
    rows = read(site.store, "requirement", "seconds", priority=80)
    assert sorted(rows) == [(20.0,), (6000.0,)]
