"""Results that can't be accepted, as other jobs have got lines that they would read now."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.site import Site

MAKER = """\
job: a
stages:
  - {name: gen, lines: [{for: {n: [1, 2]}, run: "true", outputs: "g{n}"}]}
"""
READERS = """\
job: b
stages:
  - {lines: [{run: "cat {inputs} > all", inputs: {from: a/gen}, outputs: all}]}
  - {lines: [{run: "cat {inputs} > one", inputs: "a:g1", outputs: one}]}
"""


def finish(site: Site, package: str, contents: str) -> None:
    """Let a package succeed with these contents of its output."""
    name = (
        f"g{package.split('/')[2]}" if package[0] == "a" else {"1": "all", "2": "one"}[package[2]]
    )
    site.launch(package)
    site.end(package, outputs=[{"name": name, "path": f"/c/{name}", "size": 10,
                                "checksum": f"sha256:{contents}"}])  # fmt: skip


@pytest.mark.parametrize("is_added", [False, True])
def test_results_are_to_be_accepted_only_if_the_same_files_would_be_read(
    site: Site, d0ctl: Type, tmp_path: Path, is_added: bool
) -> None:
    (file := tmp_path / "a.yaml").write_text(MAKER)
    (tmp_path / "b.yaml").write_text(READERS)
    assert d0ctl("submit", str(file)).exit_code == 0
    assert d0ctl("submit", str(tmp_path / "b.yaml")).exit_code == 0
    for package in ("a/1/1/1", "a/1/2/1", "b/1/1/1", "b/2/1/1"):
        finish(site, package, "1")
    if is_added:
        file.write_text(MAKER.replace("[1, 2]", "[1, 2, 3]"))
        d0ctl("update", "a")
        finish(site, "a/1/3/1", "1")
    d0ctl("set-status", "a/1/2/1", "unscheduled", "--yes")
    finish(site, "a/1/2/1", "2")

    update = "d0ctl update b/1/1/1"
    for asked in (("status", "b"), ("why", "b"), ("why", "b/1/1/1")):
        commands = suggested(d0ctl, *asked)
        assert (f"{update} --again" in commands) != is_added
        assert (f"{update} --accept" in commands) != is_added
        assert ("d0ctl update b" in commands) == is_added
    for way in ["--again", *["--accept"] * (not is_added)]:
        assert d0ctl("update", "b/1/1/1", way, "--dry-run").exit_code == 0


COPIES = """\
job: c
stages:
  - name: copy
    lines: [{for: {n: [1, 2]}, run: "cat g{n} > c{n}", inputs: "a:g{n}", outputs: "c{n}"}]
  - {name: merge, lines: [{run: "cat {inputs} > all", inputs: {from: copy}, outputs: all}]}
"""


def test_changed_files_are_named_together_also_for_a_stage_and_with_what_keeps_the_results(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (file := tmp_path / "a.yaml").write_text(MAKER)
    (tmp_path / "c.yaml").write_text(COPIES)
    assert d0ctl("submit", str(file)).exit_code == 0
    assert d0ctl("submit", str(tmp_path / "c.yaml")).exit_code == 0
    for package in ("a/1/1/1", "a/1/2/1"):
        finish(site, package, "1")
    for package in ("c/1/1/1", "c/1/2/1", "c/2/1/1"):
        site.finish(package)
    file.write_text(MAKER.replace("[1, 2]", "[1, 2, 3]"))
    d0ctl("update", "a")
    d0ctl("set-status", "a/1/1-2", "unscheduled", "--yes")
    for package in ("a/1/1/1", "a/1/2/1", "a/1/3/1"):
        finish(site, package, "2")

    said = (
        "`g1` and `g2` have changed since finished packages read them: `d0ctl update c/1 --again` "
        "runs these again, `d0ctl update c/1 --accept` keeps their results"
    )
    for asked in (("status", "c"), ("why", "c"), ("why", "c/1"), ("results", "c")):
        told = d0ctl(*asked)
        assert said in " ".join((told.stdout + told.stderr).split())
    assert "changed since" not in d0ctl("why", "c/2").stdout
    assert "2 packages whose results are accepted" in d0ctl("update", "c/1", "--accept").stdout
    assert "changed since" not in d0ctl("why", "c").stdout


def test_a_package_and_a_file_say_that_others_on_whose_files_they_depend_are_out_of_date(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(MAKER)
    (tmp_path / "c.yaml").write_text(COPIES)
    for file in ("a.yaml", "c.yaml"):
        assert d0ctl("submit", str(tmp_path / file)).exit_code == 0
    for package in ("a/1/1/1", "a/1/2/1"):
        finish(site, package, "1")
    for package in ("c/1/1/1", "c/1/2/1", "c/2/1/1"):
        site.finish(package)
    asked = (("why", "c/2/1/1"), ("why", "c:all"))
    assert not any("depends" in d0ctl(*words).stdout for words in asked)

    d0ctl("set-status", "a/1/1-2", "unscheduled", "--yes")
    for package in ("a/1/1/1", "a/1/2/1"):
        finish(site, package, "2")

    for words, subject in zip(asked, ("it", "`c/2/1/1`"), strict=True):
        said = " ".join(d0ctl(*words).stdout.split())
        assert f"`c/1/1/1` and 1 more package, on whose files {subject} depends, are out" in said
        assert "are out of date: `d0ctl why c/1/1/1`" in said


def test_failed_packages_have_no_results_to_accept(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    (file := tmp_path / "a.yaml").write_text(MAKER)
    d0ctl("submit", str(file))
    site.fail("a/1/1/1")
    file.write_text(MAKER.replace('"true"', '"false"'))

    refused = d0ctl("update", "a/1/1/1", "--accept")

    assert refused.exit_code == 4
    assert "failed packages have no results to accept" in refused.stderr
