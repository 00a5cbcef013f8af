"""The ends of jobs in `history`: as they were, whatever happened to the jobs since."""

import time

from d0ctl.store.nodes import placement
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.rows import change
from tests.support.site import Site


def test_the_history_of_all_has_the_ends_of_jobs(site: Site, d0ctl: Type) -> None:
    now = time.time()
    site.submit(production("early"))
    site.submit(production())
    d0ctl("kill", "early")
    site.fail("prod/1/1/1")
    change(site.store, "job", {"name": "early"}, ended=None)
    assert "ends of jobs" not in d0ctl("history").stdout
    change(site.store, "job", {"name": "early"}, ended=now - 7300)
    change(site.store, "job", {"name": "prod"}, ended=now)

    page = " ".join(d0ctl("history").stdout.split())
    ends = document(d0ctl("history", "--since", "2h", "--json").stdout)["jobs"]

    assert page.index("early canceled 8 pack") < page.index(
        "prod failed 8 packages did not succeed"
    )
    assert [(end["job"], end["status"], end["left"]) for end in ends] == [("prod", "failed", 8)]
    assert document(d0ctl("history", "--node", "localhost", "--json").stdout)["jobs"] == []


def test_an_end_stays_as_it_was_when_packages_are_dropped_or_the_job_goes_on(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    change(site.store, "job", ended=time.time())
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")
    assert "prod failed 8 packages did not succeed " in " ".join(d0ctl("history").stdout.split())

    change(site.store, "job", ended=None)
    for package in ("1/2/1", "1/2/2", "1/3/1", "1/3/2", "2/1/1", "3/1/1"):
        site.finish(f"prod/{package}")
    change(site.store, "job", ended=time.time())

    page = " ".join(d0ctl("history").stdout.split())
    first, second = page.index("prod failed 8 "), page.index("prod successful without 1 dropped")
    assert first < second
    ends = document(d0ctl("history", "prod", "--json").stdout)["ends"]
    assert [(end["status"], end["left"], end["failed"], end["dropped"]) for end in ends] == [
        ("successful", 0, 0, 1), ("failed", 8, 1, 0),
    ]  # fmt: skip
    drawn = d0ctl("history", "prod").stdout.partition("\nends of the job\n")[2].splitlines()
    assert [line.split(maxsplit=1)[1] for line in drawn] == [
        "failed      8 packages did not succeed", "successful  without 1 dropped line",
    ]  # fmt: skip


def test_a_job_that_only_a_kill_has_blocked_is_not_called_failed(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    d0ctl("kill", "prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())

    assert "prod blocked 4 packages did not succeed" in " ".join(d0ctl("history").stdout.split())
    assert document(d0ctl("history", "--json").stdout)["jobs"][0]["status"] == "failed"
