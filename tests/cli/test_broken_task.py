"""A task that is broken: each screen says so, and what to type."""

from pathlib import Path

import pytest

from d0ctl.store.tasks import state
from tests.cli.conftest import Type
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.tasks import making

NOTE = "task.yaml:5:8: the command is not safe"


@pytest.fixture
def file(site: Site, tmp_path: Path) -> Path:
    """The file of a task that breaks before its first package."""
    file = tmp_path / "demo.yaml"
    file.write_text(making.text())
    number = making.submit(site.store, tmp_path, NOW)
    task = state.task(site.store, number)
    assert task is not None
    with site.store.writing():
        assert state.move(site.store, task, "broken", now=NOW, note=NOTE)
    return file


@pytest.mark.usefixtures("file")
def test_status_counts_it_as_needing_a_person(d0ctl: Type) -> None:
    check, page, one = d0ctl("status", "-q"), d0ctl("status"), d0ctl("status", "-q", "demo")

    why = f"its task is broken: {NOTE}"
    text = f"`demo`: {why}"
    assert (check.exit_code, check.stdout) == (1, f"failures: {text}; no daemon is running\n")
    assert text in page.stdout and "demo  ✘ broken" in page.stdout
    assert d0ctl("status", "demo").stdout.splitlines()[1].startswith("✘ broken")
    assert (one.exit_code, one.stdout) == (1, f"`demo` is broken: 0 of 0 packages done; {why}\n")


def test_an_ended_task_has_one_word_in_all_lists(site: Site, d0ctl: Type) -> None:
    making.submit(site.store, now=NOW, inputs="{seeds: {range: [1, 8]}}")
    making.work(site.store, NOW)
    d0ctl("task", "kill", "demo")
    making.work(site.store, NOW)

    assert "demo  aborted" in d0ctl("task", "list").stdout
    assert "demo  ⊘ aborted" in d0ctl("status").stdout
    assert d0ctl("status", "demo").stdout.splitlines()[1].startswith("⊘ aborted")


@pytest.mark.usefixtures("file")
def test_an_acknowledged_one_needs_nobody(d0ctl: Type) -> None:
    d0ctl("task", "acknowledge", "demo")

    assert d0ctl("status", "-q").exit_code == 0


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("words", ["why demo", "task why demo"])
def test_why_names_the_commands_that_submit_it_again(words: str, d0ctl: Type) -> None:
    said = d0ctl(*words.split()).stdout

    assert "correct its file, then submit it again" in said
    assert "$ d0ctl remove demo\n" in said and "$ d0ctl task submit" in said


def test_the_offered_commands_submit_it_again(file: Path, d0ctl: Type) -> None:
    refused = d0ctl("task", "submit", str(file))
    assert refused.exit_code == 4
    assert "task `demo` already exists, and is broken" in refused.stderr
    assert "d0ctl remove demo, or --as demo-001" in refused.stderr

    assert d0ctl("remove", "demo", "--yes").exit_code == 0
    assert d0ctl("task", "submit", str(file)).exit_code == 0


def test_a_job_of_a_task_takes_no_update_from_a_task_file(file: Path, d0ctl: Type) -> None:
    refused = d0ctl("update", "demo", "--file", str(file))

    assert "the packages of job `demo` are made by its task, not by a job file" in refused.stderr
    assert "d0ctl task why demo" in refused.stderr


@pytest.mark.parametrize("words", ["why demo", "task why demo"])
def test_why_of_an_exhausted_one_names_retry_and_acknowledge(
    words: str, site: Site, d0ctl: Type
) -> None:
    making.submit(site.store, now=NOW, inputs="{seeds: {range: [1, 8]}}",
                  split="{files-per-package: 1, scouts: 2}")  # fmt: skip
    making.work(site.store, NOW)
    for line in (1, 2):
        site.fail(f"demo/1/{line}/1")
    making.work(site.store, NOW)

    said = d0ctl(*words.split()).stdout
    d0ctl("acknowledge", "demo:failed")

    assert "$ d0ctl task retry demo\n" in said
    assert "$ d0ctl task acknowledge demo\n" in said
    assert d0ctl("status", "-q").exit_code == 1
    assert d0ctl("task", "acknowledge", "demo").exit_code == 0
    assert d0ctl("status", "-q").exit_code == 0
    assert "task acknowledge" not in d0ctl(*words.split()).stdout
