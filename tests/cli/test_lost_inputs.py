"""Packages that can't run again, because they need a dropped file of another job."""

import time
from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from d0ctl.store.files import copies
from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.cli.test_dropped_elsewhere import MERGE, PACKAGES, READER
from tests.support.building import production
from tests.support.rows import change, read, value
from tests.support.site import Site

LACKS = """\
d0ctl: `use/1/2/1` would run again without `prod:sim-2`, which is dropped
d0ctl kill-line use/1/2 --drop-outputs
"""


@pytest.fixture
def file(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """The job file of a job that has read a line of another one, which was dropped since.

    Of its files only the result is left.
    """
    site.submit(production(lines=2))
    path = tmp_path / "use.yaml"
    path.write_text(READER)
    d0ctl("submit", str(path))
    for package in ("1/1/1", "1/1/2", "1/2/1", "1/2/2"):
        site.finish(f"prod/{package}")
    for package in PACKAGES:
        site.finish(f"use/{package}")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    lose(site, "use-1", "use-2")
    return path


def lose(site: Site, *names: str) -> None:
    """Let the copies of files be lost."""
    lost = [row for row, name in read(site.store, "file", "id", "name") if name in names]
    with site.store.writing():
        copies.lose(site.store, [(row, 1) for row in lost], now=time.time())


def test_a_package_is_not_made_to_run_again_for_a_reader_without_its_dropped_input(
    site: Site, d0ctl: Type, file: Path
) -> None:
    for path in ("use/2/1/1", "use/1/2/1"):
        assert d0ctl("set-status", path, "unscheduled").stderr == LACKS
    file.write_text(READER + '  - {lines: [{run: "cat {inputs} > b", inputs: {from: use}}]}\n')
    assert d0ctl("update", "use").stderr == LACKS

    assert site.phase("use/1/2/1") == "done"
    d0ctl("kill-line", "use/1/2", "--drop-outputs")
    assert d0ctl("set-status", "use/2/1/1", "unscheduled").exit_code == 0
    assert [site.phase(f"use/{path}") for path in PACKAGES] == ["ready", "done", "waiting"]
    assert faults(site.store) == []


def test_a_line_comes_back_with_what_has_to_run_again_for_it(
    site: Site, d0ctl: Type, file: Path
) -> None:
    d0ctl("kill-line", "use/1/2", "--drop-outputs")
    d0ctl("kill-line", "use/2/1", "--drop-outputs")
    d0ctl("restore-line", "use/2/1")
    change(site.store, "package", {"id": site.id_of("use/2/1/1")}, phase="waiting")
    assert d0ctl("restore-line", "use/1/2").stderr.splitlines()[1] == "d0ctl why prod:sim-2"
    for dropped in ("use/1/2", "use/1/2/1"):
        assert "d0ctl restore-line prod/1/2 use/1/2" in suggested(d0ctl, "why", dropped)
    assert d0ctl("restore-line", "prod/1/2", "use/1/2", "--dry-run").exit_code == 0
    assert "d0ctl restore-line prod/1/2" in d0ctl("why", "prod:sim-2").stdout
    assert d0ctl("restore-line", "prod/1/2").exit_code == 0
    assert d0ctl("restore-line", "use/1/2").exit_code == 0
    assert (site.phase("use/1/2/1"), site.phase("use/2/1/1")) == ("ready", "waiting")
    assert faults(site.store) == []


def test_a_package_that_waits_for_a_dropped_file_says_what_helps(
    site: Site, d0ctl: Type, file: Path
) -> None:
    change(site.store, "package", {"id": site.id_of("use/2/1/1")}, phase="waiting")
    lose(site, "sim-2", "use-2")

    for asked in ("use", "use/1", "use/1/2/1"):
        said = d0ctl("why", asked).stdout
        commands = suggested(d0ctl, "why", asked)
        assert "it waits for file `sim-2` of `prod/1/2/2`, which is successful and whose" in said
        assert "after a retry" not in said
        assert "d0ctl kill-line use/1/2 --drop-outputs" in commands
        assert "d0ctl why prod/1/2/2" in commands
    assert (
        "blocked: they need dropped files, or those of packages that do"
        in d0ctl("why", "use").stdout
    )
    assert "d0ctl restore-line prod/1/2" in suggested(d0ctl, "why", "prod/1/2/2")
    for part in ("use:waiting", "use/1/2"):
        listed = d0ctl("status", part).stdout
        assert "it needs a dropped file, or one of a package that does" in listed
        assert "after a retry" not in listed


def test_a_plan_of_an_update_names_the_lines_to_drop_before_packages_run_again(
    site: Site, d0ctl: Type, file: Path
) -> None:
    file.write_text(READER.replace("cat sim-{n}", "sort sim-{n}"))

    planned = d0ctl("update", "use", "--dry-run").stdout

    first = "to run what is out of date, first drop what needs dropped files: "
    assert f"{first}d0ctl kill-line use/1/2 --drop-outputs\n" in planned
    assert "--again" not in planned
    assert d0ctl("update", "use", "--again").exit_code == 4
    d0ctl("kill-line", "use/1/2", "--drop-outputs")
    assert "d0ctl update use --again\n" in d0ctl("update", "use", "--dry-run").stdout
    assert d0ctl("update", "use", "--again").exit_code == 0


@pytest.mark.parametrize("option", ["--again", "--accept"])
def test_a_merge_of_another_job_without_a_dropped_file_gets_it_back(
    site: Site, d0ctl: Type, file: Path, tmp_path: Path, option: str
) -> None:
    d0ctl("restore-line", "prod/1/2")
    late = tmp_path / "late.yaml"
    late.write_text(MERGE)
    d0ctl("submit", str(late))
    site.finish("late/1/1/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")

    assert d0ctl("update", "late", option).exit_code == 0
    if option == "--again":
        site.finish("late/1/1/1")
        assert "ran with 1 of 2 inputs, missing: sim-2" in d0ctl("status", "late").stdout
    assert "out of date" not in d0ctl("status", "late").stdout
    d0ctl("restore-line", "prod/1/2", "--again")

    if option == "--again":
        assert "1 package of `late` is out of date" in d0ctl("status", "late").stdout
        d0ctl("update", "late", "--again")
        site.finish("late/1/1/1")
    assert "out of date" not in d0ctl("status", "late").stdout
    assert faults(site.store) == []


def test_a_merge_of_which_all_inputs_are_dropped_has_to_be_dropped_too(
    site: Site, d0ctl: Type, file: Path, tmp_path: Path
) -> None:
    d0ctl("restore-line", "prod/1/2")
    late = tmp_path / "late.yaml"
    late.write_text(MERGE)
    d0ctl("submit", str(late))
    site.finish("late/1/1/1")
    d0ctl("kill-line", "prod/1/1-2", "--drop-outputs")

    for asked in (["status", "late"], ["why", "late/1/1/1"], ["update", "late", "--dry-run"]):
        said = d0ctl(*asked).stdout
        assert "d0ctl kill-line late/1/1 --drop-outputs" in said
        assert "d0ctl update late --again" not in said
    assert d0ctl("update", "late", "--again").exit_code == 4
    assert d0ctl("kill-line", "late/1/1", "--drop-outputs").exit_code == 0


def test_nothing_advises_an_update_of_a_dropped_line_or_before_a_line_is_dropped(
    site: Site, d0ctl: Type, file: Path
) -> None:
    sim = value(site.store, "file", "id", name="sim-1")
    change(site.store, "file", {"id": sim}, checksum="sha256:1", replaced=time.time() + 1)

    assert "`sim-1` has changed since 1 finished package read it" in d0ctl("status", "use").stdout
    assert "d0ctl update use --again" not in d0ctl("status", "use").stdout
    assert "d0ctl update use/1/1/1 --again" in d0ctl("why", "use/1/1/1").stdout
    d0ctl("kill-line", "use/1/1", "--drop-outputs")
    assert "d0ctl update" not in d0ctl("why", "use/1/1/1").stdout
