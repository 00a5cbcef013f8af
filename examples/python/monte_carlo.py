#!/usr/bin/env python3
"""Construct a Monte Carlo production: one chain per generator and range of events, then a merge.

A job construction program knows one kind of job. This one turns the number of events that a
physicist asks for into packages of a fitting size, gives each its own seed, and keeps the
intermediate files only as long as they are needed. The programs are stand-ins of a few words.

    monte_carlo.py mc001 --events 1000 --generator pythia --generator herwig
    monte_carlo.py mc001 --events 1000 --run
"""

import argparse
import sys

from d0ctl import D0Error, Job

GENERATE = "seq {first} {last} | awk -v seed={seed} '{print $1, (seed * $1) % 97}' > {unit}.gen"
SIMULATE = "awk '{print $1, $2 / 97}' {unit}.gen > {unit}.sim"
RECONSTRUCT = "awk '$2 > 0.5' {unit}.sim > {unit}.reco"
MERGE = "sort -n {inputs} > {generator}.txt"


def production(name: str, generators: list[str], events: int, per_package: int) -> Job:
    """Return the job for a number of events of each generator."""
    job = Job(name, title=f"{events} events of {', '.join(generators)}")
    for generator in generators:
        make = job.stage(generator)
        for seed, first in enumerate(range(1, events + 1, per_package), 1):
            unit = f"{generator}-{seed:04}"
            package = make.line(unit).package(wall_time="1h", memory="500MB")
            values = {"first": first, "last": min(events, first + per_package - 1),
                      "seed": seed, "unit": unit}  # fmt: skip
            package.binary("generate", run=GENERATE, parameters=values, outputs=f"{unit}.gen")
            package.binary("simulate", run=SIMULATE, parameters=values, inputs=f"{unit}.gen",
                           outputs=f"{unit}.sim")  # fmt: skip
            package.binary("reconstruct", run=RECONSTRUCT, parameters=values,
                           inputs=f"{unit}.sim", outputs=f"{unit}.reco")  # fmt: skip
        job.stage(f"merge-{generator}", require="95%").line(
            run=MERGE,
            parameters={"generator": generator},
            inputs={"from": generator, "match": "*.reco"},
            outputs=f"{generator}.txt",
        )
    return job


def main() -> int:
    """Build the job that the command line asks for; print, submit or run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("--events", type=int, default=1000, help="of each generator")
    parser.add_argument("--per-package", type=int, default=250)
    parser.add_argument("--generator", action="append", help="may be repeated")
    parser.add_argument("--submit", action="store_true", help="leave it to the daemon")
    parser.add_argument("--run", action="store_true", help="run it to its end")
    asked = parser.parse_args()
    job = production(asked.name, asked.generator or ["pythia"], asked.events, asked.per_package)
    try:
        if not (asked.submit or asked.run):
            print(job.preview())
            return 0
        submitted = job.submit(reason="by monte_carlo.py")
        if asked.run:
            submitted.run(progress=lambda found: print(dict(found.packages), file=sys.stderr))
        print(submitted.show())
    except D0Error as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
