"""The bench judges nothing, but it measures what it says, and leaves no process behind."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.bench.bounds import limited, rounds
from tests.bench.measure import process
from tests.bench.scale import verb
from tests.support.building import Site, production
from tests.support.waiting import Pid

ROOT = Path(__file__).parents[1]

INTERRUPTED = """
import os, signal, subprocess, sys
from tests.bench import __main__ as bench

def measure(options):
    subprocess.run(["sh", "-c", "setsid sleep 600 > /dev/null 2>&1 & echo $! > orphan"])
    os.kill(os.getpid(), signal.SIGTERM)
    yield

bench.MEASURES = (("P1", measure),)
sys.argv = ["bench"]
bench.main()
"""
"""A measure whose process outlives its parent, as a wrapper does."""


def test_a_verb_that_is_refused_is_no_figure(site: Site) -> None:
    site.submit(production())

    refused = verb(site.store.home, ("retry", "prod", "--yes"), (0,))
    status = verb(site.store.home, ("status", "prod"), (0,))

    assert (refused.value, refused.note) == (None, "failed: exit code 4")
    assert status.value is not None


def test_a_process_may_end_only_as_expected() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        process([sys.executable, "-c", "raise SystemExit(5)"])

    assert process([sys.executable, "-c", "raise SystemExit(5)"], expected=(5,)).wall > 0


def test_a_measure_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(TimeoutError, match=r"not within 0\.05 s"), limited(0.05):
        threading.Event().wait(60)


def test_there_are_no_more_rounds_than_there_is_time_for() -> None:
    assert list(rounds(3, within_s=60)) == [1, 2, 3]
    assert list(rounds(3, within_s=0)) == [1]


def test_an_interrupted_bench_leaves_no_process_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )

    orphan = int((tmp_path / "orphan").read_text())
    assert "KeyboardInterrupt" in done.stderr
    assert Pid.of(orphan) is None
