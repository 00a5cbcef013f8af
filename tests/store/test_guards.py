"""The guards sent to wrappers, the usual run times of programs, and files that may be purged."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl.jobfile.spec import Acquire, Disposition, InputSpec, OutputSpec
from d0ctl.model import Address
from d0ctl.policy.guards import FEWEST_RUNS, RunTimeHistory, Watching, silence
from d0ctl.sitefile.spec import SoftwareEntry
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching.launches import Launch, launch
from d0ctl.store.clusters.site_changes import keep_software
from d0ctl.store.files import copies
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.jobs.removal import remove_rows
from d0ctl.store.nodes import registry
from d0ctl_wrapper.attempt.guards.load_guard import ForeignWork, Thrashing
from d0ctl_wrapper.protocol.launch import check
from tests.support.jobs import NOW, binary, job, package, simple, stage, submitted
from tests.support.messages import end_message, output
from tests.support.site import Site
from tests.support.site_file import apply_site

MUCH = 10**9


def begin(store: Store) -> Launch:
    """Schedule and launch, and give the last launch, as a wrapper reads it."""
    Site.of(store, cpus=1).schedule()
    with store.writing():
        return check(launch(store, [1], limit=100, now=NOW)[1][-1])


def end(store: Store, attempt: int, gap: float, outcome: str = "successful") -> None:
    """Report the end of an attempt whose binary was silent for this time."""
    reason = None if outcome == "successful" else "exit-code"
    answer = end_message(attempt, outcome, reason)
    answer["binaries"][0]["gap"] = gap
    with store.writing():
        messages.apply(store, [answer], now=NOW)


@pytest.mark.parametrize(
    ("asked", "site", "history", "limit"),
    [
        (None, None, None, None),
        (None, 3600.0, None, 3600.0),
        (60.0, 3600.0, RunTimeHistory(500, 1000.0), 60.0),
        (None, None, RunTimeHistory(500, 60.0), 1800.0),
        (None, None, RunTimeHistory(500, 1000.0), 5000.0),
        (None, 600.0, RunTimeHistory(500, 60.0), 600.0),
        (None, 600.0, RunTimeHistory(500, 1000.0), 5000.0),
        (None, None, RunTimeHistory(FEWEST_RUNS - 1, 60.0), None),
        (None, 600.0, RunTimeHistory(FEWEST_RUNS - 1, 1000.0), 600.0),
    ],
)
def test_the_limit_of_silence_is_that_of_the_job_or_the_history_or_the_site(
    asked: float | None, site: float | None, history: RunTimeHistory | None, limit: float | None
) -> None:
    watching = Watching(looping=site, reserve=0, patience=0.0, swap=None, yield_cpu=None)
    assert silence(asked, watching, history) == limit


def test_a_launch_has_the_limits_of_its_package(store: Store) -> None:
    limits: dict[str, Any] = {"wall_time": 100.0, "looping": 60.0, "memory": 5000, "disk": 7000}
    submitted(store, job("limited", stage(package(binary(work_size=300), **limits))))

    answer = begin(store)

    assert answer["guards"] == {
        "wall_time": 100.0,
        "memory": 5000,
        "disk": 7000,
        "reserve": 200_000_000,
        "patience": 1800.0,
        "swap": None,
        "yield_cpu": None,
        "window": 5.0,
        "grace": 10.0,
    }
    assert answer["binaries"][0]["looping"] == 60.0
    assert answer["binaries"][0]["work_size"] == 300
    assert answer["binaries"][0]["run_time_history"] is None


def test_a_launch_without_limits_has_only_those_of_the_site(store: Store) -> None:
    submitted(store, job("free"))

    answer = begin(store)

    assert answer["guards"]["wall_time"] is answer["guards"]["memory"] is None
    assert answer["binaries"][0]["looping"] is None


@pytest.mark.parametrize(("most", "pauses"), [("1MB", True), ("9000TB", False)])
def test_a_launch_pauses_when_its_node_swaps_more_than_the_site_says(
    store: Store, tmp_path: Path, most: str, pauses: bool
) -> None:
    apply_site(store, defaults={"swap": most})
    submitted(store, job("free"))
    swapped = tmp_path / "vmstat"
    swapped.write_text("pswpin 0\npswpout 0\noom_kill 0\n")

    judge = Thrashing(begin(store)["guards"]["swap"], 0.0, vmstat=bytes(swapped))
    swapped.write_text("pswpin 1000000\npswpout 1000000\noom_kill 0\n")
    verdict = judge()

    assert verdict is not None and verdict.pauses is pauses


@pytest.mark.parametrize(("most", "pauses"), [("5%", True), ("70%", None)])
def test_a_launch_pauses_when_other_work_takes_more_than_the_site_says(
    store: Store, tmp_path: Path, most: str, pauses: bool | None
) -> None:
    apply_site(store, defaults={"yield-cpu": most})
    submitted(store, job("soft"))
    times = tmp_path / "stat"
    times.write_text("cpu  0 0 0 0 0 0 0 0 0 0\n")

    judge = ForeignWork(begin(store)["guards"]["yield_cpu"], 1, 0.0, stat=bytes(times))
    times.write_text("cpu  60 40 0 0 0 0 0 0 0 0\n")
    verdict = judge()

    assert verdict is not None and verdict.pauses is pauses


def test_gaps_of_successful_runs_are_the_history_of_later_ones(store: Store) -> None:
    submitted(store, job("history", stage(*[simple() for _ in range(FEWEST_RUNS + 2)])))
    for gap in range(FEWEST_RUNS):
        end(store, begin(store)["attempt"], 500.0 + gap)
    end(store, begin(store)["attempt"], 9999.0, "failed")

    answer = begin(store)

    assert answer["binaries"][0]["run_time_history"] == {"runs": FEWEST_RUNS, "gap": 509.0}
    assert answer["binaries"][0]["looping"] == 5 * 509.0


def test_a_program_of_the_catalogue_has_one_history_in_all_jobs(store: Store) -> None:
    known = {"software": "reco/v12-01"}
    with store.writing():
        entry = SoftwareEntry("reco", "v12-01", "", script="reco", parameters={})
        keep_software(store, entry, applied=False)
    lines = [package(binary(**known)) for _ in range(FEWEST_RUNS)]
    submitted(store, job("first", stage(*lines)))
    for _ in range(FEWEST_RUNS):
        end(store, begin(store)["attempt"], 700.0)
    submitted(store, job("second", stage(package(binary(), binary(**known)))))

    answer = begin(store)

    assert [binary["looping"] for binary in answer["binaries"]] == [None, 3500.0]


def test_the_history_of_runs_goes_with_their_job(store: Store) -> None:
    number = submitted(store, job("gone"))
    end(store, begin(store)["attempt"], 700.0)
    assert [
        tuple(row) for row in store.connection.execute("select runs, gap from run_time_history")
    ] == [(1, 700.0)]

    remove_rows(store, number, now=NOW)

    assert store.connection.execute("select count(*) from run_time_history").fetchone()[0] == 0


def test_an_end_reported_twice_is_one_run(store: Store) -> None:
    submitted(store, job("twice"))
    attempt = begin(store)["attempt"]

    end(store, attempt, 7.0)
    end(store, attempt, 7.0)

    assert store.connection.execute("select runs from run_time_history").fetchone()[0] == 1


def test_a_node_that_is_short_of_disk_is_noted_with_the_most_that_is_asked(store: Store) -> None:
    submitted(store, job("short"))
    attempt = begin(store)["attempt"]
    needs: list[Any] = [
        {"attempt": attempt, "kind": "need", "seq": n, "time": NOW, "bytes": 100 * n, "why": "x"}
        for n in (1, 3, 2)
    ]

    with store.writing():
        applied = messages.apply(store, needs, now=NOW)
        stranger = messages.apply(store, [needs[0] | {"attempt": 99}], now=NOW)

    assert applied.needs == {1: 300}
    assert (stranger.needs, stranger.unknown) == ({}, {99})


def made(store: Store, *lines: Any) -> Site:
    """A world in which all that can run has run."""
    submitted(store, job("files", *(stage(line) for line in lines)))
    world = Site.of(store, cpus=2)
    world.settle()
    return world


def kept(name: str, *dispositions: Disposition) -> OutputSpec:
    """An output of which this becomes."""
    return OutputSpec(file=name, dispositions=frozenset(dispositions or {Disposition.RETAIN_TEMP}))


def purge(store: Store, size: int = MUCH, node: int = 1) -> list[str]:
    """Make room on a node; the names of what goes."""
    with store.writing():
        gone = unneeded_files.make_space(store, node, size, now=NOW)
    return [path.rpartition("/")[2] for path in gone]


def purged(store: Store) -> list[str]:
    """The names of what is to be removed on nodes."""
    rows = store.connection.execute("select path from purge order by id")
    return [row["path"].rpartition("/")[2] for row in rows]


def test_a_file_that_may_still_be_read_stays(store: Store) -> None:
    raw = simple(outputs=[kept("raw")])
    made(store, raw, simple(inputs=["raw"]), simple(inputs=["raw"], nodes=("nowhere",)))

    assert purge(store) == []


@pytest.mark.parametrize("phase", ["failed", "canceled", "held", "running"])
def test_inputs_of_a_possible_retry_stay(store: Store, phase: str) -> None:
    made(store, simple(outputs=[kept("raw")]), simple(inputs=["raw"], nodes=("nowhere",)))
    way = {"failed": ["assigned", "starting", "running"], "running": ["assigned", "starting"]}
    with store.writing():
        for step in [*way.get(phase, []), phase]:
            store.connection.execute(
                "update package set phase = ? where phase not in ('done')", [step]
            )

    assert purge(store) == []


def test_files_to_be_retained_stay(store: Store) -> None:
    reads = InputSpec(
        file="wanted", made=True, acquire=Acquire.NONE, disposition=Disposition.RETAIN_INDEF
    )
    outputs = [kept("kept", Disposition.RETAIN_INDEF), kept("raw"), kept("wanted")]
    made(store, simple(outputs=outputs), simple(inputs=["kept", "raw", reads]))

    assert purge(store) == ["raw"]


def test_files_purged_for_space_are_no_longer_present(store: Store) -> None:
    made(store, simple(outputs=[kept("raw")]), simple(inputs=["raw"], outputs=["cooked"]))

    assert purge(store) == ["raw"]

    assert "raw" in purged(store)
    present = store.connection.execute("select present from file where name = 'raw'").fetchone()[0]
    assert present == 0


def test_a_result_stays_until_it_is_delivered(store: Store) -> None:
    temp = frozenset({Disposition.RETAIN_TEMP})
    whole = OutputSpec(file="all.root", result=True, dispositions=temp)
    submitted(store, job("result", stage(simple(outputs=[whole]))))
    attempt = begin(store)["attempt"]
    base = store.row("node_by_id", node=1)["base"]  # type: ignore[index]
    end_of_it = end_message(attempt, outputs=[output(f"{base}/cache/{attempt}", "all.root")])
    with store.writing():
        messages.apply(store, [end_of_it], now=NOW)

    assert purge(store) == []
    number = store.connection.execute("select id from file").fetchone()[0]
    with store.writing():
        arrival = copies.Arrival(number, 1, 1, "/r", None, 7, "sha256:" + "7" * 64)
        copies.arrive(store, [arrival], now=NOW)

    assert purge(store) == ["all.root"]


def test_no_more_is_purged_than_is_needed(store: Store) -> None:
    raws = [f"raw{n}" for n in range(5)]
    made(store, simple(outputs=[kept(raw) for raw in raws]), simple(inputs=raws))

    gone = purge(store, size=8)

    assert len(gone) == 2
    assert purged(store) == gone


def test_copies_on_other_nodes_stay(store: Store) -> None:
    other = registry.add(store, Address("farm", "ssh", "farm"), cpus=2)
    made(store, simple(outputs=[kept("raw")]), simple(inputs=["raw"]))

    assert purge(store, node=other) == []
