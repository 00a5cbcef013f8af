"""`logs --failed`: how the logs of failed packages end, by the reason of failure."""

from pathlib import Path

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.site import Site


def test_failures_are_grouped_by_reason_and_by_equal_last_lines(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=6))
    for line in (1, 2, 3):
        site.fail(f"prod/1/{line}/1", stderr=f"warming up\nno calibration for run {line}\n")
    site.fail("prod/1/4/1", stderr="disk quota exceeded\n")
    site.fail("prod/1/5/1", reason="seg-fault", detail="ended by SIGSEGV", stderr="boom\n")

    screen = d0ctl("logs", "prod", "--failed")

    assert screen.exit_code == 0
    heads = [line for line in screen.stdout.splitlines() if line and line[0] not in " "]
    assert heads == ["exit-code: 4 packages", "seg-fault: 1 package"]
    assert screen.stdout.count("no calibration for run") == 1
    assert "│ warming up\n  │ no calibration for run 3\n" in screen.stdout
    assert "    the same, but for numbers, in prod/1/2/1, prod/1/1/1\n" in screen.stdout
    assert "disk quota exceeded" in screen.stdout


def test_the_document_has_the_same_logs(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=3))
    for line in (1, 2):
        site.fail(f"prod/1/{line}/1", stderr=f"one\ntwo\nrun {line}\n")

    answer = document(d0ctl("logs", "prod", "--failed", "--lines", "2", "--json").stdout)

    assert (answer["selector"], answer["failed"]) == ("prod", 2)
    (reason,) = answer["reasons"]
    assert (reason["reason"], reason["packages"]) == ("exit-code", 2)
    (log,) = reason["logs"]
    assert (log["path"], log["alike"], log["packages"]) == ("prod/1/2/1", ["prod/1/1/1"], 2)
    assert (log["stream"], log["lines"]) == ("stderr", ["two", "run 2"])


def test_the_end_of_stdout_is_read_from_the_node_if_stderr_is_empty(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production())
    site.up(base=str(tmp_path / "base"))
    site.fail("prod/1/1/1")
    folder = tmp_path / "base" / "attempts" / "1"
    folder.mkdir(parents=True)
    (folder / "1.out").write_text("first\nFATAL: no beam\n")

    (reason,) = document(d0ctl("logs", "prod", "--failed", "--lines", "1", "--json").stdout)[
        "reasons"
    ]

    assert (reason["logs"][0]["stream"], reason["logs"][0]["lines"]) == (
        "stdout", ["FATAL: no beam"],
    )  # fmt: skip
    assert "│ first\n  │ FATAL: no beam\n" in d0ctl("logs", "prod/1/1/1", "--failed").stdout


def test_a_log_on_a_removed_node_is_reported_and_the_others_are_printed(
    site: Site, d0ctl: Type
) -> None:
    with site.store.writing():
        registry.add(site.store, Address("far", "ssh", "emmy@127.0.0.1:1"), cpus=1)
    site.submit(production())
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1", "failed", reason="exit-code", detail="exit code 3", binary=1)
    site.fail("prod/1/2/1", stderr="no beam\n")

    result = d0ctl("logs", "prod", "--failed")

    assert result.exit_code == 6
    assert "its log can't be read" in result.stdout
    assert "│ no beam" in result.stdout


def test_packages_that_have_not_failed_are_left_out(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", stderr="no beam\n")
    site.launch("prod/1/2/1")

    assert "no beam" not in d0ctl("logs", "prod/1/2", "--failed").stdout
    assert d0ctl("logs", "prod/2", "--failed").stdout == "nothing has failed\n"
    assert d0ctl("logs", "none", "--failed").exit_code == 3


def test_failures_of_packages_that_are_not_failed_now_are_counted(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", stderr="no beam\n")
    d0ctl("retry", "prod/1/1/1")

    answer = d0ctl("logs", "prod", "--failed").stdout

    assert answer == "no package is failed now; 1 earlier failure: d0ctl history prod\n"
    assert d0ctl("logs", "prod/1/2", "--failed").stdout == "nothing has failed\n"


@pytest.mark.parametrize(
    ("words", "fault"),
    [(["--failed", "-f"], "exclude each other"), (["--failed", "--attempt", "1"], "exclude each"),
     (["--json"], "--json needs --failed")],
)  # fmt: skip
def test_options_that_contradict_the_failed_filter_are_refused(
    site: Site, d0ctl: Type, words: list[str], fault: str
) -> None:
    site.submit(production())

    result = d0ctl("logs", "prod", *words)

    assert (result.exit_code, fault in result.stderr) == (2, True)
