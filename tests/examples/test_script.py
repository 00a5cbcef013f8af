"""The example of a merge by a script beside the job file."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import type_in

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "merge"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the job file, with a home of its own."""
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "home"))
    shutil.copytree(EXAMPLE, tmp_path / "merge")
    return tmp_path / "merge" / "script.yaml"


def merged(script: Path) -> object:
    """The result of the merge."""
    results = script.parent.parent / "home" / "results" / "script"
    return json.loads((results / "all.json").read_text())


def test_a_script_adds_up_the_files_of_a_stage(script: Path) -> None:
    checked = type_in("validate", "--strict", str(script))
    done = type_in("run", str(script))

    assert (checked.exit_code, checked.stderr) == (0, "")
    assert done.exit_code == 0, done.output
    assert merged(script) == {"events": 55, "selected": 10}


def test_the_merge_runs_without_a_run_that_failed(script: Path) -> None:
    script.write_text(script.read_text().replace("printf", "[ {run} != 3 ] && printf"))

    done = type_in("run", str(script))

    assert done.exit_code == 0, done.output
    assert merged(script) == {"events": 52, "selected": 9}
