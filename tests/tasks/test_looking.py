"""What people see of tasks: why they wait, in commands and in Python."""

import time
from pathlib import Path

import pytest

import d0ctl
from d0ctl.errors import BadJobFile, NotFound
from d0ctl.show.tasks import task_why
from d0ctl.store import Store
from d0ctl.store.tasks import views
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.tasks.making import submit, text, work


def why(store: Store, task: int) -> list[str]:
    """The answer and the facts."""
    found = task_why.why(store, task, NOW)
    return [found.answer, *found.facts]


def test_a_task_whose_dataset_is_not_there_says_when_it_is_looked_up_again(
    store: Store, tmp_path: Path
) -> None:
    task = submit(store, tmp_path, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]')
    work(store)

    assert why(store, task) == [
        "task `demo` is pending: dataset `raw`: no file matches `*.raw`",
        "no process drives packages and tasks",
        "dataset `raw` is pending: no file matches `*.raw`",
        "the agents look at it again in 10 s",
    ]


def test_a_task_with_enough_packages_says_when_more_are_made(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 100000]}}")
    with store.writing():
        store.connection.execute("update node set cpus = 2, state = 'up'")
    work(store)

    assert "50 packages of it wait for nodes, 0 on nodes" in why(store, task)
    assert "more packages are made when 25 or fewer wait" in why(store, task)


def test_a_task_that_has_made_all_it_may_names_the_rule(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 9]}}", split="{max-packages: 3}")
    work(store)

    assert "its rule `max-packages: 3` is reached" in why(store, task)


def test_a_task_is_submitted_and_shown_in_python(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "demo.yaml"
    file.write_text(text(inputs="{seeds: {range: [1, 3]}}"))

    task = d0ctl.Task.submit(file, home=store.home.root)
    work(store)

    assert task.status == "running"
    assert task.datasets[0].files == {"picked": 3}
    assert task.why().startswith("task `demo` is running: ")
    assert [str(task) for task in d0ctl.tasks(home=store.home.root)] == ["Task('demo')"]


def test_a_task_file_with_faults_is_refused_in_python(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "demo.yaml"
    file.write_text(text(more="gaol: 97%"))

    with pytest.raises(BadJobFile, match="did you mean `goal`"):
        d0ctl.Task.submit(file, home=store.home.root)


def test_a_task_that_does_not_exist_is_named_with_the_nearest_one(store: Store) -> None:
    submit(store)

    with pytest.raises(NotFound, match="there is no task `dmo`"):
        d0ctl.Task("dmo", home=store.home.root).summary  # noqa: B018


def test_a_file_of_a_task_is_found_by_its_name_without_its_folder(
    store: Store, tmp_path: Path
) -> None:
    for folder in ("2025", "2026"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "both.raw").touch()
    (tmp_path / "2026" / "only.raw").touch()
    task = submit(store, tmp_path, inputs="{raw: {glob: '*/*.raw'}}")
    work(store)

    assert views.file(store, task, "only.raw").name == "2026/only.raw"
    with pytest.raises(NotFound, match=r"several files `both\.raw`") as ambiguous:
        views.file(store, task, "both.raw")
    assert "both.raw" in str(ambiguous.value.hint)
    with pytest.raises(NotFound, match=r"no file `nly\.raw`") as missing:
        views.file(store, task, "nly.raw")
    assert missing.value.hint == "d0ctl task status demo"


def test_an_attempt_at_a_file_ended_when_that_of_its_package_did(
    site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.raw").touch()
    task = submit(site.store, tmp_path, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]')
    ended = time.time() - 60
    work(site.store)
    site.launch("demo/1/1/1")
    site.end("demo/1/1/1", started=ended - 3, ended=ended, utc_offset=None)
    work(site.store)

    (attempt,) = views.file(site.store, task, "a.raw").attempts
    assert (attempt["outcome"], attempt["ended"]) == ("finished", ended)
