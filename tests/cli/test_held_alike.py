"""Jobs that d0ctl holds because their packages failed alike, and the retry that is suggested."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from d0ctl.show.why.stopped_job import RETRY_RELEASES
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


def hold_for_alike_failures(site: Site, reason: str = "exit-code", **limits: Any) -> None:
    """Fail three packages of `prod` alike, so that d0ctl holds it."""
    lines = [line(package(f"x{n}", **limits)) for n in range(1, 6)]
    site.submit(job(("a", lines), max_alike_failures=3))
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1", reason=reason)


@pytest.mark.parametrize("asked", ["why prod", "status prod"])
def test_a_job_held_for_similar_failures_reports_the_hold_before_the_missing_daemon(
    site: Site, d0ctl: Type, asked: str
) -> None:
    hold_for_alike_failures(site)

    answer = d0ctl(*asked.split()).stdout

    hold = answer.index("nothing of job `prod` starts: job `prod` has been held by d0ctl")
    assert ("stands still" in answer, RETRY_RELEASES in answer) == (False, True)
    assert "no daemon is running" in answer[hold:] or asked == "status prod"


def test_a_drop_in_such_a_job_says_that_nothing_starts_until_its_release(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=4, max_alike_failures=3))
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1")
    drop = ("kill-line", "prod/1/1-3", "--drop-outputs")
    stopped = "job `prod` is held: nothing starts until `d0ctl release prod`\n"

    planned = d0ctl(*drop, "--dry-run").stdout
    done = d0ctl(*drop).stdout
    answer = d0ctl("why", "prod").stdout

    assert stopped in planned
    assert stopped in done
    assert RETRY_RELEASES not in answer
    assert "$ d0ctl release prod\n" in answer
    d0ctl("release", "prod")
    assert stopped not in d0ctl("restore-line", "prod/1/1").stdout


@pytest.mark.parametrize(
    ("reason", "limits"),
    [("exit-code", {}), ("out-of-memory", {"memory": 300_000_000})],
)
def test_a_job_held_for_alike_failures_suggests_a_retry_before_a_release(
    site: Site, d0ctl: Type, reason: str, limits: dict[str, Any]
) -> None:
    hold_for_alike_failures(site, reason, **limits)

    commands = document(d0ctl("why", "prod", "--json").stdout)["commands"]

    assert commands[0].startswith(f"d0ctl retry 'prod:failed' --failed-for {reason}")
    assert [text for text in commands if text.startswith("d0ctl retry")] == commands[:1]
    assert "d0ctl release prod" in commands[1:]
    said = d0ctl(*shlex.split(commands[0])[1:])
    assert said.stdout.splitlines()[0].startswith("retried 3 packages of `prod:failed`")
    assert said.stdout.splitlines()[0].endswith(", and released the job")
    assert document(d0ctl("status", "prod", "--json").stdout)["held"] is None
    assert "job `prod` is not held, so it" in d0ctl("release", "prod").stderr


def test_the_list_of_jobs_begins_with_a_job_that_d0ctl_holds(site: Site, d0ctl: Type) -> None:
    hold_for_alike_failures(site)

    said = d0ctl("status").stdout

    assert "`prod` is held by d0ctl: 3 packages of `prod/1` failed alike" in said
    assert said.index("held by d0ctl") < said.index("3 failed")


def test_a_wait_for_a_job_held_for_alike_failures_says_why_and_names_no_release(
    site: Site, d0ctl: Type
) -> None:
    hold_for_alike_failures(site)

    said = d0ctl("wait", "prod")

    assert (said.exit_code, said.stdout, said.stderr) == (
        1,
        "`prod` is held by d0ctl: "
        "3 packages of `prod/1` failed alike (exit-code), and none had succeeded by then\n",
        "d0ctl why prod\n",
    )


def test_a_file_of_a_job_held_for_alike_failures_advises_the_retry_of_the_failed_makers(
    site: Site, d0ctl: Type
) -> None:
    makers = [line(package(f"f{n}")) for n in range(1, 6)]
    merge = [line(package("all", needs=[f"f{n}" for n in range(1, 6)]))]
    site.submit(job(("a", makers), ("b", merge), max_alike_failures=3))
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1", reason="exit-code")

    answers = [document(d0ctl("why", asked, "--json").stdout) for asked in ("prod:all", "prod:f5")]

    for answer in answers:
        assert answer["commands"][:2] == ["d0ctl why prod", "d0ctl retry 'prod:failed'"]
        assert not [text for text in answer["commands"] if text.startswith("d0ctl release")]
    assert "once their cause is fixed" in " ".join(answers[0]["facts"])


def test_no_plain_retry_that_is_refused_is_suggested_for_a_job_that_d0ctl_holds(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package(f"x{n}", memory=300_000_000)) for n in (1, 2)]),
                    max_failures=1))  # fmt: skip
    site.fail("prod/1/1/1", reason="out-of-memory", rss=403_000_000)

    commands = document(d0ctl("why", "prod/1/2/1", "--json").stdout)["commands"]

    assert d0ctl("retry", "prod:failed").exit_code == 4
    assert commands == ["d0ctl why prod"]


def test_a_retry_in_a_job_that_a_person_holds_says_so_once(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    site.fail("prod/1/1/1")
    d0ctl("hold", "prod")

    said = d0ctl("retry", "prod/1/1/1").output

    assert (said.count("d0ctl release prod"), said.count("is held")) == (1, 1)


ALIKE = """\
job: prod
max-alike-failures: 3
stages:
  - name: a
    lines:
      - {for: {n: [1, 2, 3, 4, 5]}, run: "./x {n}", inputs: x, outputs: "x{n}"}
"""


def test_what_goes_on_after_ahold_for_alike_failures_names_a_changed_job_file_and_the_retry(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "prod.yaml"
    path.write_text(ALIKE)
    (tmp_path / "x").write_text("#!/bin/sh\n")
    assert d0ctl("submit", str(path)).exit_code == 0
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1", reason="exit-code")
    path.write_text(ALIKE.replace("./x {n}", "./x -v {n}"))

    released = d0ctl("release", "prod", "--dry-run").stdout
    updated = d0ctl("update", "prod")

    assert "the job file of `prod` was changed since, and a release runs the job as" in released
    assert "d0ctl retry 'prod:failed'" in updated.stdout
    assert "a retry of the failed packages releases the job, too" in updated.stderr
    assert "d0ctl release" not in updated.output
    assert "was changed since" not in d0ctl("release", "prod").stdout
