"""Measure, print one table, write the figures; exit 0 whatever comes out.

All measures write docs/bench.json and the table in docs/speed.md; some of them, `bench.json` in the
current folder. A measure that takes too long is given up, with what it has found so far.
"""

import argparse
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from tests.bench import (
    batch,
    beside,
    carrying,
    commands,
    dashboard,
    direct,
    failures,
    farm,
    hanging,
    makespan,
    messages,
    page,
    placement,
    scale,
    soak,
    submission,
    tasks,
    throughput,
    verbs,
    workflow,
    zpeak,
)
from tests.bench.bounds import adopt_orphans, end_leftovers, limited
from tests.bench.measure import Figure, Options

MEASURES: tuple[tuple[str, Callable[[Options], Iterator[Figure]]], ...] = (
    ("P1", throughput.measure),
    ("P2", messages.measure),
    ("P3", submission.measure),
    ("P3", tasks.measure),
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
    ("P13", farm.measure),
    ("P14", batch.measure),
    ("P14", direct.measure),
    ("soak", soak.measure),
)

ROW = "{:3} {:44} {:>10} {:3} {:32} {}"


def options() -> Options:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--full", action="store_true", help="measure 10^6 packages and P13 on real nodes, too"
    )
    parser.add_argument("--packages", type=int, default=10_000, help="of P1 (default 10,000)")
    parser.add_argument("--soak", type=int, default=40_000, help="of the soak (default 40,000)")
    parser.add_argument("--within", type=float, default=300.0, metavar="SECONDS",
                        help="give a measure up after this time (default 300)")  # fmt: skip
    parser.add_argument("--in-all", type=float, default=1500.0, metavar="SECONDS",
                        help="measure nothing after this time (default 1,500)")  # fmt: skip
    parser.add_argument("only", nargs="*", metavar="P1", help="measure these budgets only")
    given = parser.parse_args()
    return Options(given.full, given.packages, given.soak, frozenset(given.only), given.within,
                   given.in_all)  # fmt: skip


def measured(asked: Options) -> list[Figure]:
    """All figures, each shown as soon as it is there; a measure that fails is a figure, too."""
    found: list[Figure] = []
    until = time.monotonic() + asked.in_all_s

    def take(figure: Figure) -> None:
        show(figure)
        found.append(figure)

    for name, measure in MEASURES:
        if asked.only and name not in asked.only:
            continue
        try:
            with limited(min(asked.within_s, until - time.monotonic())):
                for figure in measure(asked):
                    take(figure)
        except Exception as error:
            take(Figure(name, measure.__module__, None, "", note=f"failed: {error}"))
        finally:
            end_leftovers()
    return found


def show(figure: Figure) -> None:
    """Print one row of the table."""
    value = "-" if figure.value is None else f"{figure.value:,.4g}"
    if figure.value is not None and figure.value >= 1000:
        value = f"{figure.value:,.0f}"
    row = ROW.format(figure.id, figure.what, value, figure.unit, figure.budget, figure.note)
    print(row.rstrip(), flush=True)


def processor() -> str:
    """The name of the processor, as far as the kernel knows it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0].strip() if names else platform.machine()


def commit() -> str:
    """The commit that is measured; with a `+` if files have changed since."""
    words = ["git", "-C", str(page.DOCS), "describe", "--always", "--dirty=+"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def main() -> int:
    """Measure, show and keep."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave no sshd behind
    asked = options()
    machine = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "cpus": os.cpu_count(),
        "processor": processor(),
        "kernel": platform.release(),
        "commit": commit(),
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    print(ROW.format("", "measured", "", "", "budget", "").rstrip())
    adopt_orphans()
    answer = {"machine": machine, "figures": [asdict(figure) for figure in measured(asked)]}
    text = json.dumps(answer, indent=1) + "\n"
    if asked.only:
        Path("bench.json").write_text(text)
    else:
        page.FIGURES.write_text(text)
        page.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
