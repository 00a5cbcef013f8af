"""Jobs that read a stage of another job of which lines are dropped, and others may come instead."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.site import Site

WHOLE = "job: made\nstages: [{name: m, lines: [{run: date > all, outputs: all}]}]\n"
PARTS = """\
job: made
stages: [{name: m, lines: [{for: {n: [1, 2]}, run: "date > m-{n}", outputs: "m-{n}"}]}]
"""
FROM = (
    "job: use\nstages: [{lines: [{run: 'cat {inputs} > u', inputs: {from: made/m}, outputs: u}]}]\n"
)
EACH = """\
job: use
stages:
  - lines:
      - for: {p: {from: made/m, by: 1}}
        run: cat {p} > u-{p.index}
        inputs: "{p}"
        outputs: "u-{p.index}"
"""


def submit(site: Site, d0ctl: Type, folder: Path, made: str, use: str) -> None:
    """Let a job succeed, and one that reads its stage."""
    for name, text in (("made", made), ("use", use)):
        (folder / f"{name}.yaml").write_text(text)
        assert d0ctl("submit", str(folder / f"{name}.yaml")).exit_code == 0
        for line in [1, 2] if "for:" in text else [1]:
            site.finish(f"{name}/1/{line}/1")


@pytest.mark.parametrize("is_updated", [False, True])
def test_a_package_whose_stage_has_other_lines_now_is_run_again_with_these(
    site: Site, d0ctl: Type, tmp_path: Path, *, is_updated: bool
) -> None:
    submit(site, d0ctl, tmp_path, WHOLE, FROM)
    (tmp_path / "made.yaml").write_text(PARTS)
    d0ctl("update", "made")
    site.finish("made/1/2/1")
    site.finish("made/1/3/1")
    if is_updated:
        d0ctl("update", "use")

    dropped = d0ctl("kill-line", "made/1/1", "--drop-outputs").stdout
    said = d0ctl("why", "use").stdout
    updated = d0ctl("update", "use", "--again")

    assert "to run it again without: d0ctl update use/1/1/1 --again\n" in dropped
    assert "kill-line" not in said
    assert f"`d0ctl update use{' --again' * is_updated}`" in said
    assert updated.exit_code == 0 and site.phase("use/1/1/1") == "ready"


def test_a_line_whose_only_input_is_dropped_has_to_be_dropped_before_an_update(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    submit(site, d0ctl, tmp_path, PARTS, EACH)

    planned = d0ctl("kill-line", "made/1/2", "--drop-outputs", "--dry-run").stdout
    dropped = d0ctl("kill-line", "made/1/2", "--drop-outputs").stdout
    refused = d0ctl("update", "use", "--again").stderr

    way = "d0ctl kill-line use/1/2 --drop-outputs\n"
    for said in (planned, dropped):
        assert f"1 line of other jobs needs these files, and must be dropped first: {way}" in said
        assert "d0ctl update use" not in said
    assert way in refused


def test_a_line_that_may_need_a_file_of_a_removed_line_names_an_update_that_is_accepted(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    submit(site, d0ctl, tmp_path, PARTS, EACH)
    (tmp_path / "made.yaml").write_text(PARTS.replace("[1, 2]", "[1]"))
    d0ctl("update", "made")

    dropped = d0ctl("kill-line", "made/1/2", "--drop-outputs").stdout
    planned = d0ctl("update", "use", "--dry-run").stdout

    assert "1 line of other jobs may need these files: d0ctl update use --dry-run\n" in dropped
    assert "--again" not in dropped
    assert "1 package successful, but no longer in the job file: it stays" in planned
    assert d0ctl("update", "use").exit_code == 0


def test_no_update_is_advised_for_changed_files_before_a_line_was_dropped(real_site: Site) -> None:
    cal = real_site.folder / "cal"
    cal.write_text("1\n")
    for name, text in (("made", PARTS), ("use", EACH.replace('"{p}"\n', '["{p}", cal]\n'))):
        (real_site.folder / f"{name}.yaml").write_text(text)
        real_site.ok("run", real_site.folder / f"{name}.yaml")
    real_site.ok("kill-line", "made/1/2", "--drop-outputs")
    cal.write_text("22\n")

    done = real_site.d0ctl("results", "use")

    assert "`d0ctl kill-line use/1/2 --drop-outputs` has to come before an update" in done.err
    assert f"`{cal}` has changed since 1 finished package read it\n" in done.err
