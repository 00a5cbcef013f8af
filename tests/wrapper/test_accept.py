"""Outputs of an attempt that failed: left for a person, who may accept them."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.wrapper.client import Client, Frame, binary

PARTS = {"name": "part-*", "min_size": None, "late": True, "min_count": 1}

CHAIN = (
    binary(script="echo 1 >> ../../ran; echo a > a", outputs=[{"name": "a", "min_size": None}]),
    binary(
        script="echo 2 >> ../../ran; echo b > b; echo p > part-1; exit 3",
        outputs=[{"name": "b", "min_size": 100}, PARTS],
    ),
)
"""Makes all of its outputs, and then the second binary fails."""

KEEP = ["a", "b", "part-*"]


def ran(node: Client) -> str:
    return "".join((node.base / "attempts" / "ran").read_text().split())


def failed(node: Client, **more: Any) -> Frame:
    """Run the chain to its failure."""
    return node.run(*CHAIN, keep=KEEP, **{"leave": True, **more})


def accepted(node: Client, end: Frame, attempt: int = 2, **more: Any) -> Frame:
    """Run an attempt that takes over what a failed one has left."""
    former = [{"attempt": end["attempt"], "retained": end["retained"]}]
    return node.run(
        *CHAIN, keep=KEEP, attempt=attempt, previous=former, accept=end["attempt"], **more
    )


def test_the_outputs_of_a_binary_that_failed_are_left(node: Client) -> None:
    kept = failed(node)["retained"]

    assert [one["name"] for one in kept["files"]] == ["a"]
    assert [(one["name"], one["late"]) for one in kept["left"]] == [
        ("b", None), ("part-1", "part-*"),
    ]  # fmt: skip
    assert [Path(one["path"]).read_text() for one in kept["left"]] == ["b\n", "p\n"]
    assert not (node.folder(1) / "work").exists()


def test_a_failed_binary_leaves_no_outputs_without_leave(node: Client) -> None:
    assert failed(node, leave=False)["retained"]["left"] == []
    assert sorted(path.name for path in (node.base / "cache" / "1").iterdir()) == ["a"]


def test_accepted_outputs_become_the_outputs_without_a_run(node: Client, tmp_path: Path) -> None:
    first = failed(node)

    deliver = [{"name": "b", "locator": str(tmp_path / "away" / "b")}]
    end = accepted(node, first, deliver=deliver)

    assert (end["outcome"], ran(node)) == ("successful", "12"), end
    outputs = {one["name"]: one for one in end["outputs"]}
    assert sorted(outputs) == ["a", "b", "part-1"]
    assert outputs["part-1"]["late"] == "part-*"
    assert outputs["b"]["checksum"].startswith("sha256:")
    assert (tmp_path / "away" / "b").read_text() == "b\n"


@pytest.mark.parametrize("how", ["removed", "cut", "touched"])
def test_an_accepted_output_that_has_changed_fails_the_attempt(node: Client, how: str) -> None:
    first = failed(node)
    [path] = [Path(one["path"]) for one in first["retained"]["left"] if one["name"] == "b"]
    if how == "removed":
        path.unlink()
    elif how == "cut":
        path.write_text("")
    else:
        os.utime(path)

    end = accepted(node, first)

    assert (end["outcome"], end["reason"], ran(node)) == ("failed", "missing-output", "12")
    assert "output `b` of attempt 1" in end["detail"]


def test_an_accepting_attempt_without_left_outputs_runs_no_binary(node: Client) -> None:
    end = node.run(*CHAIN, keep=KEEP, accept=7)

    assert (end["outcome"], end["reason"]) == ("failed", "missing-output")
    assert not (node.base / "attempts" / "ran").exists()
