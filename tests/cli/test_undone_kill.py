"""The retry that undoes a kill: before all packages ended, of what was held, of files kept."""

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.support.building import production
from tests.support.rows import read
from tests.support.site import Site


def test_a_retry_of_canceled_packages_says_how_many_are_still_being_killed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("kill", "prod", "--partial")

    first = d0ctl("retry", "prod:canceled").stdout
    site.fail("prod/1/2/1")
    of_failed = d0ctl("retry", "prod").stdout
    site.end("prod/1/1/1", "killed")
    again = d0ctl("retry", "prod:canceled").stdout

    assert ("1 package of `prod` is still being killed: when it has ended, "
            "`d0ctl retry 'prod:canceled'`") in first  # fmt: skip
    assert "being killed" not in of_failed + again
    assert again.startswith("retried package `prod/1/1/1`")


def test_a_kill_says_that_packages_run_on_without_a_daemon(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.launch(path)

    of_line = d0ctl("kill-line", "prod/1/1").stderr
    why = d0ctl("why", "prod/1/1/1").stdout
    drive(site)
    of_rest = d0ctl("kill", "prod").stderr

    runs_on = "no daemon is running, so these run on until it is started: `d0ctl daemon start`\n"
    assert of_line.endswith(runs_on) and runs_on not in of_rest
    assert "no daemon is running: it runs on until it is started" in why


def test_actions_on_jobs_by_a_pattern_say_that_no_daemon_is_running(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    site.fail("prod/1/2/1")
    commands = (["retry", "pro*:failed"], ["kill", "pro*", "-y"])

    said = [d0ctl(*command).stderr for command in commands]
    drive(site)

    assert [text.count("no daemon is running, so ") for text in said] == [1, 1]
    assert "no daemon" not in d0ctl("retry", "pro*:canceled").stderr


@pytest.mark.parametrize(
    "cancel", [("kill", "prod/1"), ("finish", "prod/1"), ("kill-line", "prod/1/1")]
)
def test_an_undo_does_not_hold_packages_again(
    site: Site, d0ctl: Type, cancel: tuple[str, str]
) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1/1")

    canceled = d0ctl(*cancel, "--yes")
    undo = canceled.stderr.removeprefix("to undo: d0ctl ").split()
    d0ctl(*undo)

    assert "1 package was held, and starts after an undo\n" in canceled.stdout
    assert site.phase("prod/1/1/1") == "ready"


def test_a_dropped_line_that_is_restored_is_still_held(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1/1")

    dropped = d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes")

    assert "was held" not in dropped.stdout


@pytest.mark.parametrize("stop", ["hold", "pause"])
def test_an_undo_of_a_finish_does_not_stop_the_job_again(
    site: Site, d0ctl: Type, stop: str
) -> None:
    site.submit(production())
    site.submit(production(name="free"))
    d0ctl(stop, "prod")

    of_one = d0ctl("finish", "prod", "--yes")
    d0ctl("retry", "prod:canceled")
    d0ctl(stop, "prod")
    of_both = d0ctl("finish", "prod", "free", "--yes")

    assert of_one.stdout.endswith("it was held or paused: after an undo, packages start\n")
    assert "1 of the jobs was held or paused: after an undo, packages start\n" in of_both.stdout
    assert "paused" not in d0ctl("status", "prod").stdout


@pytest.mark.parametrize("others", [("prod:failed",), ("prod/1/3",), ("prod/1/3/1",)])
@pytest.mark.parametrize("canceled", ["prod:canceled", "prod/1/2/1"])
def test_a_killed_package_runs_again_if_one_of_several_selectors_names_it(
    site: Site, d0ctl: Type, canceled: str, others: tuple[str]
) -> None:
    site.submit(production())
    d0ctl("kill", "prod/1/2/1")
    site.fail("prod/1/3/1")

    answer = d0ctl("retry", canceled, *others).stdout

    assert "canceled" not in answer.partition("unchanged")[2]
    assert site.phase("prod/1/2/1") == site.phase("prod/1/3/1") == "ready"


@pytest.mark.parametrize("words", ["kill prod/1/1-2", "kill-line prod/1/1 --drop-outputs"])
def test_the_undo_of_a_kill_waits_until_packages_have_ended(
    words: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    killed = d0ctl(*words.split(), "--yes").stderr

    assert "to undo once it has ended: d0ctl re" in killed
    assert "to undo: d0ctl retry" in d0ctl("kill", "prod/1/3", "--yes").stderr


def test_what_reads_partial_files_waits_until_these_are_made_again(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    attempt = site.launch("prod/1/1/2")
    d0ctl("finish", "prod", "--hard", "--partial")
    kept = {"name": "sim-1", "path": f"/tmp/base/cache/{attempt}/sim-1", "size": 10}
    site.end("prod/1/1/2", "killed", reason="killed", partial=True,
             outputs=[kept | {"checksum": "sha256:00"}])  # fmt: skip

    result = d0ctl("retry", "prod:canceled")

    assert "1 partial file that was kept is made again\n" in result.stdout
    assert (site.phase("prod/1/1/2"), site.phase("prod/2/1/1")) == ("ready", "waiting")
    assert read(site.store, "purge", "path") == [(kept["path"],)]
    assert faults(site.store) == []
    site.finish("prod/1/1/2")
    assert site.phase("prod/2/1/1") == "ready"
