"""The mail at the end of a task: one, and not each time its queue is empty."""

from pathlib import Path

from d0ctl.show.notifications.mail import headline
from d0ctl.store import Store
from d0ctl.store.nodes import placement
from tests.notify.conftest import Notified, Say
from tests.notify.events import NOW
from tests.tasks.making import status_of, submit, work
from tests.tasks.test_children import end

MAIL = "originator: me@here"


def look(store: Store, notified: Notified) -> list[str]:
    """Let the agents work, end jobs that stand still, and return the notices."""
    work(store, NOW)
    with store.writing():
        placement.end_jobs(store, now=NOW)
    notified.collect(NOW)
    return notified.kinds()


def test_a_task_sends_one_mail_when_it_has_ended(
    store: Store, say: Say, notified: Notified
) -> None:
    say()
    task = submit(store, now=NOW, inputs="{seeds: {range: [1, 120]}}", more=MAIL)
    for _ in range(2):
        assert look(store, notified) == []
        end(store)
        with store.writing():
            placement.end_jobs(store, now=NOW)
        notified.collect(NOW)
        assert notified.kinds() == [], "its queue is empty, but it makes more packages"
    while status_of(store, task) == "running":
        assert notified.kinds() == []
        look(store, notified)
        end(store)

    assert status_of(store, task) == "done"
    assert look(store, notified) == ["ended"]
    assert look(store, notified) == ["ended"]
    (notice,) = notified.waiting()
    assert headline(notice, {}) == "demo: task is done, 120 of 120 files were processed"


def test_a_task_that_broke_before_its_first_package_sends_a_mail(
    store: Store, say: Say, notified: Notified, tmp_path: Path
) -> None:
    say()
    (tmp_path / "files.csv").write_text("file,size\na.raw,many\n")
    task = submit(store, tmp_path, NOW, inputs="{raw: {csv: files.csv}}",
                  more=f"{MAIL}\nmail: when-needed")  # fmt: skip

    assert look(store, notified) == ["ended"]
    assert status_of(store, task) == "broken"
    text = headline(notified.waiting()[0], {})
    assert text.startswith("demo: task is broken, dataset `raw`: row 1 has `many`")
