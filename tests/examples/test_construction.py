"""examples/python: a job construction program."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.homes import equip_nodes, make_home

PROGRAM = Path(__file__).parents[2] / "examples" / "python" / "monte_carlo.py"


def construct(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Type the program in a home of its own."""
    return subprocess.run(
        [sys.executable, PROGRAM, "mc001", "--events", "100", "--per-package", "30", *words],
        env=os.environ | {"D0CTL_HOME": str(folder / "home")}, cwd=folder, capture_output=True,
        text=True,
    )  # fmt: skip


def test_a_production_is_constructed_run_and_merged(tmp_path: Path) -> None:
    equip_nodes(make_home(tmp_path / "home"))
    words = ("--generator", "pythia", "--generator", "herwig")

    shown = construct(tmp_path, *words)
    done = construct(tmp_path, *words, "--run")

    assert shown.stdout == "would submit `mc001`: 4 stages, 10 lines, 10 packages\n"
    assert done.returncode == 0, done.stderr
    for generator in ("pythia", "herwig"):
        merged = tmp_path / "home" / "results" / "mc001" / f"{generator}.txt"
        events = [int(line.split()[0]) for line in merged.read_text().splitlines()]
        assert events == [
            event for event in range(1, 101)
            if ((event - 1) // 30 + 1) * event % 97 / 97 > 0.5
        ]  # fmt: skip


def test_a_name_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    equip_nodes(make_home(tmp_path / "home"))
    construct(tmp_path, "--submit")

    again = construct(tmp_path, "--submit")

    assert again.returncode == 4
    assert again.stderr == "job `mc001` already exists and is submitted\n"
