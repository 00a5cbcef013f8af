"""Play many schedules and print what was done: `python -m tests.chaos`, or `make chaos`."""

import argparse
import multiprocessing
import os
import secrets
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress

from tests.chaos.plan import SLURM_WEIGHTS, TASK_WEIGHTS, WEIGHTS, calm, schedule
from tests.chaos.play import Outcome, play

ROW = "{:44} {:>8}"


def options() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--schedules", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--seed", type=int, help="of the first; the others follow it")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time (default 2)")
    parser.add_argument("--slurm", action="store_true", help="on a Slurm of their own")
    parser.add_argument("--tasks", action="store_true", help="of a task and its agents")
    return parser.parse_args()


def play_all(first: int, number: int, workers: int, slurm: bool, tasks: bool) -> Iterator[Outcome]:
    """The outcomes, each as soon as it is there; that of an undisturbed run is not among them."""
    outcome = play(calm(slurm, tasks), None)
    if outcome.problems:
        sys.exit(f"even the undisturbed run went wrong: {outcome.problems}\n{outcome.report}")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, os.nice, (10,)) as pool:
        seeds = range(first, first + number)
        runs = [pool.submit(play, schedule(seed, slurm, tasks), outcome.results) for seed in seeds]
        try:
            yield from (run.result() for run in as_completed(runs))
        finally:
            pool.shutdown(cancel_futures=True)


def tell(outcome: Outcome) -> None:
    """Say how a run that went wrong can be seen again."""
    more = " SLURM=yes" if outcome.slurm else " TASKS=yes" if outcome.tasks else ""
    print(f"\nseed {outcome.seed}: make chaos SCHEDULES=1 SEED={outcome.seed}{more}")
    for problem in outcome.problems:
        print(f"  {problem}")
    print(outcome.report, flush=True)


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """What was done altogether."""
    hit = sum((one.hit for one in outcomes), Counter[str]())
    yield ROW.format("schedules", len(outcomes))
    yield ROW.format("  of which something went wrong in", sum(bool(o.problems) for o in outcomes))
    yield ROW.format("faults", sum(hit.values()))
    planned = SLURM_WEIGHTS if any(one.slurm for one in outcomes) else WEIGHTS
    planned = TASK_WEIGHTS if any(one.tasks for one in outcomes) else planned
    for kind in (*planned, *sorted(hit.keys() - planned.keys())):
        yield ROW.format(f"  {kind}", hit[kind])
    yield ROW.format("  that found nothing to hit", sum(o.missed.total() for o in outcomes))
    yield ROW.format("processes that died at their point", sum(o.points for o in outcomes))
    yield ROW.format("daemons started again", sum(o.restarts for o in outcomes))
    yield ROW.format("packages", sum(o.packages for o in outcomes))
    yield ROW.format("attempts", sum(o.attempts for o in outcomes))
    yield ROW.format("packages or files counted twice", sum(o.doubles for o in outcomes))
    yield ROW.format("packages that ran twice at the same time", sum(o.overlaps for o in outcomes))
    yield ROW.format("  allowed: given up out of contact", sum(o.allowed for o in outcomes))


def main() -> int:
    """Play, report and count, also after Ctrl-C; 1 if anything went wrong."""
    asked = options()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    first = secrets.randbelow(10**9) if asked.seed is None else asked.seed
    print(f"schedules {first} to {first + asked.schedules - 1}", flush=True)
    outcomes: list[Outcome] = []
    with suppress(KeyboardInterrupt):
        for outcome in play_all(first, asked.schedules, asked.workers, asked.slurm, asked.tasks):
            outcomes.append(outcome)
            if outcome.problems:
                tell(outcome)
            if len(outcomes) % 20 == 0:
                print(f"{len(outcomes)} schedules", flush=True)
    print(*table(outcomes), sep="\n")
    return int(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
