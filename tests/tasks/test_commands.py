"""Commands on tasks: what each does to the task, its packages and its files."""

from pathlib import Path

import pytest

from d0ctl import actions
from d0ctl.actions.action import NodeName
from d0ctl.agents import round as rounds
from d0ctl.agents import watchdog
from d0ctl.errors import BadUsage, Refused
from d0ctl.store import Store
from d0ctl.store.nodes.site import tasks_in_vain
from d0ctl.store.tasks import state, views
from d0ctl.store.tasks.state import Task
from tests.support.jobs import NOW
from tests.tasks.making import contents, status_of, submit, work


def act(store: Store, name: str, task: str = "demo", **options: object) -> list[str]:
    """Carry an action out; return what is reported."""
    request = actions.request(name, NodeName(task), **options)
    return actions.report(actions.apply(store, request, actor="emmy", note=None, now=NOW))


def known(store: Store, task: int) -> Task:
    """A task as it is."""
    found = state.task(store, task)
    assert found is not None
    return found


def phases(store: Store) -> dict[str, int]:
    """How many packages are in each phase."""
    rows = store.connection.execute("select phase, count(*) from package group by phase")
    return dict(tuple(row) for row in rows)


def end(store: Store, *outcomes: str) -> None:
    """Let ready packages end, the first ones as named, the others successfully."""
    ask = store.connection.execute
    for number, (package,) in enumerate(
        ask("select id from package where phase = 'ready' order by id").fetchall()
    ):
        last = outcomes[number] if number < len(outcomes) else "done"
        for phase in ("assigned", "starting", "running", last):
            ask("update package set phase = ? where id = ?", [phase, package])


@pytest.fixture
def task(store: Store) -> int:
    """A task of eight numbers, two for each of its four packages."""
    number = submit(store, inputs="{seeds: {range: [1, 8]}}", split="{files-per-package: 2}")
    work(store)
    return number


def test_a_paused_task_makes_and_starts_nothing_until_it_is_resumed(
    store: Store, task: int
) -> None:
    assert act(store, "task pause") == ["paused task `demo`"]
    assert views.log(store, task)[-1].note == "paused by emmy"
    assert status_of(store, task) == "paused"
    assert store.connection.execute("select pause from job").fetchone()[0] == 1
    with pytest.raises(Refused, match="is paused, so it can't be paused"):
        act(store, "task pause")

    act(store, "task resume")
    assert status_of(store, task) == "running"
    assert store.connection.execute("select pause from job").fetchone()[0] == 0
    with pytest.raises(Refused, match="is running, not paused"):
        act(store, "task resume")


def test_a_killed_task_is_aborted_when_its_packages_have_ended_and_can_be_retried(
    store: Store, task: int
) -> None:
    assert act(store, "task kill") == ["killed task `demo`, with 4 packages"]
    assert status_of(store, task) == "aborting"
    work(store)
    assert status_of(store, task) == "aborted"
    assert set(contents(store).values()) == {"ready"}

    assert act(store, "task retry") == ["retrying task `demo`: 8 files again"]
    work(store)
    assert phases(store) == {"dropped": 4, "ready": 8}


def test_a_task_that_is_finished_softly_ends_with_the_packages_that_exist(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 200]}}")
    work(store)
    act(store, "task finish")
    work(store)
    assert status_of(store, task) == "finishing"
    made = phases(store)["ready"]

    end(store)
    work(store)
    assert status_of(store, task) == "finished"
    assert phases(store) == {"done": made}


def test_a_task_that_is_finished_hard_kills_its_packages(store: Store, task: int) -> None:
    end(store, *["running"] * 4)
    act(store, "task finish", hard=True)
    assert phases(store) == {"killing": 4}


def test_only_files_that_failed_are_processed_again_by_a_retry(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 4]}}", split="{attempts: 1}")
    work(store)
    end(store, "failed")
    work(store)
    assert status_of(store, task) == "finished"

    assert act(store, "task retry") == ["retrying task `demo`: 1 file again"]
    work(store)
    assert phases(store) == {"done": 3, "dropped": 1, "ready": 1}
    end(store)
    work(store)
    assert status_of(store, task) == "done"
    with pytest.raises(Refused, match="is done: all its files were processed"):
        act(store, "task retry")


@pytest.mark.parametrize("status", ["failed", "broken"])
def test_a_hopeless_task_is_not_retried(store: Store, status: str) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 2]}}", split="{attempts: 1}",
                  run="x > out-{package.index}.txt")  # fmt: skip
    work(store)
    if status == "broken":
        with store.writing():
            state.move(store, known(store, task), "broken", now=NOW)
    if status == "failed":
        end(store, "failed", "failed")
        work(store)
    assert status_of(store, task) == status
    with pytest.raises(Refused, match=f"is {status}, so it can't be retried: "):
        act(store, "task retry")


def test_incexec_processes_what_is_new(store: Store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.raw").write_text(name)
    task = submit(store, tmp_path, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]',
                  more="parameters: {calibration: v1}")  # fmt: skip
    work(store)
    end(store)
    work(store)
    assert status_of(store, task) == "done"

    (tmp_path / "c.raw").write_text("c")
    with pytest.raises(BadUsage, match="no parameter `color`"):
        act(store, "task incexec", parameters={"color": "red"})
    act(store, "task incexec", parameters={"calibration": "v2"})
    work(store)
    assert contents(store) == {"a.raw": "finished", "b.raw": "finished", "c.raw": "picked"}
    assert known(store, task).parameters == {"calibration": "v2"}


def test_a_reassigned_task_runs_on_other_nodes_also_with_packages_made_later(
    store: Store,
) -> None:
    submit(store, inputs="{seeds: {range: [1, 60]}}")
    work(store)
    ask = store.connection.execute
    ask("insert into node (name, cluster_id, kind, cpus) values ('farm', 1, 'ssh', 4)")
    with pytest.raises(BadUsage, match="name the nodes"):
        act(store, "task reassign")
    said = act(store, "task reassign", nodes=("farm",))
    assert said == ["reassigned task `demo` to farm: 50 packages not launched yet, and all to come"]

    end(store)
    work(store)
    found = ask("select distinct nodes from package join requirement on requirement.id ="
                " package.requirement_id where phase = 'ready'").fetchall()  # fmt: skip
    assert [tuple(row) for row in found] == [('["farm"]',)]


def test_scouts_set_the_size_of_the_other_packages(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 100]}}",
                  split="{target-time: 10m, scouts: 4}")  # fmt: skip
    work(store)
    assert (status_of(store, task), phases(store)) == ("scouting", {"ready": 4})

    take_seconds(store, 60.0)
    work(store)
    assert status_of(store, task) == "running"
    assert phases(store) == {"done": 4, "ready": 10}
    said = "4 scouts took 1 min 00 s per file, 5.0 MB of memory, 10 files per package from now on"
    assert views.task(store, "demo").note == said


def test_the_time_of_scouts_that_took_milliseconds_is_not_rounded_to_nothing(store: Store) -> None:
    submit(store, inputs="{seeds: {range: [1, 100]}}", split="{scouts: 4}")
    work(store)
    take_seconds(store, 0.004)
    work(store)

    assert views.task(store, "demo").note == "4 scouts took 4 ms per file, 5.0 MB of memory"


def take_seconds(store: Store, seconds: float) -> None:
    """Let ready packages end successfully after a time."""
    ask = store.connection.execute
    for (package,) in ask("select id from package where phase = 'ready'").fetchall():
        ask("insert into attempt (package_id, number, node_id, node_name, launched, started, ended,"
            " rss)"
            " values (?, 1, 1, 'localhost', 0, 0, ?, 5000000)", [package, seconds])  # fmt: skip
        ask("update package set attempt_id = last_insert_rowid() where id = ?", [package])
    end(store)


def test_a_task_whose_scouts_fail_is_exhausted_with_the_reason(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 100]}}", split="{scouts: 4}")
    work(store)
    end(store, "failed", "failed", "failed")
    work(store)
    assert status_of(store, task) == "exhausted"
    assert views.task(store, "demo").note == "3 of 4 scouts failed"


def test_avalanche_skips_the_scouts(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 100]}}", split="{scouts: 4}")
    work(store)
    act(store, "task avalanche")
    work(store)
    assert (status_of(store, task), phases(store)) == ("running", {"ready": 50})
    with pytest.raises(Refused, match="waits for no scouts"):
        act(store, "task avalanche")


@pytest.mark.parametrize(
    "action, status, packages",
    [
        ("pause", "paused", {"ready": 50}),
        ("finish", "finishing", {"ready": 50}),
        ("kill", "aborted", {"dropped": 50}),
        ("tell", "running", {"ready": 50}),
    ],
)
def test_a_task_that_has_a_status_for_too_long_is_acted_on(
    store: Store, action: str, status: str, packages: dict[str, int]
) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 100]}}",
                  more=f"timeouts: {{running: {{after: 2h, action: {action}}}}}")  # fmt: skip
    work(store)
    rounds.take(store, clock=lambda: NOW + 7199)
    assert status_of(store, task) == "running"

    rounds.take(store, clock=lambda: NOW + 7200)
    rounds.take(store, clock=lambda: NOW + 7201)
    assert (status_of(store, task), phases(store)) == (status, packages)
    notes = [row.note for row in views.log(store, task)]
    assert notes.count("it was running for 2 h 00 min") == 1


def test_a_task_is_not_locked_before_its_time_is_over_or_after_that_was_recorded(
    store: Store,
) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 100]}}", more="timeouts: {running: 2h}")
    work(store)
    assert not watchdog.wants(store, known(store, task), NOW + 7199)
    assert watchdog.wants(store, known(store, task), NOW + 7200)

    rounds.take(store, clock=lambda: NOW + 7200)
    assert not watchdog.wants(store, known(store, task), NOW + 9000)


def test_a_task_that_ended_in_vain_is_acknowledged_until_it_moves_on(store: Store) -> None:
    number = submit(store, inputs="{seeds: {range: [1, 8]}}",
                    split="{files-per-package: 1, scouts: 2}")  # fmt: skip
    work(store)
    end(store, "failed", "failed")
    work(store)
    job = known(store, number).job_id
    assert [(task.job_id, task.status) for task in tasks_in_vain(store)] == [(job, "exhausted")]
    with pytest.raises(Refused, match="task `demo` is not acknowledged"):
        act(store, "task acknowledge", withdraw=True)

    assert act(store, "task acknowledge") == ["acknowledged task `demo`"]

    assert not tasks_in_vain(store)
    assert views.task(store, "demo").acknowledged == "emmy"
    with pytest.raises(Refused, match="task `demo` is acknowledged already"):
        act(store, "task acknowledge")
    assert act(store, "task acknowledge", withdraw=True) == [
        "withdrew the acknowledgement of task `demo`"
    ]
    assert [(task.job_id, task.status) for task in tasks_in_vain(store)] == [(job, "exhausted")]
    act(store, "task acknowledge")
    act(store, "task retry")
    assert views.task(store, "demo").acknowledged is None


def test_only_a_task_that_ended_in_vain_is_acknowledged(store: Store, task: int) -> None:
    with pytest.raises(Refused, match="is running; only tasks that ended in vain"):
        act(store, "task acknowledge")
