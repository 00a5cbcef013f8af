"""What commands say of failures that a person has acknowledged."""

import time

import pytest

from d0ctl.actions import undo as undo_commands
from d0ctl.store.nodes import leases, placement
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


@pytest.fixture(autouse=True)
def failed(site: Site, d0ctl: Type) -> None:
    """Two of two packages of a job have failed, the merge is blocked; the failures are known."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    lines = [line(package("a")), line(package("b"))]
    merge = line(package("all", needs=["a", "b"]))
    site.submit(job(("make", lines), ("merge", [merge]), name="prod"))
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    placement.end_jobs(site.store, now=time.time())
    d0ctl("acknowledge", "prod", "--reason", "known")


@pytest.mark.parametrize(
    ("selector", "end"),
    [
        ("prod", "failed: 0 of 3 packages done, 2 failed (all acknowledged)"),
        ("prod/1", "failed: 0 of 2 packages done, 2 failed (all acknowledged)"),
        ("prod/1/1", "failed: 0 of 1 package done, 1 failed (acknowledged)"),
        ("prod/1/2/1", "failed: 0 of 1 package done, 1 failed (acknowledged)"),
        ("prod/2", "is blocked: 0 of 1 package done"),
    ],
)
def test_acknowledged_failures_of_a_part_need_nobody_as_those_of_all_jobs(
    selector: str, end: str, d0ctl: Type
) -> None:
    result = d0ctl("status", selector, "-q")

    assert (result.exit_code, result.stdout) == (0, f"`{selector}` {end}\n")
    assert d0ctl("status", "-q").exit_code == 0


def test_a_failure_that_nobody_acknowledged_counts_beside_others(d0ctl: Type) -> None:
    d0ctl("acknowledge", "prod/1/2/1", "--withdraw")

    result = d0ctl("status", "prod", "-q")

    assert result.stdout.endswith("2 failed (1 acknowledged)\n")
    assert [d0ctl("status", part, "-q").exit_code for part in ("prod", "prod/2")] == [1, 1]
    assert d0ctl("status", "prod/1/1/1", "-q").exit_code == 0


def test_the_undo_of_some_of_several_failures_names_these(d0ctl: Type) -> None:
    d0ctl("acknowledge", "prod/1/2/1", "--withdraw")

    others = d0ctl("acknowledge", "prod:failed")
    d0ctl("acknowledge", "prod", "--withdraw")
    some = d0ctl("acknowledge", "prod:failed", "--failed-for", "exit-code")

    assert "to undo: d0ctl acknowledge prod/1/2/1 --withdraw\n" in others.output
    undo = "d0ctl acknowledge prod/1/1-2/1 --withdraw"
    assert f"to undo: {undo}\n" in some.output
    assert d0ctl(*undo.split()[1:]).stdout.startswith("withdrew the acknowledgement of 2 packages")


@pytest.mark.parametrize(
    "words",
    [
        ("night",), ("night:failed",), ("night", "--failed-for", "exit-code"),
        ("night/1", "--node", "localhost"),
    ],
)  # fmt: skip
def test_the_undo_leaves_failures_that_were_acknowledged_since(
    site: Site, d0ctl: Type, words: tuple[str, ...]
) -> None:
    site.submit(production("night", lines=4))
    site.fail("night/1/1/1")
    site.fail("night/1/2/1")
    first = d0ctl("acknowledge", *words)
    undo = first.output.partition("to undo: d0ctl ")[2].splitlines()[0]
    site.fail("night/1/3/1")
    d0ctl("acknowledge", *words)

    result = d0ctl(*undo.split())

    assert result.stdout.startswith("withdrew the acknowledgement of 2 packages")
    assert d0ctl("status", "night", "-q").stdout.endswith("3 failed (1 acknowledged)\n")
    assert undo == "acknowledge night/1/1-2/1 --withdraw"
    assert undo not in d0ctl("history", "night").stdout


def test_the_undo_is_possible_while_one_of_its_failures_is_left(site: Site, d0ctl: Type) -> None:
    site.submit(production("night", lines=5))
    for number in (1, 2, 4, 5):
        site.fail(f"night/1/{number}/1")
    d0ctl("acknowledge", "night")
    d0ctl("retry", "night/1/1-2")
    undo = "acknowledge night/1/1-2/1 night/1/4-5/1 --withdraw"

    assert undo in d0ctl("history", "night").stdout
    assert d0ctl(*undo.split()).exit_code == 0
    assert undo not in d0ctl("history", "night").stdout


@pytest.mark.parametrize(
    ("first", "most", "said"),
    [
        ("prod", 2, "to undo: d0ctl acknowledge prod/1/1-2/1 --withdraw\n"),
        ("prod", 1, "can't be undone by one command: it would name more than"),
        ("prod:failed", 1, "can't be undone by one command: it would name more than"),
    ],
)
def test_the_undo_names_the_failures_unless_they_are_too_many(
    d0ctl: Type, monkeypatch: pytest.MonkeyPatch, first: str, most: int, said: str
) -> None:
    monkeypatch.setattr(undo_commands, "MOST_FILTERED", most)
    d0ctl("acknowledge", "prod", "--withdraw")

    assert said in d0ctl("acknowledge", first).stderr


def test_an_earlier_failure_of_an_acknowledged_package_is_not_acknowledged(
    site: Site, d0ctl: Type
) -> None:
    d0ctl("retry", "prod/1/1/1")
    site.fail("prod/1/1/1", reason="seg-fault", detail="ended by SIGSEGV")
    d0ctl("acknowledge", "prod/1/1/1")

    rows = document(d0ctl("report", "failures", "prod", "--json").stdout)["by_reason"]

    known = {row["reason"]: row["acknowledged"] for row in rows}
    assert known == {"exit-code": 1, "seg-fault": 1}


@pytest.mark.parametrize("path", ["prod", "prod/1"])
def test_why_says_how_many_failures_are_acknowledged(path: str, d0ctl: Type) -> None:
    assert "- all 2 failures are acknowledged\n" in d0ctl("why", path).stdout
    d0ctl("acknowledge", "prod/1/2/1", "--withdraw")

    assert "- 1 of 2 failures is acknowledged\n" in d0ctl("why", path).stdout
    assert "acknowledged by" in d0ctl("why", "prod/1/1").stdout
    assert "acknowledged" not in d0ctl("why", "prod/1/2").stdout


def test_the_history_of_all_says_how_many_failures_are_acknowledged(d0ctl: Type) -> None:
    assert "2 packages, 2 failed now (all acknowledged)" in d0ctl("history").stdout
    d0ctl("acknowledge", "prod/1/2/1", "--withdraw")

    assert "2 packages, 2 failed now (1 acknowledged)" in d0ctl("history").stdout
    (failures,) = document(d0ctl("history", "--json").stdout)["failures"]
    assert (failures["failed"], failures["acknowledged"]) == (2, 1)


def test_a_wait_for_acknowledged_failures_is_in_vain(d0ctl: Type) -> None:
    result = d0ctl("wait", "prod")

    assert result.exit_code == 1
    assert "`prod` failed: 2 failed (all acknowledged) and 1 blocked of 3 packages" in result.stdout


def test_a_job_of_another_person_that_they_block_is_still_a_failure(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("read", [line(package("end", needs=["prod:all"]))]), name="lost"))
    placement.end_jobs(site.store, now=time.time())

    whole, own = d0ctl("status", "-q"), d0ctl("status", "lost", "-q")

    assert (whole.exit_code, own.exit_code) == (1, 1)
    text = "failures: `lost` is blocked: it lacks files of other jobs"
    assert whole.stdout == f"{text}; 2 acknowledged failures in `prod`\n"
    head, _, rows = d0ctl("status").stdout.partition("\n\n")
    assert head == text.removeprefix("failures: ")
    assert "d0ctl why lost" in rows


def test_the_line_of_all_jobs_names_them(d0ctl: Type) -> None:
    result = d0ctl("status", "-q")

    text = "nothing to do; 2 acknowledged failures in `prod`\n"
    assert (result.exit_code, result.stdout) == (0, text)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("prod/1/1/1", "`prod/1/1/1` is dropped, so its acknowledgement can't be withdrawn"),
        ("prod/1/1-2", "no acknowledgements of `prod/1/1-2` can be withdrawn: 2 dropped"),
    ],
)
def test_a_withdrawal_is_refused_in_its_own_words(d0ctl: Type, part: str, message: str) -> None:
    d0ctl("kill-line", "prod/1/1-2", "--drop-outputs", "--yes")

    result = d0ctl("acknowledge", part, "--withdraw")

    assert result.exit_code == 4
    assert message in result.output
