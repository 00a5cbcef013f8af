"""Scouts of files that are split into ranges of events."""

from pathlib import Path

from d0ctl.store import Store
from d0ctl.store.tasks import views
from tests.tasks.making import status_of, submit, work
from tests.tasks.test_commands import phases, take_seconds
from tests.tasks.test_merge import finish


def test_scouts_set_the_number_of_events_of_the_other_packages(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "files.csv").write_text("file,events\nx:a,1000\nx:b,30\nx:c,50\n")
    task = submit(store, tmp_path, inputs="{raw: {csv: files.csv}}",
                  split="{events-per-package: 10, target-time: 10m, scouts: 4}")  # fmt: skip
    work(store)
    assert phases(store) == {"ready": 4}
    take_seconds(store, 60.0)  # 6 s for each event
    work(store)

    said = views.task(store, "demo").note
    assert said is not None
    assert said.endswith("100 events per package from now on")
    rows = store.connection.execute("select first, last from event_range order by first").fetchall()
    assert [tuple(row) for row in rows[4:]] == [
        *((first, first + 99) for first in range(41, 941, 100)), (941, 1000),
    ]  # fmt: skip
    assert phases(store) == {"done": 4, "ready": 11}  # one has both small files
    finish(store)
    assert status_of(store, task) == "done"
