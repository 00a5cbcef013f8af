"""update: lines that need files of dropped lines are dropped, too, and come back with these."""

from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.building import document
from tests.support.site import Site

SEEDS = """\
job: prod
stages:
  - {name: gen, lines: [{for: {n: [1, 2, 3]}, run: "true", outputs: "gen-{n}"}]}
  - {name: sel, lines: [{for: {n: [1, 2, 3]}, run: "true", inputs: "gen-{n}", outputs: "sel-{n}"}]}
  - {name: merge, lines: [{run: "true", inputs: {from: sel}, outputs: all}]}
"""
PLOTS = """\
  - {name: plot, lines: [{for: {n: [1, 2, 3]}, run: "true", inputs: "gen-{n}", outputs: "p-{n}"}]}
  - {name: page, lines: [{run: "true", inputs: {from: plot}, outputs: page}]}
"""
CHAINS = PLOTS.replace(
    'run: "true", inputs: "gen-{n}", outputs: "p-{n}"',
    'packages: [{run: "true", outputs: "q-{n}"}, '
    '{run: "true", inputs: ["gen-{n}", "q-{n}"], outputs: "p-{n}"}]',
)
"""Here, only the second packages of the lines read the files."""

DROPPED = "1 package dropped, because of dropped inputs: 1"


@pytest.fixture
def file(d0ctl: Type, tmp_path: Path) -> Path:
    """The job file of a job that was submitted."""
    path = tmp_path / "prod.yaml"
    path.write_text(SEEDS)
    assert d0ctl("submit", str(path)).exit_code == 0
    return path


def inputs(d0ctl: Type, package: str) -> list[str]:
    """The files that a package reads, without those that are dropped."""
    entries = document(d0ctl("status", package, "--json").stdout)["inputs"]
    return [entry["file"] for entry in entries if not entry["dropped"]]


def test_a_line_that_is_in_the_job_file_again_stays_dropped_without_its_inputs(
    site: Site, d0ctl: Type, file: Path
) -> None:
    file.write_text(SEEDS.replace("[1, 2, 3]", "[1, 2]"))
    d0ctl("update", "prod")
    d0ctl("restore-line", "prod/1/3")
    d0ctl("kill-line", "prod/1/3", "--drop-outputs")
    file.write_text(SEEDS)

    planned = d0ctl("update", "prod", "--dry-run").stdout
    d0ctl("update", "prod")

    assert (
        "1 package still dropped, because of dropped inputs: 1 dropped\n  prod/2/3/1\n" in planned
    )
    assert "restored" not in planned
    assert site.phase("prod/2/3/1") == "dropped"
    assert "d0ctl restore-line prod/1/3" in d0ctl("why", "prod/2/3/1").stdout
    for package in ("1/1/1", "1/2/1", "2/1/1", "2/2/1"):
        site.finish(f"prod/{package}")
    assert site.phase("prod/3/1/1") == "ready"
    d0ctl("restore-line", "prod/1/3")
    assert [site.phase(f"prod/{path}/1") for path in ("1/3", "2/3", "3/1")] == [
        "ready", "waiting", "waiting",
    ]  # fmt: skip
    assert faults(site.store) == []


def test_why_of_a_dropped_line_says_that_the_job_file_lacks_it(
    site: Site, d0ctl: Type, file: Path
) -> None:
    d0ctl("kill-line", "prod/1/3", "--drop-outputs")
    said = "the job file does not have `prod/1/3`, so `from` leaves its files out: put it back"
    pages = [("why", "prod/1/3"), ("why", "prod/1/3/1"), ("why", "prod/2/3/1")]
    before = [d0ctl(*page).stdout for page in pages]
    d0ctl("update", "prod")
    same = [d0ctl(*page).stdout for page in pages]
    file.write_text(SEEDS.replace("[1, 2, 3]", "[1, 2]"))
    d0ctl("update", "prod")
    without = [d0ctl(*page).stdout for page in pages]
    file.write_text(SEEDS)
    d0ctl("update", "prod")

    assert not any(said in page for page in before + same)
    assert all(said in page for page in without)
    assert not any(said in d0ctl(*page).stdout for page in pages)
    for page in pages:
        assert "d0ctl restore-line prod/1/3" in suggested(d0ctl, *page)
    assert d0ctl("restore-line", "prod/1/3").exit_code == 0
    assert [site.phase(f"prod/{path}/1") for path in ("1/3", "2/3")] == ["ready", "waiting"]
    assert faults(site.store) == []


@pytest.mark.parametrize(("stages", "last"), [(PLOTS, "4/3/1"), (CHAINS, "4/3/2")])
def test_an_added_package_that_needs_a_dropped_file_is_dropped(
    site: Site, d0ctl: Type, file: Path, stages: str, last: str
) -> None:
    d0ctl("kill-line", "prod/1/3", "--drop-outputs")
    file.write_text(SEEDS + stages)

    planned = d0ctl("update", "prod", "--dry-run").stdout
    d0ctl("update", "prod")

    assert f"{DROPPED} new\n  prod/{last}\n" in planned
    assert site.phase(f"prod/{last}") == "dropped"
    assert "p-3" not in inputs(d0ctl, "prod/5/1/1")
    d0ctl("restore-line", "prod/1/3")
    assert site.phase(f"prod/{last}") == "waiting"
    assert "p-3" in inputs(d0ctl, "prod/5/1/1")
    assert faults(site.store) == []


def test_a_line_without_which_a_later_reader_has_run_is_restored_as_advised(
    site: Site, d0ctl: Type, file: Path
) -> None:
    for package in ("1/1/1", "1/2/1", "1/3/1", "2/1/1", "2/2/1", "2/3/1", "3/1/1"):
        site.finish(f"prod/{package}")
    undo = "to undo: d0ctl restore-line prod/1/3 --again"
    assert undo in d0ctl("kill-line", "prod/1/3", "--drop-outputs").stderr
    d0ctl("update", "prod", "--again")
    site.finish("prod/3/1/1")
    assert undo in d0ctl("history", "prod").stdout

    for dropped in ("prod/1/3", "prod/1/3/1", "prod/2/3/1"):
        assert "d0ctl restore-line prod/1/3 --again" in suggested(d0ctl, "why", dropped)
    assert d0ctl("restore-line", "prod/1/3").exit_code == 4
    assert d0ctl("restore-line", "prod/1/3", "--again").exit_code == 0


def test_a_merge_that_has_read_a_dropped_file_stays_out_of_date_if_it_is_dropped_and_restored(
    site: Site, d0ctl: Type, file: Path
) -> None:
    for package in ("1/1/1", "1/2/1", "1/3/1", "2/1/1", "2/2/1", "2/3/1", "3/1/1"):
        site.finish(f"prod/{package}")
    d0ctl("kill-line", "prod/2/3", "--drop-outputs")
    before = d0ctl("why", "prod/3/1/1").stdout
    d0ctl("kill-line", "prod/3/1", "--drop-outputs")
    d0ctl("restore-line", "prod/3/1")

    assert "it is out of date" in before
    assert d0ctl("why", "prod/3/1/1").stdout == before
    d0ctl("update", "prod", "--again")
    assert site.phase("prod/3/1/1") == "ready"
    assert faults(site.store) == []


def test_update_says_which_lines_of_the_job_file_stay_dropped(
    site: Site, d0ctl: Type, file: Path
) -> None:
    def said(*more: str) -> list[str]:
        return [row for row in d0ctl("update", "prod", *more).stdout.splitlines() if "stay" in row]

    file.write_text(SEEDS.replace("[1, 2, 3]", "[1, 2]"))
    by_update = said()
    file.write_text(SEEDS)
    again = said()
    d0ctl("kill-line", "prod/1/3", "--drop-outputs")
    by_person = [said("--dry-run"), said()]
    file.write_text(SEEDS.replace("[1, 2, 3]", "[1, 2]"))
    removed = said()
    file.write_text(SEEDS)
    back = [said("--dry-run"), said()]
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    two = said()

    assert by_update == again == removed == []
    one = ["2 lines of the job file stay dropped: d0ctl restore-line prod/1/3"]
    assert [*by_person, *back] == [one] * 4
    assert two == ["4 lines of the job file stay dropped: d0ctl restore-line prod/1/2 prod/1/3"]
    assert d0ctl("restore-line", "prod/1/2", "prod/1/3").exit_code == 0
    assert said() == []
    assert faults(site.store) == []


def test_a_package_that_lacks_inputs_of_a_dropped_line_says_what_restores_them(
    site: Site, d0ctl: Type, file: Path, tmp_path: Path
) -> None:
    (other := tmp_path / "sum.yaml").write_text(
        "job: sum\nstages: [{lines: [{run: x, inputs: {from: prod/sel}, outputs: s}]}]\n"
    )
    assert d0ctl("submit", str(other)).exit_code == 0
    d0ctl("kill-line", "prod/1/3", "--drop-outputs")
    lacks, restore = (
        "with 2 of 3 inputs, missing: sel-3; to get it: ",
        "d0ctl restore-line prod/1/3",
    )
    before = [d0ctl("status", job).stdout for job in ("prod", "sum")]
    for package in ("1/1/1", "1/2/1", "2/1/1", "2/2/1", "3/1/1"):
        site.finish(f"prod/{package}")
    site.finish("sum/1/1/1")
    update = "d0ctl update sum/1/1/1 --again"

    assert all(f"will run {lacks}`{restore}`\n" in page for page in before)
    for page in ("status", "why", "results"):
        answer = d0ctl(page, "prod")
        assert f"ran {lacks}`{restore} --again`\n" in answer.stdout + answer.stderr, page
    page = d0ctl("why", "sum/1/1/1").stdout
    assert f"it ran {lacks}`{restore} --again`, then `{update}`\n" in page
    assert d0ctl("restore-line", "prod/1/3", "--again").exit_code == 0
    assert d0ctl("update", "sum/1/1/1", "--again").exit_code == 0
    assert [site.phase(path) for path in ("prod/1/3/1", "prod/3/1/1", "sum/1/1/1")] == [
        "ready", "waiting", "waiting",
    ]  # fmt: skip
    assert "sel-3" in inputs(d0ctl, "sum/1/1/1") and "sel-3" in inputs(d0ctl, "prod/3/1/1")
    assert faults(site.store) == []


def test_a_package_that_ran_while_its_input_was_dropped_is_to_be_dropped_before_it_runs_again(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.finish("prod/1/1/1")
    site.launch("prod/2/1/1")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes")
    site.end("prod/2/1/1")
    file.write_text(SEEDS.replace('"true", inputs: "gen', '"true -v", inputs: "gen'))
    d0ctl("update", "prod")

    for target in ("prod", "prod/2/1/1", "prod:sel-1"):
        said = d0ctl("why", target).stdout
        assert "`d0ctl kill-line prod/2/1 --drop-outputs` has to come before an update" in said
        assert "update prod --again" not in said
    assert d0ctl("update", "prod", "--again").exit_code == 4
    assert d0ctl("kill-line", "prod/2/1", "--drop-outputs", "--yes").exit_code == 0
    assert d0ctl("update", "prod", "--again").exit_code in (0, 4)
