"""The bench judges nothing, but it measures what it says, and leaves no process behind."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.bench import page, zpeak
from tests.bench.bounds import limited, rounds
from tests.bench.measure import process
from tests.bench.peers import rate
from tests.bench.scale import verb
from tests.support.building import production
from tests.support.site import Site
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


def test_a_refused_verb_gives_no_measurement(site: Site) -> None:
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


def test_a_measure_for_which_no_time_is_left_is_not_begun() -> None:
    begun = []

    with pytest.raises(TimeoutError, match="no time was left for it"), limited(-1.0):
        begun.append(1)

    assert begun == []


def test_the_end_of_the_time_is_no_fault_of_a_peer() -> None:
    def forever(count: int) -> float:
        threading.Event().wait(60)
        return count

    def absent(count: int) -> float:
        raise OSError("not on this machine")

    with pytest.raises(TimeoutError), limited(0.05):
        rate(10, forever)
    assert rate(10, absent) == "not on this machine"
    assert rate(10, lambda count: count / 5) == 5


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


def test_the_figures_of_the_page_are_those_of_the_run_that_is_kept() -> None:
    shown = page.PAGE.read_text()

    assert page.FIGURES.exists() == (page.HEAD in shown)
    if page.FIGURES.exists():
        assert page.table(json.loads(page.FIGURES.read_text())) in shown


def test_a_row_of_the_page_has_the_figures_of_its_measure_or_says_that_there_are_none() -> None:
    figures = [
        ("P1", "9 packages over ssh, 2 nodes", 600.4), ("P1", "  CPU a package, all", 2.61),
        ("P1", "  CPU a package, node", 2.0), ("P1", "  CPU a package, control", 0.5),
        ("P1", "  CPU a package, all", 9.0), ("P12", "merge of 400 small files", None),
    ]  # fmt: skip
    machine = {"began": "2026-11-22T20:00:00Z", "commit": "abc", "cpus": 2, "processor": "Z80"}
    answer = {
        "machine": machine,
        "figures": [{"id": id, "what": what, "value": value} for id, what, value in figures],
    }

    first = page.renewed("# Speed\n\n| what | figure |\n", answer)
    again = page.renewed(first.replace("600/s", "999/s"), answer)

    assert "| 600/s, 2.6 ms of CPU each (node 2.0, control host 0.5) |" in first
    assert "a merge on another node | not measured |" in first
    assert "| 2026-11-22, commit abc, 2 CPUs, Z80 |\n\n| what | figure |\n" in first
    assert again == first


def test_binaries_without_any_pause_wait_only_for_slots_and_for_one_another() -> None:
    packages = [(1, 1, 1, 3.0), (1, 2, 2, 2.0), (1, 3, 3, 2.0), (1, 2, 4, 1.0), (2, 4, 5, 1.0)]
    names = ("stage", "line", "package", "ended")
    rows = [{**dict(zip(names, one, strict=True)), "started": 0.0} for one in packages]

    assert zpeak.gapless(rows, 2) == 5.0
    assert zpeak.gapless(rows, 1) == 9.0
    assert zpeak.gapless(rows[:2] + rows[3:], 3) == 4.0
