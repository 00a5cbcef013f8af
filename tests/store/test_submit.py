"""A job's rows on their way in and out: whole or absent, whatever ends the process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.jobfile.spec import InputSpec, JobSpec
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.removal import check_removal, remove_rows, sweep
from d0ctl.store.jobs.submission.submit import submit
from d0ctl_sql import ROWS
from tests.support.homes import faults
from tests.support.jobs import NOW, binary, job, line, package, phases, simple, stage, submitted
from tests.support.site import Site

TABLES = (
    "job",
    "stage",
    "line",
    "package",
    "binary",
    "file",
    "input",
    "requirement",
    "need",
    "purge",
)


def rows(store: Store) -> dict[str, int]:
    """How many rows the tables have that jobs fill."""
    found = {
        table: store.connection.execute(f"select count(*) from {table}").fetchone()[0]
        for table in TABLES
    }
    return {table: n for table, n in found.items() if n}


def chain(name: str = "chain") -> JobSpec:
    """A job with everything that has rows: forward references, outside files, several binaries."""
    return job(
        name,
        stage(simple(inputs=["late", "/outside"], outputs=["end"])),
        stage(
            line(
                package(binary(outputs=["own"]), binary(inputs=["own"], outputs=["late"])),
                simple(outputs=["second"]),
            ),
            simple(inputs=["/outside"], nodes=("here",)),
        ),
    )


class Stop(Exception):
    """What a test raises in the middle of a submission."""


def test_a_submission_shows_its_packages_waiting_or_ready(store: Store) -> None:
    submitted(store, chain())

    assert phases(store) == {
        "chain/1/1/1": "waiting",
        "chain/2/1/1": "ready",
        "chain/2/1/2": "waiting",
        "chain/2/2/1": "ready",
    }
    assert faults(store) == {}


def test_a_submission_that_stops_anywhere_leaves_no_row(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = Store.change
    many = Store.change_many
    for stop_at in range(1, 60):
        left = stop_at

        def count() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Stop

        def counted(self: Store, name: str, /, **words: object) -> int:
            count()
            return change(self, name, **words)

        def counted_many(self: Store, name: str, rows: list[tuple[object, ...]]) -> None:
            count()
            many(self, name, rows)

        monkeypatch.setattr(Store, "change", counted)
        monkeypatch.setattr(Store, "change_many", counted_many)
        try:
            submitted(store, chain())
        except Stop:
            assert rows(store) == {}
        else:
            break
        finally:
            monkeypatch.undo()
    else:
        raise AssertionError("it never came through")
    assert rows(store)["package"] == 4


SUBMIT = """
import os, signal, sys
from pathlib import Path
from d0ctl.config import Home
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.removal import remove_rows
from d0ctl.store.jobs.submission.submit import submit
from tests.store.test_submit import chain
writing, left = Store.writing, int(sys.argv[2])
def counted(self):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return writing(self)
Store.writing = counted
with open_store(Home(Path(sys.argv[1]))) as store:
    if sys.argv[3] == "submit":
        submit(store, chain(), now=1.0, actor="tester")
    else:
        remove_rows(store, int(sys.argv[4]), now=1.0)
"""


def killed_at(home: Home, transaction: int, verb: str, job: int = 0) -> bool:
    """Whether a process that does this was killed before its nth transaction."""
    words = [sys.executable, "-c", SUBMIT, str(home.root), str(transaction), verb, str(job)]
    code = subprocess.run(words, env=os.environ, cwd=Path(__file__).parents[2]).returncode
    assert code in (0, -signal.SIGKILL)
    return code != 0


def test_a_submission_that_is_killed_is_not_seen_and_is_swept(home: Home) -> None:
    for transaction in (2, 4, 7):
        assert killed_at(home, transaction, "submit")
        with open_store(home) as store:
            assert store.rows("job_names") == []
            sweep(store, now=NOW)
            assert rows(store) == {}


def test_a_killed_submission_does_not_keep_its_name(home: Home) -> None:
    assert killed_at(home, 3, "submit")

    with open_store(home) as store:
        assert submit(store, chain(), now=NOW, actor="tester") == "chain"


def test_a_removal_that_is_killed_ends_at_the_next_start(home: Home) -> None:
    for transaction in (2, 3, 4):
        with open_store(home) as store:
            removed = submitted(store, chain())
        assert killed_at(home, transaction, "remove", removed)
        with open_store(home) as store:
            assert store.rows("job_names") == []
            sweep(store, now=NOW)
            assert set(rows(store)) <= {"purge"}


def test_a_name_in_use_is_refused_with_the_next_free_one(store: Store) -> None:
    submitted(store, job("reco"))

    with pytest.raises(Refused, match="`reco` already") as refused:
        submitted(store, job("reco"))

    assert refused.value.hint == "--as reco-001"


def test_a_job_without_a_name_gets_the_next_number(store: Store) -> None:
    names = [submit(store, job("reco", named=False), now=NOW, actor="tester") for _ in range(3)]

    assert names == ["reco-001", "reco-002", "reco-003"]


def test_a_requested_name_overrides_the_one_of_the_file(store: Store) -> None:
    assert submit(store, job("reco"), now=NOW, actor="tester", name="mine") == "mine"


def test_a_file_that_is_read_twice_in_a_package_is_waited_for_once_it_is_there(
    store: Store,
) -> None:
    reading = package(binary(inputs=["a"]), binary(inputs=["a"]))
    submitted(store, job("twice", [reading], [simple(outputs=["a"])]))
    site = Site.of(store, cpus=2)

    site.settle()

    assert set(phases(store).values()) == {"done"}


def test_a_file_of_another_job_is_waited_for(store: Store) -> None:
    submitted(store, job("first", [simple(outputs=["a"])]))
    submitted(store, job("second", [simple(inputs=["first:a"])]))

    assert phases(store) == {"first/1/1/1": "ready", "second/1/1/1": "waiting"}
    Site.of(store, cpus=2).settle()
    assert set(phases(store).values()) == {"done"}


def test_a_file_of_this_job_may_have_a_colon_and_be_made_later(store: Store) -> None:
    submitted(store, job("colons", [simple(inputs=["7:b"])], [simple(outputs=["7:b"])]))

    Site.of(store, cpus=2).settle()

    assert set(phases(store).values()) == {"done"}


def test_a_file_that_another_job_does_not_make_is_refused(store: Store) -> None:
    with pytest.raises(Refused, match="job `first` makes no file `a` any more"):
        submitted(store, job("second", [simple(inputs=["first:a"])]))

    assert rows(store) == {}


def test_a_job_is_not_removed_under_one_that_reads_its_files(store: Store) -> None:
    first = submitted(store, job("first", [simple(outputs=["a"])]))
    second = submitted(store, job("second", [simple(inputs=["first:a"])]))

    with pytest.raises(Refused, match="`second` reads"):
        check_removal(store, first, "first")

    remove_rows(store, second, now=NOW)
    check_removal(store, first, "first")


def test_transfers_of_an_ended_job_are_canceled_with_their_maker(store: Store) -> None:
    first = submitted(store, job("first", [simple(outputs=["a"])]))
    submitted(store, job("second", [simple(inputs=[InputSpec("first:a")])]))

    remove_rows(store, first, now=NOW)

    assert phases(store) == {"second/1/1/1": "canceled"}
    assert faults(store) == {}


def test_a_removal_leaves_nothing_here_and_a_list_of_what_is_on_the_nodes(store: Store) -> None:
    removed = submitted(store, job("one", [simple(outputs=["a"])], [simple(inputs=["a"])]))
    site = Site.of(store, "far", cpus=2)
    site.settle()
    in_transit = store.home.cache / str(removed) / "7"
    in_transit.mkdir(parents=True)

    remove_rows(store, removed, now=NOW)

    assert set(rows(store)) == {"purge"}
    assert not in_transit.parent.exists()
    assert store.connection.execute("select count(*) from event").fetchone()[0] == 0


def test_files_in_transit_of_jobs_that_are_gone_are_swept(store: Store) -> None:
    kept = submitted(store, job("one"))
    for name in (str(kept), "999", "other"):
        (store.home.cache / name).mkdir()

    sweep(store, now=NOW)

    assert {path.name for path in store.home.cache.iterdir()} == {str(kept), "other"}


def test_the_number_of_a_file_is_never_given_twice(store: Store) -> None:
    first = submitted(store, job("one", [simple(outputs=["a"])]))
    before = store.connection.execute("select id from file").fetchone()[0]
    remove_rows(store, first, now=NOW)

    submitted(store, job("two", [simple(outputs=["a"])]))

    assert store.connection.execute("select id from file").fetchone()[0] > before


def test_rows_come_in_many_at_a_time(store: Store) -> None:
    statements: list[str] = []
    store.connection.set_trace_callback(statements.append)

    submitted(store, job("many", [simple(outputs=[f"f{n}"]) for n in range(1_000)]))

    store.connection.set_trace_callback(None)
    inserted = [text for text in statements if "insert into file" in text]
    assert rows(store)["file"] == 1_000
    assert len(inserted) == 1_000 / ROWS


def test_many_outputs_of_a_package_take_few_commits(store: Store) -> None:
    said: list[str] = []
    store.connection.set_trace_callback(said.append)
    submitted(store, job("many", stage(simple(outputs=[f"{n}" for n in range(1000)]))))

    assert 0 < sum(line.lower().startswith("commit") for line in said) < 40
