"""Retries that are suggested after a failure, and those that are not."""

import shlex
import time
from typing import Any

import pytest

from d0ctl.store.nodes import contact
from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.building import job, line, package, production
from tests.support.rows import change
from tests.support.site import Site


def test_a_larger_memory_size_is_suggested_after_out_of_memory(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", memory=300_000_000))])))
    site.fail("prod/1/1/1", reason="out-of-memory", rss=403_000_000)

    answer = suggested(d0ctl, "why", "prod/1/1/1")

    assert "d0ctl retry prod/1/1/1 --memory 700MB" in answer
    assert "its peak was 403 MB of memory" in d0ctl("why", "prod/1/1/1").stdout
    assert "peak 403 MB" in d0ctl("status", "prod/1/1/1").stdout


def test_when_no_node_has_more_memory_no_retry_is_suggested(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", memory=8 << 30))])))
    site.fail("prod/1/1/1", reason="out-of-memory", rss=8 << 30)

    answer = suggested(d0ctl, "why", "prod/1/1/1")

    assert not [command for command in answer if command.startswith("d0ctl retry")]
    assert "no node can take it with more" in d0ctl("why", "prod/1/1/1").stdout


@pytest.mark.parametrize(
    ("reason", "limit", "option"),
    [("wall-time", {"wall_time": 2.0}, "--wall-time 4s"),
     ("disk-full", {"disk": 5_000_000}, "--disk 8MB")],
)  # fmt: skip
def test_a_higher_limit_is_suggested_after_a_limit_was_reached(
    site: Site, d0ctl: Type, reason: str, limit: dict[str, Any], option: str
) -> None:
    site.submit(job(("a", [line(package("x", **limit))])))
    for _ in range(5):
        if site.phase("prod/1/1/1") != "failed":
            with site.store.writing():
                change(site.store, "package", {"phase": "cooloff"}, phase="ready")
            site.fail("prod/1/1/1", reason=reason)

    assert f"d0ctl retry prod/1/1/1 {option}" in suggested(d0ctl, "why", "prod/1/1/1")


def test_the_time_that_is_suggested_is_more_than_the_last_attempt_took(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x", wall_time=240.0))])))
    site.fail("prod/1/1/1", reason="wall-time")
    with site.store.writing():
        change(site.store, "attempt", started=1000.0, ended=1240.5)
        change(site.store, "package", wall_time=120.0)  # as an update of the job file does

    assert "d0ctl retry prod/1/1/1 --wall-time 8m" in suggested(d0ctl, "why", "prod/1/1/1")


def test_the_disk_that_is_suggested_is_more_than_the_files_took(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", disk=20_000_000))])))
    took = {"binary": 1, "started": 1.0, "ended": 2.0, "exit_code": None, "signal": 9, "cpu": 1.0,
            "rss": 1, "gap": 1.0, "disk": 60_000_000}  # fmt: skip
    site.fail("prod/1/1/1", reason="disk-full", exit_code=None, binaries=[took])

    assert "d0ctl retry prod/1/1/1 --disk 90MB" in suggested(d0ctl, "why", "prod/1/1/1")


def test_no_plain_retry_is_suggested_after_a_broken_pipe(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.fail("prod/1/1/1", reason="signal", exit_code=None)
    with site.store.writing():
        change(site.store, "attempt", signal=13)

    answer = d0ctl("why", "prod/1/1/1").stdout

    assert "a pipe whose reader had ended, such as `head`" in answer
    assert "a plain retry may fail again: fix the cause" in answer
    assert "  $ d0ctl retry" not in answer


@pytest.mark.parametrize(
    "reason",
    ["exit-code", "missing-output", "verification", "looping", "seg-fault", "log-message",
     "site:bad-field"],
)  # fmt: skip
def test_no_plain_retry_is_suggested_for_packages_that_would_fail_again(
    site: Site, d0ctl: Type, reason: str
) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2)])))
    site.fail("prod/1/1/1", reason=reason)
    site.fail("prod/1/2/1", reason=reason)

    for asked in (["why", "prod/1/1/1"], ["why", "prod"], ["status", "prod"]):
        answer = d0ctl(*asked).stdout
        listed = [text for text in answer.splitlines() if text.startswith("  d0ctl retry")]
        assert listed == []
        assert "tries: 3" not in answer
    assert f"`d0ctl retry 'prod:failed' --failed-for {reason}`" in d0ctl("why", "prod").stdout


def test_one_command_retries_all_packages_with_similar_failures(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x{n}", memory=300_000_000)) for n in (1, 2, 3)])))
    for number, used in ((1, 403_000_000), (2, 310_000_000)):
        site.fail(f"prod/1/{number}/1", reason="out-of-memory", rss=used)

    command = "d0ctl retry 'prod:failed' --failed-for out-of-memory --memory 700MB"

    assert command in suggested(d0ctl, "why", "prod")
    assert command in suggested(d0ctl, "status", "prod")
    assert "would retry 2 packages" in d0ctl(*shlex.split(command)[1:], "--dry-run").stdout


def test_a_retry_in_a_job_that_is_not_held_mentions_no_release(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.fail("prod/1/1/1")

    said = d0ctl("retry", "prod/1/1/1")

    assert said.stdout.splitlines()[0] == "retried package `prod/1/1/1`"


@pytest.mark.parametrize(
    ("words", "is_held"), [("retry prod/1/1/1", False), ("release prod", True)]
)
def test_run_is_suggested_when_no_daemon_is_running(
    site: Site, d0ctl: Type, words: str, is_held: bool
) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    site.fail("prod/1/1/1")
    if is_held:
        assert d0ctl("hold", "prod").exit_code == 0

    said = d0ctl(*words.split()).stderr

    assert "`d0ctl daemon start`, or `d0ctl run prod`" in said


@pytest.mark.parametrize("asked", ["why prod/1/1/1", "why prod"])
def test_a_corrected_job_file_is_suggested_after_a_missing_output(
    site: Site, d0ctl: Type, asked: str
) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    site.fail("prod/1/1/1", reason="missing-output")
    site.fail("prod/1/2/1", reason="missing-output")

    answer = d0ctl(*asked.split()).stdout

    assert "a retry runs the job as it was submitted: if the job file is wrong" in answer
    assert "`d0ctl run FILE --as NAME`, or remove the job and run it again" in answer


def test_a_retry_of_what_has_succeeded_names_the_command_that_does_it(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")

    refused = d0ctl("retry", "prod/1/1/1")

    assert refused.exit_code == 4
    assert "`d0ctl set-status prod/1/1/1 unscheduled` runs it again" in refused.stderr


@pytest.mark.parametrize("reason", ["missing-output", "site:beam"])
def test_a_reason_of_failures_as_the_comment_of_a_retry_is_refused_with_the_filter(
    site: Site, d0ctl: Type, reason: str
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="exit-code")

    refused = d0ctl("retry", "prod:failed", "--reason", reason)

    assert (refused.exit_code, f"--failed-for {reason} selects" in refused.stderr) == (2, True)
    assert d0ctl("retry", "prod:failed", "--reason", f"{reason} is fixed").exit_code == 0


CERTAIN, PERHAPS = "a plain retry would most likely fail again", "a plain retry may fail again"


def lines(number: int) -> Any:
    """A job of as many lines of one package."""
    return job(("a", [line(package(f"x{at}")) for at in range(number)]))


def answers(d0ctl: Type, *targets: str) -> list[str]:
    """What `why` answers, without line breaks."""
    return [" ".join(d0ctl("why", target).stdout.split()) for target in targets]


def test_a_first_failure_may_be_an_accident_and_a_second_alike_is_none(
    site: Site, d0ctl: Type
) -> None:
    site.submit(lines(1))
    said: list[str] = []
    for exit_code in (1, 7, 1):
        site.fail("prod/1/1/1", exit_code=exit_code)
        said += answers(d0ctl, "prod/1/1/1")
        d0ctl("retry", "prod/1/1/1")

    assert [PERHAPS in text for text in said] == [True, True, False]
    assert [CERTAIN in text for text in said] == [False, False, True]


def test_a_failure_that_a_program_calls_temporary_is_not_said_to_come_again(
    site: Site, d0ctl: Type
) -> None:
    site.submit(lines(1))
    for _ in range(2):
        site.fail("prod/1/1/1", exit_code=75)
        said = answers(d0ctl, "prod/1/1/1")
        d0ctl("retry", "prod/1/1/1")

    assert [CERTAIN in text or PERHAPS in text for text in said] == [False]


def test_failures_of_several_packages_are_no_accident_until_a_package_succeeds(
    site: Site, d0ctl: Type
) -> None:
    site.submit(lines(5))
    for at in (1, 2, 3):
        site.fail(f"prod/1/{at}/1", exit_code=1)
    several = answers(d0ctl, "prod", "prod/1/3/1")
    site.fail("prod/1/4/1", exit_code=5)
    others = answers(d0ctl, "prod/1/4/1")
    site.finish("prod/1/5/1")
    after = answers(d0ctl, "prod", "prod/1/3/1")

    assert [CERTAIN in text for text in (*several, *others, *after)] == [True, True, *[False] * 3]
    assert all(PERHAPS in text for text in (*others, *after))


def test_of_several_failures_nothing_surer_is_said_than_of_each(site: Site, d0ctl: Type) -> None:
    site.submit(lines(3))
    site.finish("prod/1/3/1")
    site.fail("prod/1/2/1", exit_code=12)
    site.fail("prod/1/1/1", exit_code=3)
    d0ctl("retry", "prod/1/1/1")
    site.fail("prod/1/1/1", exit_code=3)

    both, twice, once = answers(d0ctl, "prod", "prod/1/1/1", "prod/1/2/1")

    assert [CERTAIN in text for text in (both, twice, once)] == [False, True, False]
    assert PERHAPS in both and PERHAPS in once


def test_a_package_that_waits_after_a_full_disk_says_when_there_is_room(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.up(disk_free=2_000_000, disk_total=64_000_000)
    site.launch("prod/1/1/1")
    took = {"binary": 1, "started": 1.0, "ended": 2.0, "exit_code": 1, "signal": None, "cpu": 1.0,
            "rss": 1, "gap": 1.0, "disk": 10_000_000}  # fmt: skip
    site.end("prod/1/1/1", "failed", reason="disk-full", detail="full", binaries=[took])
    contact.note_free_disk(site.store, 1, 53_200_000, now=time.time())  # before the disk was full
    full = d0ctl("why", "prod/1/1/1").stdout
    change(site.store, "attempt", ended=time.time() - 100)
    contact.note_free_disk(site.store, 1, 12_000_000, now=time.time())  # what it had taken itself
    full += d0ctl("why", "prod/1/1/1").stdout

    contact.note_free_disk(site.store, 1, 53_200_000, now=time.time())

    text = "`localhost` has room for 50 MB now: `retry` does not wait until then"
    assert "cooling off" in full and "has room" not in full
    assert text in d0ctl("why", "prod/1/1/1").stdout


def test_a_retry_names_the_dropped_lines_that_will_not_read_its_files(
    site: Site, d0ctl: Type
) -> None:
    makers = [line(package(f"g{n}")) for n in (1, 2)]
    readers = [line(package(f"s{n}", needs=[f"g{n}"])) for n in (1, 2)]
    merge = line(package("all", takes=["s1", "s2"]))
    site.submit(job(("gen", makers), ("sel", readers), ("merge", [merge])))
    site.fail("prod/1/1/1")
    for path in ("prod/1/2/1", "prod/2/2/1"):
        site.finish(path)
    d0ctl("kill-line", "prod/2/1", "--drop-outputs")

    waiting = d0ctl("retry", "prod/1/1/1", "--dry-run").stdout
    site.finish("prod/3/1/1")
    done = d0ctl("retry", "prod/1/1/1").stdout

    said = "1 line that reads their files stays dropped: `d0ctl restore-line prod/2/1"
    assert f"{said}`" in waiting and f"{said} --again`" in done
    assert d0ctl("restore-line", "prod/2/1", "--again").exit_code == 0
