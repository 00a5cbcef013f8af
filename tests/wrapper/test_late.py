"""Outputs whose names are known only when they are made."""

from pathlib import Path
from typing import Any

import pytest

from tests.wrapper.client import Client, Frame, binary, launch


def late(pattern: str, **more: Any) -> Frame:
    """A late output."""
    return {"name": pattern, "min_size": None, "late": True, **more}


def run(node: Client, script: str, *outputs: Frame, **more: Any) -> Frame:
    """Run a script with these outputs, all of which are kept."""
    step = binary(script=script, outputs=list(outputs))
    return node.run(step, keep=[output["name"] for output in outputs], **more)


def names(end: Frame) -> dict[str, str | None]:
    """The outputs that an end message tells, with their patterns."""
    return {output["name"]: output["late"] for output in end["outputs"]}


def test_files_that_match_a_late_output_are_reported_with_its_pattern(node: Client) -> None:
    end = run(node, "touch part-1 part-22 other plain; mkdir part-3",
              late("part-*"), {"name": "plain", "min_size": None})  # fmt: skip

    assert names(end) == {"part-1": "part-*", "part-22": "part-*", "plain": None}
    assert all(Path(output["path"]).is_file() for output in end["outputs"])


def test_a_pattern_may_lead_into_folders(node: Client) -> None:
    end = run(node, "mkdir -p a/x b; touch a/x/1.dat a/2.dat b/3.dat 4.dat", late("*/*.dat"))

    assert names(end) == {"a/2.dat": "*/*.dat", "b/3.dat": "*/*.dat"}


def test_inputs_and_other_outputs_do_not_match(node: Client, tmp_path: Path) -> None:
    (tmp_path / "in.dat").touch()
    given = {"name": "in.dat", "path": str(tmp_path / "in.dat"), "size": 0, "required": True}

    end = run(node, "touch all.dat 1.dat 2.dat; ln -s /etc/passwd 3.dat", late("[12].dat"),
              late("*.dat", min_count=0), {"name": "all.dat", "min_size": None},
              inputs=[given])  # fmt: skip

    assert names(end) == {"1.dat": "[12].dat", "2.dat": "[12].dat", "all.dat": None}


@pytest.mark.parametrize(
    ("script", "more", "detail"),
    [
        ("true", {}, "no file matches the late output `part-*`, and no undeclared file was made"),
        ("touch part-1", {"min_count": 2},
         "1 of at least 2 files match the late output `part-*`"),
    ],
)  # fmt: skip
def test_too_few_files_are_a_missing_output(
    node: Client, script: str, more: dict[str, Any], detail: str
) -> None:
    end = run(node, script, late("part-*", **more))

    assert (end["outcome"], end["reason"], end["detail"]) == ("failed", "missing-output", detail)


def test_a_late_output_may_match_no_file_if_declared(node: Client) -> None:
    end = run(node, "true", late("part-*", min_count=0))

    assert (end["outcome"], end["outputs"]) == ("successful", [])


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        (r"touch $'part-\x07'", "has a control character in its name"),
        (r"touch $'part-\xff'", "has a name that is not UTF-8"),
    ],
)
def test_a_late_output_with_an_unusable_name_is_a_failure(
    node: Client, script: str, detail: str
) -> None:
    end = run(node, script, late("part-*"))

    assert end["reason"] == "verification"
    assert detail in end["detail"]


def test_a_file_that_is_too_small_is_a_missing_output(node: Client) -> None:
    end = run(node, "echo x > part-1; touch part-2", late("part-*", min_size=1))

    assert end["detail"] == "output `part-2` has 0 bytes, less than 1"


def test_existing_late_outputs_are_kept_at_a_kill_with_partial_output(node: Client) -> None:
    script = "touch part-1; touch ../on; while true; do sleep 0.1; done"
    step = binary(script=script, outputs=[late("part-*", min_count=5)])
    node.launch(launch(1, step, keep=["part-*"]))
    node.started(1)
    while not (node.folder(1) / "on").exists():
        node.wait("pong", id=node.ping())

    node.send("kill", attempts=[1], grace=0.1, partial=True)
    end = node.end(1)

    assert (names(end), end["partial"]) == ({"part-1": "part-*"}, True)
