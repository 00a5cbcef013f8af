"""The example of directories, catalogues and standard input."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import type_in

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sources"


def test_the_plots_of_the_selected_runs_are_bound_into_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "home"))
    shutil.copytree(EXAMPLE, tmp_path / "sources")

    done = type_in("run", str(tmp_path / "sources" / "job.yaml"))

    assert done.exit_code == 0, done.output
    assert "  book/\n" in done.stdout
    book = tmp_path / "home" / "results" / "sources" / "book"
    assert (book / "all.txt").read_text().splitlines() == [
        f"{name} of run {run} at {energy} GeV in D0 run II"
        for run, energy in (("10", "13.6"), ("8", "13.0"))
        for name in ("mass", "momentum")
    ]
    assert sorted(path.name for path in book.iterdir()) == ["all.txt", "run-10", "run-8"]
