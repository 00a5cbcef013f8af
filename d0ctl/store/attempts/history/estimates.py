"""Run times of packages, recorded as they end, and estimates for those that have not begun."""

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from d0ctl.schedule.estimates import Range, Sizes, sizes_of, work_of
from d0ctl.store.attempts.history import earlier_runs
from d0ctl.store.connection import Row, Store

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending

MOST_OF_STAGE = 16
"""The most runs of a stage that are recorded from one batch of messages."""

LEAST_S = 0.001
"""The shortest run time that is recorded."""

WORTH = 0.05
"""A stage is estimated again when the estimate changes by this fraction."""

Samples = Mapping[str, Sequence[float]]
"""The latest runs: the values of each quantity, the oldest first."""

UNNAMED = "-"
"""The job file of a job that was submitted through standard input."""


class Program(NamedTuple):
    """A thing whose runs are recorded: software, a position in a job file, or a stage of a job."""

    kind: str
    name: str


def place_of(source: str, stage: str, package: int, binary: int) -> Program:
    """Return a binary by its position in a job file."""
    return Program("place", json.dumps([source, stage, package, binary], ensure_ascii=False))


def samples(store: Store, program: Program) -> Samples:
    """Return the latest runs of a program."""
    text = store.value("estimate_samples", kind=program.kind, name=program.name)
    return msgspec.json.decode(text) if text else {}


class Histories:
    """The latest runs of programs, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[Program, Samples] = {}

    def of(
        self, source: str, stage: str, package: int, binary: int, software: str | None
    ) -> list[Samples]:
        """Return the histories of a binary, the closest first."""
        programs = [] if source == UNNAMED else [place_of(source, stage, package, binary)]
        programs += [Program("software", software)] if software else []
        for program in programs:
            if program not in self._known:
                self._known[program] = samples(self._store, program)
        return [self._known[program] for program in programs]


def learn(store: Store, ends: Iterable[tuple["Ending", Row]], *, now: float) -> None:
    """Record the use of successful attempts, and estimate the rest of their stages again."""
    by_stage: dict[int, list[int]] = defaultdict(list)
    for end, context in ends:
        is_whole = not context["delivers"] and end.get("began") in (None, 1)
        if end["outcome"] == "successful" and is_whole:
            by_stage[context["stage_id"]].append(end["attempt"])
    if not by_stage:
        return
    wanted = json.dumps([attempt for of in by_stage.values() for attempt in of[-MOST_OF_STAGE:]])
    runs: dict[Program, list[dict[str, float | None]]] = defaultdict(list)
    for row in store.rows("binary_runs", attempts=wanted, now=now):
        run = _run(row, row["runtime"])
        if row["source"] != UNNAMED:
            runs[place_of(row["source"], row["stage"], row["package"], row["binary"])].append(run)
        if row["software"]:
            runs[Program("software", row["software"])].append(run)
    stages: dict[int, int] = {}
    for row in store.rows("package_runs", attempts=wanted, now=now):
        runs[Program("stage", str(row["stage_id"]))].append(_run(row, row["expected"]))
        stages[row["stage_id"]] = row["job_id"]
    known = {program: _keep(store, program, latest, now) for program, latest in runs.items()}
    for stage, job in stages.items():
        of_stage = known[Program("stage", str(stage))]
        _estimate_anew(store, stage, job, of_stage)
        _sizes_anew(store, stage, of_stage)


def _run(row: Row, expected: float | None) -> dict[str, float | None]:
    """Return the quantities of a run."""
    seconds = None if row["seconds"] is None else max(LEAST_S, row["seconds"])
    part = None if not expected or seconds is None else seconds / expected
    work = None if row["disk"] is None else work_of(row["disk"], row["output"] or 0)
    return {"seconds": seconds, "part": part, "rss": row["rss"], "output": row["output"],
            "work": work}  # fmt: skip


def _keep(
    store: Store, program: Program, latest: Sequence[Mapping[str, float | None]], now: float
) -> Samples:
    """Record further runs of a program; return the latest."""
    rounded = [
        {name: None if value is None else float(f"{value:.5g}") for name, value in run.items()}
        for run in latest
    ]
    merged = earlier_runs.merged(samples(store, program), rounded)
    store.change("keep_estimate", kind=program.kind, name=program.name, runs=len(latest), now=now,
                 samples=msgspec.json.encode(merged).decode())  # fmt: skip
    return merged


def _estimate_anew(store: Store, stage: int, job: int, known: Samples) -> None:
    """Record how the runs of a stage compare with the estimate, and the ranks that follow."""
    drift = earlier_runs.mean_of(known.get("part", ()))
    before = store.row("stage_drift", stage=stage)
    if drift is None or before is None:
        return
    pairs = zip((drift.low, drift.middle, drift.high), tuple(before)[:3], strict=True)
    if before["is_timed"] and all(abs(new - old) <= WORTH * old for new, old in pairs):
        return
    store.change("keep_drift", stage=stage, drift=drift.middle, low=drift.low, high=drift.high)
    rank_anew(store, job)


def expect_sizes(store: Store, stage: int, sizes: Sizes) -> None:
    """Record the expected sizes of packages of a stage; d0ctl reserves them for packages without
    requests.
    """
    ranges = {"memory": sizes.memory, "output": sizes.output, "work": sizes.work}
    text = {
        key: [estimate.low, estimate.middle, estimate.high]
        for key, estimate in ranges.items()
        if estimate
    }
    store.change("keep_sizes", stage=stage, sizes=json.dumps(text))
    store.change(
        "expect_sizes", stage=stage, space=sizes.space,
        memory=None if sizes.memory is None else round(sizes.memory.high),
    )  # fmt: skip


def _sizes_anew(store: Store, stage: int, known: Samples) -> None:
    """Correct the expected sizes of packages of a stage by completed ones, if they change much."""
    before = sizes_of(str(store.value("stage_sizes", stage=stage) or "{}"))
    now = Sizes(earlier_runs.of(known.get("rss", ())) or before.memory,
                earlier_runs.of(known.get("output", ())) or before.output,
                earlier_runs.of(known.get("work", ())) or before.work)  # fmt: skip
    pairs = zip((before.memory, before.output, before.work), (now.memory, now.output, now.work),
                strict=True)  # fmt: skip
    if any(_differs(old, new) for old, new in pairs):
        expect_sizes(store, stage, now)


def _differs(before: Range | None, now: Range | None) -> bool:
    if before is None or now is None:
        return before is not now
    return abs(now.high - before.high) > WORTH * before.high


def rank_anew(store: Store, job: int) -> None:
    """Correct the chains of a job, and unmeasured run times, by their drift."""
    drifts = {row["seq"]: row for row in store.rows("stage_drifts", job=job)}
    changes = []
    for row in store.rows("expected_requirements", job=job):
        chain = json.loads(row["chain"])
        rank = sum(seconds * _drift(drifts, int(stage)) for stage, seconds in chain.items())
        own = drifts.get(row["stage"])
        seconds = row["seconds"]
        if row["pace"] is None and own is not None and own["is_timed"]:
            seconds = row["expected"] * own["drift"]
        if (rank, seconds) != (row["rank"], row["seconds"]):
            changes.append((rank if chain else row["rank"], seconds, row["id"]))
    store.change_many("rank_requirement", changes)


def settle_drifts(store: Store, job: int, stages: Container[int], newest: int) -> None:
    """Correct what was expected of packages by the drift of their stages, which begins anew.

    The requirements after `newest` have the present expectations already.
    """
    drifts = {row["seq"]: row for row in store.rows("stage_drifts", job=job)
              if row["seq"] in stages and row["is_timed"]}  # fmt: skip
    changes = []
    for row in store.rows("expected_requirements", job=job) if drifts else ():
        if row["id"] <= newest:
            chain = {stage: seconds * _drift(drifts, int(stage))
                     for stage, seconds in json.loads(row["chain"]).items()}  # fmt: skip
            expected = row["expected"] * _drift(drifts, row["stage"])
            changes.append((expected, json.dumps(chain), row["id"]))
    store.change_many("expect_of_requirement", changes)


def _drift(drifts: Mapping[int, Row], stage: int) -> float:
    return float(drifts[stage]["drift"]) if stage in drifts else 1.0
