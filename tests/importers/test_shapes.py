"""Instances of WfCommons are imported, run, and make what they should."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import type_in
from tests.importers.shapes import SHAPES, ancestors, instance
from tests.support.homes import equip_nodes, make_home


@pytest.mark.parametrize("name", SHAPES)
def test_an_instance_of_a_known_shape_runs_and_its_results_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    home = make_home(tmp_path / "home")
    equip_nodes(home)
    monkeypatch.setenv("D0CTL_HOME", str(home.root))
    (tmp_path / "raw.dat").touch()
    source, target = tmp_path / f"{name}.json", tmp_path / f"{name}.yaml"
    source.write_text(json.dumps(instance(name, width=3)))

    done = type_in("import", str(source), "-o", str(target))

    assert (done.exit_code, done.stderr) == (0, "")
    run = type_in("run", str(target))
    assert run.exit_code == 0, run.stderr
    made = {
        file: set((home.results / name / file).read_text().split()) for file in ancestors(name, 3)
    }
    assert made == ancestors(name, 3)
