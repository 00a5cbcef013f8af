"""Measure, print one table, write bench.json in the current folder; exit 0 whatever comes out."""

import argparse
import json
import os
import platform
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from tests.bench import (
    beside,
    carrying,
    commands,
    dashboard,
    failures,
    hanging,
    makespan,
    messages,
    peers,
    placement,
    scale,
    soak,
    submission,
    throughput,
    verbs,
    workflow,
    zpeak,
)
from tests.bench.measure import Figure, Options

MEASURES: tuple[tuple[str, Callable[[Options], Iterator[Figure]]], ...] = (
    ("P1", throughput.measure),
    ("P1", peers.measure),
    ("P2", messages.measure),
    ("P3", submission.measure),
    ("P4", placement.measure),
    ("P5", commands.measure),
    ("P6", dashboard.measure),
    ("verbs", verbs.measure),
    ("policy", failures.measure),
    ("P7", beside.measure),
    ("P8", zpeak.measure),
    ("P10", hanging.measure),
    ("P11", workflow.measure),
    ("P12", carrying.measure),
    ("scale", scale.measure),
    ("P13", makespan.measure),
    ("soak", soak.measure),
)

ROW = "{:3} {:44} {:>10} {:3} {:32} {}"


def options() -> Options:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="measure 10^6 packages, too")
    parser.add_argument("--packages", type=int, default=10_000, help="of P1 (default 10,000)")
    parser.add_argument("--soak", type=int, default=100_000, help="of the soak (default 100,000)")
    parser.add_argument("only", nargs="*", metavar="P1", help="measure these budgets only")
    given = parser.parse_args()
    return Options(given.full, given.packages, given.soak, frozenset(given.only))


def figures(asked: Options) -> Iterator[Figure]:
    """All figures, each as soon as it is there; a measure that fails is a figure, too."""
    for name, measure in MEASURES:
        if asked.only and name not in asked.only:
            continue
        try:
            yield from measure(asked)
        except Exception as error:
            yield Figure(name, measure.__module__, None, "", note=f"failed: {error}")


def show(figure: Figure) -> None:
    """Print one row of the table."""
    value = "-" if figure.value is None else f"{figure.value:,.4g}"
    if figure.value is not None and figure.value >= 1000:
        value = f"{figure.value:,.0f}"
    row = ROW.format(figure.id, figure.what, value, figure.unit, figure.budget, figure.note)
    print(row.rstrip(), flush=True)


def main() -> int:
    """Measure, show and keep."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave no sshd behind
    asked = options()
    machine = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "cpus": os.cpu_count(),
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    print(ROW.format("", "measured", "", "", "budget", "").rstrip())
    found = []
    for figure in figures(asked):
        show(figure)
        found.append(figure)
    answer = {"machine": machine, "figures": [asdict(figure) for figure in found]}
    Path("bench.json").write_text(json.dumps(answer, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
