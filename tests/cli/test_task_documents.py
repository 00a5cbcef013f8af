"""`d0ctl task ... --json`: what each prints, and that it fits its schema, also at the end."""

from pathlib import Path
from typing import Any

from d0ctl.store import Store
from tests.cli.conftest import Type
from tests.support.building import document
from tests.tasks.making import text, work
from tests.tasks.test_commands import act
from tests.tasks.test_merge import end, merging


def printed(d0ctl: Type, *words: str) -> dict[str, Any]:
    """The document that a command prints, which `type_in` compares with its schema."""
    found: dict[str, Any] = document(d0ctl("task", *words, "--json").stdout)
    return found


def test_what_a_task_has_left_is_in_its_document_when_it_has_ended(
    store: Store, d0ctl: Type
) -> None:
    merging(store, split="{attempts: 1}")
    assert printed(d0ctl, "status", "demo")["left"] is None
    end(store)
    work(store)
    end(store, "failed")  # the first of three merges
    work(store)

    found = printed(d0ctl, "status", "demo")
    assert found["status"] == "finished"
    assert found["left"] == {"files": 2, "size": 0, "packages": 0, "left": 0}


def test_a_submission_prints_its_document(d0ctl: Type, tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(text(name="demo"))

    assert printed(d0ctl, "submit", str(path), "--dry-run") == {
        "task": "demo", "datasets": 2, "dry_run": True
    }  # fmt: skip
    assert printed(d0ctl, "submit", str(path)) == {"task": "demo", "datasets": 2}


def test_each_verb_that_reads_tasks_prints_its_document(store: Store, d0ctl: Type) -> None:
    merging(store)
    act(store, "task pause")

    assert [task["status"] for task in printed(d0ctl, "list")["tasks"]] == ["paused"]
    assert printed(d0ctl, "why", "demo")["status"] == "paused"
    assert printed(d0ctl, "why", "demo", "3")["details"]["dataset"] == "seeds"
    last = printed(d0ctl, "history", "demo")["changes"][-1]
    assert (last["old"], last["new"], last["actor"]) == ("running", "paused", "emmy")
