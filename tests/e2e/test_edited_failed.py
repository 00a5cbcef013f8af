"""Files from outside that a person corrects after packages that read them have failed."""

from pathlib import Path

import pytest

from d0ctl.show.failures.alike import Kind, several
from tests.support.site import Site

SCAN = """\
job: scan
stages:
  - name: fit
    lines:
      - for: {run: [1, 2, 3, 4]}
        run: grep "^{run} " calibration.txt > {run}.fit
        inputs: calibration.txt
        outputs: "{run}.fit"
  - name: sum
    lines:
      - run: cat {inputs} > all.txt
        inputs: {from: fit}
        outputs: all.txt
"""

NEW = "was changed since this failure: a retry reads the new contents"

PLAIN = "a plain retry may fail again"


@pytest.fixture
def table(site: Site) -> Path:
    """Let the packages of two runs fail that a table lacks; then put a row for these into it."""
    table = site.jobs / "calibration.txt"
    table.write_text("1 0.5\n2 0.6\n")
    site.submit(SCAN)
    assert site.d0ctl("run", "scan").code == 1
    assert NEW not in site.ok("why", "scan/1/3/1") + site.ok("why", "scan")
    assert "changed since" not in site.ok("status", "scan/1/3/1")
    table.write_text("1 0.5\n2 0.6\n3 0.7\n4 0.8\n")
    return table


def test_why_says_that_a_retry_reads_what_a_person_has_corrected(site: Site, table: Path) -> None:
    for path, retry in (("scan/1/3/1", "scan/1/3/1"), ("scan/1/3", "scan/1/3/1"),
                        ("scan", "'scan:failed' --failed-for exit-code")):  # fmt: skip
        why = site.ok("why", path)
        assert f"`{table}` {NEW}" in why and f"$ d0ctl retry {retry}" in why, why
        assert "plain retry" not in why
    with site.opened() as store:
        kind = Kind("scan", "exit-code", ["scan/1/4/1", "scan/1/3/1"])
        screen = several(store, [kind], {"scan": "scan:failed"})
    assert f"`{table}` {NEW}" in screen.facts
    assert "d0ctl retry 'scan:failed' --failed-for exit-code" in screen.commands

    site.ok("retry", "scan:failed")
    site.ok("run", "scan")

    assert site.result("scan/all.txt") == table.read_text()


def test_status_names_the_corrected_input_with_its_new_size(site: Site, table: Path) -> None:
    status = site.ok("status", "scan/1/3/1")

    assert "changed since attempt 1: calibration.txt" in status
    assert "24 B" in status and "12 B" not in status


def test_an_update_counts_the_failed_packages_that_a_retry_would_let_read_it(
    site: Site, table: Path
) -> None:
    failed = "2 failed packages read it as it was before: d0ctl retry scan/1/3-4/1"
    plan = site.ok("update", "scan", "--dry-run")
    assert f"  {table}\n{failed}\n" in plan and "2 packages out of date" in plan
    assert failed in site.ok("update", "scan", "--again")
    table.write_text("1 0.5\n2 0.6\n")

    plan = site.ok("update", "scan", "--dry-run")

    assert "failed package" not in plan, plan


def test_contents_that_a_failed_package_has_read_are_not_new_to_it(site: Site, table: Path) -> None:
    site.ok("retry", "scan/1/3/1")
    site.d0ctl("run", "scan")
    assert "was changed" in site.ok("why", "scan/1/4/1")

    table.write_text("1 0.5\n2 0.6\n")

    why = site.ok("why", "scan/1/4/1")
    assert NEW not in why and PLAIN in why, why
    assert "changed since" not in site.ok("status", "scan/1/4/1")
