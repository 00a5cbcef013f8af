"""`results`: those of dropped lines, and of lines that the job file no longer has."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.rows import change
from tests.support.site import Site

GROUPS = """\
job: prod
stages:
  - name: sim
    lines:
      - {for: {n: [1, 2, 3, 4]}, run: "true", outputs: "sim-{n}"}
  - name: merge
    lines:
      - {for: {part: {from: sim, by: 1}}, run: "true", inputs: "{part}", outputs: "m-{part.index}"}
"""


@pytest.fixture
def results(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """A job that is successful, with four groups; its folder in results/."""
    (tmp_path / "prod.yaml").write_text(GROUPS)
    assert d0ctl("submit", str(tmp_path / "prod.yaml")).exit_code == 0
    folder = site.store.home.results / "prod"
    folder.mkdir(parents=True)
    for stage in (1, 2):
        for line in (1, 2, 3, 4):
            site.finish(f"prod/{stage}/{line}/1")
            (folder / f"m-{line}").write_text("m")
    with site.store.writing():
        change(site.store, "file", {"result": 1}, size=1, checksum=None)
    return folder


@pytest.mark.usefixtures("results")
def test_results_of_lines_that_an_update_removed_are_named(d0ctl: Type, tmp_path: Path) -> None:
    (tmp_path / "prod.yaml").write_text(GROUPS.replace("by: 1", "by: 2"))

    updated = d0ctl("update", "prod", "--again")
    listed = d0ctl("results", "prod")
    dropped = d0ctl("kill-line", "prod/2/3-4", "--drop-outputs", "--yes")

    drop = "d0ctl kill-line prod/2/3-4 --drop-outputs"
    stay = "2 packages successful, but no longer in the job file: they stay, with their results\n"
    assert stay in updated.stdout
    assert ("m-3 and m-4 are of lines that the job file no longer has; to leave them out: "
            f"{drop}\n") in listed.stderr  # fmt: skip
    assert dropped.exit_code == 0
    assert "no longer has" not in d0ctl("results", "prod").stderr


@pytest.mark.usefixtures("results")
def test_results_of_removed_lines_in_an_archive_have_no_command(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "prod.yaml").write_text(GROUPS.replace("by: 1", "by: 2"))
    d0ctl("update", "prod", "--again")
    for line in (1, 2):
        site.finish(f"prod/2/{line}/1")
    assert d0ctl("archive", "prod", "--as", "old", "--yes").exit_code == 0

    listed = d0ctl("results", "prod", "--archive", "old").stderr

    assert "m-3 and m-4 are of lines that the job file no longer has\n" in listed


def test_dropped_results_are_not_copied_and_no_failure(
    results: Path, d0ctl: Type, tmp_path: Path
) -> None:
    (results / "m-3").unlink()
    d0ctl("kill-line", "prod/2/3-4", "--drop-outputs", "--yes")

    listed = d0ctl("results", "prod").stdout
    copied = d0ctl("results", "prod", "--copy", str(tmp_path / "out"))
    shown = d0ctl("run", "prod").stdout

    assert f"{results / 'm-4'} (dropped)\n" in listed
    assert (copied.exit_code, sorted(path.name for path in (tmp_path / "out").iterdir())) == (
        0, ["m-1", "m-2"],
    )  # fmt: skip
    assert "m-3 and m-4 are dropped, and left out\n" in copied.stderr
    assert "m-2" in shown and "m-4" not in shown
