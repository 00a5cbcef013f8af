"""A pause that ends by itself."""

import time
from datetime import datetime, timedelta

import pytest

from d0ctl.actions import apply, request
from d0ctl.select import parse
from d0ctl.store import due_times
from d0ctl.store.jobs import pause
from d0ctl.store.nodes import leases, placement
from d0ctl.store.nodes.standstill import production
from d0ctl.store.views import browse
from d0ctl.units import moment
from d0ctl_wrapper.protocol.text import PAUSED
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_pause import say
from tests.support.building import document
from tests.support.building import production as made
from tests.support.rows import change
from tests.support.site import Site

HOUR = 3600.0


def resume_due(site: Site, at: float) -> list[str]:
    """What the daemon resumes at a time."""
    with site.store.writing():
        return pause.resume_due(site.store, now=at)


def test_a_pause_for_an_hour_ends_by_itself(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    site.up()
    drive(site)

    result = d0ctl("pause", "prod", "--for", "1h", "--reason", "disk check")

    assert result.stdout == "paused job `prod`\nthe daemon resumes it in 1h\n"
    assert resume_due(site, time.time() + HOUR - 60) == []
    assert placement.requirements(site.store) == []
    assert resume_due(site, time.time() + HOUR) == ["prod"]
    assert len(placement.requirements(site.store)) == 1
    assert resume_due(site, time.time() + 2 * HOUR) == []
    history = d0ctl("history", "prod").stdout
    assert "disk check; --for 1h" in history
    assert "the time of its pause is over" in history


def test_the_advised_pause_of_queued_packages_ends_at_the_same_time(
    site: Site, d0ctl: Type
) -> None:
    site.submit(made())
    site.up()
    drive(site)
    site.send("prod/1/1/1")
    at = moment(time.time() + HOUR, time.time())[:5]

    paused = d0ctl("pause", "prod", "--until", at, "--reason", "first look").stdout

    advised = f"d0ctl pause prod --running --until {at}"
    assert f"`{advised}` prevents that, and suspends running ones\n" in paused
    assert f"the daemon resumes it at {at}" in d0ctl(*advised.split()[1:]).stdout
    (job,) = browse.jobs(site.store)
    assert (job.pause_until is not None, job.pause_note) == (True, "first look")


def test_a_pause_without_an_end_says_which_end_it_replaces(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    site.up()
    drive(site)
    d0ctl("pause", "prod", "--for", "1h")
    (job,) = browse.jobs(site.store)
    assert job.pause_until is not None
    end = f"`prod` at {moment(job.pause_until, time.time())}\n"

    planned = d0ctl("pause", "prod", "--running", "--dry-run").stdout
    done = d0ctl("pause", "prod", "--running").stdout

    assert f"the daemon would no longer resume {end}" in planned
    assert f"the daemon no longer resumes {end}" in done


def test_without_a_daemon_a_pause_lasts_until_one_runs(
    site: Site, d0ctl: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(made())
    site.submit(made("other"))

    planned = d0ctl("pause", "prod", "--for", "1h", "--dry-run").stdout
    done = d0ctl("pause", "prod", "other", "--for", "1h").stdout
    assert "no daemon is running: it would be resumed in 1h, or once one runs after" in planned
    assert done.endswith(
        "no daemon is running: they are resumed in 1h, or once one runs after that\n"
    )
    due = time.time() - 5
    change(site.store, "job", {}, pause_until=due)

    when = moment(due, time.time())
    for words in (("why", "prod"), ("why", "prod/1/1/1"), ("status", "prod")):
        said = " ".join(d0ctl(*words).stdout.split())
        assert f"until a daemon resumes it (due since {when})" in said
    monkeypatch.setenv("COLUMNS", "120")
    assert f"due since {when}" in d0ctl("status").stdout


def test_another_end_of_a_pause_offers_no_undo_that_would_end_it(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    drive(site)
    d0ctl("pause", "prod")

    result = d0ctl("pause", "prod", "--for", "1h")

    assert "the daemon resumes it in 1h" in result.stdout
    assert "to undo" not in result.stderr + d0ctl("history", "prod").stdout


def test_a_pause_until_a_time_of_day_ends_when_it_is_next_that_time(
    site: Site, d0ctl: Type
) -> None:
    site.submit(made())
    drive(site)
    before = datetime.now()
    clock = before - timedelta(minutes=5)

    result = d0ctl("pause", "prod", "--until", f"{clock:%H:%M}")

    until = datetime.fromtimestamp(browse.job(site.store, "prod").pause_until or 0.0)
    shown = moment(until.timestamp(), before.timestamp())
    assert f"the daemon resumes it at {shown}\n" in result.stdout
    assert (until.hour, until.minute, until.second) == (clock.hour, clock.minute, 0)
    assert before < until < before + timedelta(days=1)


@pytest.mark.parametrize(
    ("words", "fault"),
    [(["--until", "25:00"], "`25:00` is not a time of day such as `21:30`"),
     (["--until", "9:00", "--for", "1h"], "give `--for` or `--until`, not both")],
    ids=["no-time", "both"],
)  # fmt: skip
def test_the_end_of_a_pause_is_one_time(
    site: Site, d0ctl: Type, words: list[str], fault: str
) -> None:
    site.submit(made())

    refused = d0ctl("pause", "prod", *words)

    assert refused.exit_code == 2
    assert fault in refused.stderr


def test_the_line_for_scripts_says_that_a_job_is_paused_for_a_time(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    site.up()
    with site.store.writing():
        leases.take_lease(site.store, leases.LEASE, now=time.time())
    d0ctl("pause", "prod", "--for", "1h")

    assert d0ctl("status", "-q", "prod").stdout.startswith("`prod` is paused")


def test_every_page_says_until_when_a_job_is_paused(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    site.up()
    d0ctl("pause", "prod", "--for", "1h")
    until = browse.job(site.store, "prod").pause_until
    assert until is not None
    text = f" until {moment(until, time.time())}"

    assert text in d0ctl("status", "prod").stdout
    assert text in d0ctl("status").stdout
    assert text in d0ctl("why", "prod/1/1/1").stdout
    assert document(d0ctl("status", "prod", "--json").stdout)["pause"]["until"] is not None


def test_the_undo_of_an_early_resume_keeps_the_end(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    d0ctl("pause", "prod", "--for", "1h")

    assert "to undo: d0ctl pause prod --for " in d0ctl("resume", "prod").output


@pytest.mark.parametrize(("waits", "undo"), [(600.0, "--until {clock}"), (2 * HOUR, "")])
def test_history_undoes_an_early_resume_only_until_the_end_of_the_pause(
    site: Site, d0ctl: Type, waits: float, undo: str
) -> None:
    site.submit(made())
    d0ctl("pause", "prod", "--running", "--for", "1h")
    d0ctl("resume", "prod")
    resumed_at = time.time() - waits
    change(site.store, "action", {"verb": "resume"}, at=resumed_at,
           undo="d0ctl pause prod --running --for 1h")  # fmt: skip

    (resumed, *_) = document(d0ctl("history", "prod", "--json").stdout)["actions"]

    clock = datetime.fromtimestamp(resumed_at + HOUR + 59)  # the next full minute
    options = undo.format(clock=f"{clock:%H:%M}")
    assert resumed["undo"] == f"d0ctl pause prod --running {options}".strip()


def test_the_undo_of_a_pause_that_is_over_suspends_running_packages_again(
    site: Site, d0ctl: Type
) -> None:
    site.submit(made())
    d0ctl("pause", "prod", "--running", "--for", "1h")

    resume_due(site, time.time() + HOUR)

    (resumed, *_) = document(d0ctl("history", "prod", "--json").stdout)["actions"]
    assert resumed["undo"] == "d0ctl pause prod --running"


def test_a_later_pause_replaces_one_with_an_end(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    d0ctl("pause", "prod")
    d0ctl("pause", "prod", "--for", "2h")
    assert d0ctl("pause", "prod", "--for", "1h").exit_code == 0
    assert resume_due(site, time.time() + HOUR + 1) == ["prod"]

    d0ctl("pause", "prod", "--for", "1h")
    assert d0ctl("pause", "prod").exit_code == 0

    assert resume_due(site, time.time() + 9 * HOUR) == []
    assert d0ctl("pause", "prod").exit_code == 4


def test_resume_ends_a_pause_before_its_time(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    d0ctl("pause", "prod", "--for", "1h")

    assert d0ctl("resume", "prod").exit_code == 0

    d0ctl("pause", "prod")
    assert resume_due(site, time.time() + 9 * HOUR) == []


def test_suspended_packages_continue_when_the_time_is_over(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    attempt = site.launch("prod/1/1/1")
    d0ctl("pause", "prod", "--running", "--for", "1h")
    say(site, attempt, "suspended", 2, PAUSED)

    resume_due(site, time.time() + HOUR)

    assert browse.package(site.store, parse("prod/1/1/1")).request == "resume"


def test_a_part_of_a_job_can_not_be_paused_for_a_time(site: Site, d0ctl: Type) -> None:
    site.submit(made())

    refused = d0ctl("pause", "prod/1/1", "--for", "1h")

    assert refused.exit_code == 2
    assert "`--for` pauses whole jobs, not a part such as `prod/1/1`" in refused.stderr
    assert refused.stderr.endswith("\nd0ctl pause prod --for 1h\n")


def test_a_job_that_is_resumed_by_itself_needs_nobody(site: Site) -> None:
    site.submit(made())
    site.up()
    now = time.time()
    with site.store.writing():
        leases.take_lease(site.store, leases.LEASE, now=now)
    apply(site.store, request("pause", parse("prod"), duration=HOUR), actor="me", note=None,
          now=now)  # fmt: skip

    (job,) = production(site.store, now=now).jobs

    assert not job.standing.is_settled


def test_a_pause_lasts_no_longer_because_the_clock_was_set_back(site: Site) -> None:
    site.submit(made())
    now = time.time()
    apply(site.store, request("pause", parse("prod"), duration=HOUR), actor="me", note=None,
          now=now)  # fmt: skip

    with site.store.writing():
        due_times.advance(site.store, HOUR, now=now - HOUR)

    assert browse.job(site.store, "prod").pause_until == pytest.approx(now)


def test_a_stage_whose_packages_are_suspended_is_not_said_to_run(site: Site, d0ctl: Type) -> None:
    site.submit(made())
    attempt = site.launch("prod/1/1/1")
    d0ctl("pause", "prod", "--running")
    assert "\n- 1 package is launched\n" in d0ctl("why", "prod/1").stdout

    say(site, attempt, "suspended", 2)

    assert "stage `prod/1` is suspended: 1 package is launched\n" in d0ctl("why", "prod/1").stdout
    assert "◫ suspended · 0 of" in d0ctl("status", "prod/1").stdout
    assert "▶ running" not in d0ctl("status", "prod/1").stdout
