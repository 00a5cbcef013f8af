"""The example job files, as the reader understands them."""

import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.jobfile.reader import read
from d0ctl.jobfile.spec import JobSpec, PackageSpec

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def packages(job: JobSpec) -> list[list[PackageSpec]]:
    """The packages of a job, stage by stage."""
    return [[package for line in stage.lines for package in line.packages] for stage in job.stages]


def test_hello_is_four_greetings_and_a_merge() -> None:
    job = read(EXAMPLES / "hello" / "job.yaml")

    assert job.name == "hello"
    assert [len(stage) for stage in packages(job)] == [4, 1]


def test_zpeak_is_eight_lines_of_four_binaries_then_merge_and_plot() -> None:
    job = read(EXAMPLES / "zpeak" / "job.yaml")
    chain, merge, plot = packages(job)

    assert job.name == "zpeak"
    assert [package.name for package in chain[:3]] == ["generate", "simulate", "reconstruct"]
    assert [binary.name for binary in chain[2].binaries] == ["reconstruct", "recoanalyze"]
    assert [len(chain), len(merge), len(plot)] == [24, 1, 1]
    assert [len(package.binaries) for package in chain] == [1, 1, 2] * 8


def test_zpeak_takes_python_and_the_number_of_events_from_the_command_line() -> None:
    job = read(EXAMPLES / "zpeak" / "job.yaml", {"python": "/opt/python", "events": "10"})
    script = packages(job)[0][0].binaries[0].script

    assert script is not None
    assert script.startswith("/opt/python generate.py")
    assert "--events 10 " in script


def test_every_script_of_zpeak_is_an_input_of_its_binary() -> None:
    stages = packages(read(EXAMPLES / "zpeak" / "job.yaml"))

    for package in itertools.chain.from_iterable(stages):
        for binary in package.binaries:
            name = (binary.script or "").split()[1]
            assert str(EXAMPLES / "zpeak" / name) in [item.file for item in binary.inputs]


@pytest.mark.parametrize("name", ["hello", "merge", "zpeak"])
def test_an_example_has_no_warnings(name: str) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "d0ctl", "validate", "--strict", EXAMPLES / name / "job.yaml"],
        capture_output=True,
        text=True,
    )

    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_demo_of_a_fresh_clone_keeps_its_home_in_the_clone(tmp_path: Path) -> None:
    (tmp_path / "examples" / "zpeak").mkdir(parents=True)
    (tmp_path / "examples" / "demo.sh").write_text((EXAMPLES / "demo.sh").read_text())
    (tmp_path / "examples" / "zpeak" / "job.yaml").write_text(
        "parameters: {python: none}\n"
        "stages: [{lines: [{run: echo peak > peak.txt, outputs: peak.txt}]}]\n"
    )
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    program = tmp_path / ".venv" / "bin" / "d0ctl"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m d0ctl "$@"\n')
    program.chmod(0o755)
    around = {name: value for name, value in os.environ.items() if name != "D0CTL_HOME"}

    shown = subprocess.run(
        ["sh", "examples/demo.sh"], cwd=tmp_path, env=around, capture_output=True, text=True
    )

    assert shown.returncode == 0, shown.stderr
    assert "there is no folder" not in shown.stderr
    assert f"export D0CTL_HOME='{tmp_path}/.demo/home'" in shown.stdout


def test_the_demo_across_nodes_makes_the_folder_of_its_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    described = importlib.util.spec_from_file_location("demo_ssh", EXAMPLES / "demo_ssh.py")
    assert described is not None and described.loader is not None
    demo = importlib.util.module_from_spec(described)
    monkeypatch.setattr(sys, "path", [*sys.path])
    described.loader.exec_module(demo)
    monkeypatch.setattr(demo, "ROOT", tmp_path)

    site = demo.fresh_site()

    assert site.folder == tmp_path / ".demo" / "ssh"
    assert (site.home / "d0ctl.db").exists()
    assert capfd.readouterr().err == "to undo: d0ctl node resume localhost\n"
