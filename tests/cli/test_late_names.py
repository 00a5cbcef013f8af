"""Packages that have read late outputs, which are made again under other names."""

from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.support.site import Site

TEXT = """\
job: late
stages:
  - {name: gen, lines: [{run: "true", outputs: {file: "x-*", late: yes}}]}
  - {name: merge, lines: [{run: cat, inputs: {from: gen}, outputs: all}]}
"""
READ = "job: read\nstages: [{lines: [{run: cat, inputs: {from: late/gen}, outputs: all}]}]\n"


def finish_with(site: Site, *numbers: int) -> None:
    """Let the maker end with these files, which have the same contents each time."""
    site.launch("late/1/1/1")
    outputs = [{"name": f"x-{n}", "path": f"/tmp/base/cache/9/x-{n}", "size": 1,
                "checksum": f"sha256:0{n}", "late": "x-*"} for n in numbers]  # fmt: skip
    site.end("late/1/1/1", outputs=outputs)


@pytest.mark.parametrize("numbers", [(3, 4), (1,), (1, 2, 3), (1, 2)])
def test_packages_that_have_read_files_of_other_names_are_out_of_date(
    site: Site, d0ctl: Type, tmp_path: Path, numbers: tuple[int, ...]
) -> None:
    for name, text in (("late", TEXT), ("read", READ)):
        (tmp_path / name).write_text(text)
        assert d0ctl("submit", str(tmp_path / name)).exit_code == 0
    finish_with(site, 1, 2)
    site.finish("late/2/1/1")
    site.finish("read/1/1/1")
    assert d0ctl("set-status", "late/1/1/1", "unscheduled").exit_code == 0
    finish_with(site, *numbers)
    is_other = numbers != (1, 2)

    for package in ("late/2/1/1", "read/1/1/1"):
        job = package.partition("/")[0]
        said = "`x-*` has changed since 1 finished package read it"
        pages = [d0ctl("why", job).stdout, d0ctl("results", job).stderr]
        assert all((said in page) == is_other for page in pages)
        if is_other:
            assert "1 package to run again" in d0ctl("update", package, "--again").stdout
            site.finish(package)
        assert "changed since" not in d0ctl("why", job).stdout
    assert faults(site.store) == []
