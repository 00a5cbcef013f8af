"""Outputs that were not all stored: only the rest is delivered again."""

import os
import signal
from pathlib import Path
from typing import Any

from tests.support.waiting import wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.storing import DATA, MAKE, made, rules


def ran(node: Client) -> int:
    """How often the binary has run, by its own journal."""
    return len((node.base / "attempts" / "ran").read_text())


COUNTED = {**MAKE, "script": f"printf x >> ../../ran; {MAKE['script']}"}


def again(node: Client, end: Frame, attempt: int, *locators: str, **more: Any) -> Frame:
    """Run the next attempt at a package, which knows of the one before."""
    former = [{"attempt": end["attempt"], "retained": end["retained"]}]
    return node.run(COUNTED, attempt=attempt, previous=former, **made(*locators, **more))


def test_after_a_failed_stage_out_only_the_rest_is_delivered(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken").touch()
    places = (str(tmp_path / "out"), "root://store/out")
    first = node.run(COUNTED, **made(*places, transfer=rules(store)))
    assert first["reason"] == "stage-out"
    (tmp_path / "out").unlink()

    second = again(node, first, 2, *places, transfer=rules(store))
    assert second["reason"] == "stage-out"
    (tmp_path / "broken").unlink()
    third = again(node, second, 3, *places, transfer=rules(store))

    assert (third["outcome"], third["began"], third["binaries"]) == ("successful", 2, [])
    assert ran(node) == 1
    assert (store / "out").read_bytes() == DATA
    assert third["stored"] == [{"name": "out", "locator": place} for place in places]
    assert not (tmp_path / "out").exists(), "what has arrived is not stored again"
    assert all(Path(output["path"]).exists() for output in third["outputs"])


def test_the_copies_that_wait_for_a_stage_out_take_the_space_of_one(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken").touch()
    end = node.run(COUNTED, **made("root://store/out", transfer=rules(store)))
    for attempt in (2, 3):
        end = again(node, end, attempt, "root://store/out", transfer=rules(store))

    copies = [node.base / "cache" / str(attempt) / "out" for attempt in (1, 2, 3)]
    assert len({copy.stat().st_ino for copy in copies}) == 1
    assert ran(node) == 1


def test_late_outputs_are_stored_without_another_run(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken").touch()
    parts = {"name": "part-*", "min_size": None, "late": True, "min_count": 2}
    script = f"{COUNTED['script']}; echo 1 > part-1; echo 2 > part-2"
    described = {**COUNTED, "script": script, "outputs": [*MAKE["outputs"], parts]}
    wanted = {**made("root://store/out", transfer=rules(store)), "keep": ["out", "log", "part-*"]}
    first = node.run(described, **wanted)
    (tmp_path / "broken").unlink()

    former = [{"attempt": 1, "retained": first["retained"]}]
    second = node.run(described, attempt=2, previous=former, **wanted)

    assert (second["outcome"], ran(node)) == ("successful", 1), second
    late = {one["name"]: one.get("late") for one in second["outputs"]}
    assert late == {"out": None, "log": None, "part-1": "part-*", "part-2": "part-*"}


def test_a_wrapper_killed_while_it_stores_leaves_finished_outputs(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "stuck").touch()
    node.launch(launch(1, COUNTED, **made("root://store/out", transfer=rules(store))))
    wrapper = node.started(1)
    wait_until(lambda: (tmp_path / "pid").exists())
    os.kill(wrapper, signal.SIGKILL)
    node.wait("dead")
    (tmp_path / "stuck").unlink()

    more = made("root://store/out", transfer=rules(store))
    end = node.run(COUNTED, attempt=2, previous=[{"attempt": 1}], **more)

    assert (end["outcome"], ran(node)) == ("successful", 1), end
    assert (store / "out").read_bytes() == DATA


def test_changed_outputs_are_made_again_before_a_delivery(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken").touch()
    first = node.run(COUNTED, **made("root://store/out", transfer=rules(store)))
    (tmp_path / "broken").unlink()
    Path(first["retained"]["files"][0]["path"]).write_text("spoilt")

    second = again(node, first, 2, "root://store/out", transfer=rules(store))

    assert (second["outcome"], ran(node)) == ("successful", 2)
    assert (store / "out").read_bytes() == DATA


def test_a_delivery_needs_no_cpu(connect: Connect, store: Path, tmp_path: Path) -> None:
    node = connect(cpus=1)
    (tmp_path / "broken").touch()
    first = node.run(COUNTED, **made("root://store/out", transfer=rules(store)))
    (tmp_path / "broken").unlink()
    node.launch(launch(2, binary(script="while [ ! -e ../go ]; do sleep 0.02; done")))
    node.started(2)

    third = again(node, first, 3, "root://store/out", transfer=rules(store), delivers=True)

    assert (third["outcome"], third["binaries"], ran(node)) == ("successful", [], 1)
    assert (store / "out").read_bytes() == DATA
    (node.folder(2) / "go").touch()
    node.end(2)


def test_a_delivery_waits_for_a_cpu_when_the_outputs_have_to_be_made_again(
    connect: Connect, store: Path, tmp_path: Path
) -> None:
    node = connect(cpus=1)
    (tmp_path / "broken").touch()
    first = node.run(COUNTED, **made("root://store/out", transfer=rules(store)))
    (tmp_path / "broken").unlink()
    Path(first["retained"]["files"][0]["path"]).write_text("spoilt")
    node.launch(launch(2, binary(script="while [ ! -e ../go ]; do sleep 0.02; done")))
    node.started(2)

    former = [{"attempt": 1, "retained": first["retained"]}]
    more = made("root://store/out", transfer=rules(store))
    node.launch(launch(3, COUNTED, previous=former, delivers=True, **more))
    wait_until(lambda: (node.folder(3) / "cpu_request").exists())
    assert ran(node) == 1
    (node.folder(2) / "go").touch()

    assert node.end(3)["outcome"] == "successful"
    assert ran(node) == 2
    answer = [one["why"] for one in node.messages(3) if one["kind"] == "state"]
    assert answer == [
        "its outputs are incomplete; waiting for free CPUs", "running its binaries again",
    ]  # fmt: skip


def test_a_kill_while_outputs_are_stored_leaves_nothing_of_the_attempt(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "stuck").touch()
    node.launch(launch(1, COUNTED, **made("root://store/out", transfer=rules(store))))
    node.started(1)
    wait_until(lambda: (tmp_path / "pid").exists())

    node.send("kill", attempts=[1], grace=5)

    end = node.end(1)
    assert (end["outcome"], end["retained"]) == ("killed", None)
    assert not (node.base / "cache" / "1").exists()
