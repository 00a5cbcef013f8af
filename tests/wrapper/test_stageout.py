"""Outputs that leave the node: stored by a command, by http, or at a path; whole or not at all."""

import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import wait_until
from tests.support.web import Web, serving
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect

DATA = b"ten bytes\n" * 1000

MAKE = binary(
    script="printf 'ten bytes\\n%.0s' $(seq 1000) > out; echo log > log",
    outputs=[{"name": "out", "min_size": None}, {"name": "log", "min_size": None}],
)


@pytest.fixture
def web() -> Iterator[Web]:
    """An empty web server that takes files."""
    with serving() as web:
        yield web


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A mass storage, which is a folder with a program beside it."""
    folder = tmp_path / "store"
    folder.mkdir()
    program = tmp_path / "xrdcp"
    program.write_text(
        "#!/bin/sh\n"
        f"[ ! -e {tmp_path}/broken ] || {{ echo no space there >&2; exit 51; }}\n"
        f"echo $$ > {tmp_path}/pid\n"
        f"while [ -e {tmp_path}/stuck ]; do sleep 0.05; done\n"
        f'cp "$1" "$(echo "$2" | sed s,root://store,{folder},)"\n'
    )
    program.chmod(0o700)
    return folder


def rules(store: Path, **changes: Any) -> Frame:
    """The site's command for the mass storage."""
    command = f"{store.parent}/xrdcp {{source}} {{dest}}"
    return {"commands": {"root": {"store": command}}, "retry": 0.05, **changes}


def made(*locators: str, **more: Any) -> Frame:
    """What a package says that has its output delivered."""
    deliver = [{"name": "out", "locator": locator} for locator in locators]
    return {"keep": ["out", "log"], "deliver": deliver, "transfer": {"retry": 0.05}, **more}


def run(node: Client, *locators: str, attempt: int = 1, **more: Any) -> Frame:
    """Run a package whose output is delivered, to its end message."""
    return node.run(MAKE, attempt=attempt, **made(*locators, **more))


def test_an_output_is_forwarded_to_a_path(node: Client, tmp_path: Path) -> None:
    target = tmp_path / "far/away/out"

    end = run(node, str(target))

    assert end["outcome"] == "successful", end
    assert end["stored"] == [{"name": "out", "locator": str(target)}]
    assert target.read_bytes() == DATA
    assert list(target.parent.iterdir()) == [target]
    assert {Path(output["path"]).name for output in end["outputs"]} == {"out", "log"}
    assert all(Path(output["path"]).exists() for output in end["outputs"])


def test_a_forwarded_file_has_the_rights_of_the_users_files(node: Client, tmp_path: Path) -> None:
    target = tmp_path / "out"
    run(node, f"file://{target}")

    plain = tmp_path / "plain"
    plain.touch()
    assert target.stat().st_mode == plain.stat().st_mode


def test_an_output_is_stored_by_a_command_of_the_site(node: Client, store: Path) -> None:
    end = run(node, "root://store/out", transfer=rules(store))

    assert end["stored"] == [{"name": "out", "locator": "root://store/out"}], end
    assert (store / "out").read_bytes() == DATA


def test_an_output_is_stored_by_http(node: Client, web: Web) -> None:
    web.failing["/out"] = 1

    end = run(node, f"{web.url}/out")

    assert end["outcome"] == "successful", end
    assert web.files["/out"] == DATA
    assert web.asked["/out"] == 2


def test_an_output_may_have_several_locators(node: Client, store: Path, tmp_path: Path) -> None:
    end = run(node, "root://store/out", str(tmp_path / "out"), transfer=rules(store))

    assert len(end["stored"]) == 2
    assert (store / "out").read_bytes() == (tmp_path / "out").read_bytes() == DATA


def test_an_output_that_cannot_be_stored_is_retained(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken").touch()

    end = run(node, str(tmp_path / "out"), "root://store/out", transfer=rules(store))

    assert (end["outcome"], end["reason"]) == ("failed", "stage-out")
    assert "can't store output `out` at `root://store/out`" in end["detail"]
    assert "exit code 51: no space there" in end["detail"]
    assert [one["locator"] for one in end["stored"]] == [str(tmp_path / "out")]
    assert end["retained"]["stored"] == end["stored"]
    assert {Path(file["path"]).read_text() for file in end["retained"]["files"]} == {
        DATA.decode(), "log\n",
    }  # fmt: skip


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
        "its outputs are not whole; waiting for free CPUs", "running its binaries again",
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


@pytest.mark.parametrize("locator", ["srm://se/out", "/proc/out", "http://127.0.0.1:1/out"])
def test_a_target_that_cannot_be_created_is_a_stage_out_failure(node: Client, locator: str) -> None:
    end = run(node, locator)

    assert end["reason"] == "stage-out"
    assert f"`{locator}`" in end["detail"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_target_is_a_stage_out_failure(node: Client, tmp_path: Path) -> None:
    program = tmp_path / "cp"
    program.write_text('#!/bin/sh\ncat "$1" > /dev/full\n')
    program.chmod(0o700)
    commands = {"commands": {"root": {"store": f"{program} {{source}}"}}, "retry": 0.05}

    end = run(node, "root://store/out", transfer=commands)

    assert end["reason"] == "stage-out"
    assert "o space left" in end["detail"]


def test_a_failed_chain_stores_nothing(node: Client, tmp_path: Path) -> None:
    end = node.run(binary(script="echo > out; exit 3"), **made(str(tmp_path / "out")))

    assert (end["reason"], end["stored"]) == ("exit-code", [])
    assert not (tmp_path / "out").exists()


def test_a_kill_ends_a_running_delivery(node: Client, store: Path, tmp_path: Path) -> None:
    (tmp_path / "stuck").touch()
    node.launch(launch(1, MAKE, **made("root://store/out", transfer=rules(store))))
    wait_until(lambda: (tmp_path / "pid").exists())

    node.send("kill", attempts=[1], grace=1.0)

    end = node.end(1)
    assert (end["outcome"], end["stored"]) == ("killed", [])
    assert not (node.base / "cache/1").exists()


def test_a_kill_with_partial_output_keeps_what_was_to_be_stored(
    node: Client, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "stuck").touch()
    node.launch(launch(1, MAKE, **made("root://store/out", transfer=rules(store))))
    wait_until(lambda: (tmp_path / "pid").exists())

    node.send("kill", attempts=[1], grace=1.0, partial=True)

    end = node.end(1)
    assert (end["outcome"], end["partial"]) == ("killed", True)
    assert {output["name"] for output in end["outputs"]} == {"out", "log"}


def test_partial_output_is_delivered_too(node: Client, tmp_path: Path) -> None:
    wait = binary(
        script="echo some > out; while [ ! -e $D0CTL_COMMAND ]; do sleep 0.05; done",
        outputs=[{"name": "out", "min_size": None}],
    )
    target = tmp_path / "out"
    node.launch(launch(1, wait, **{**made(str(target)), "keep": ["out"]}))
    wait_until(lambda: (node.folder(1) / "work/out").exists())

    node.send("kill", attempts=[1], grace=10.0, partial=True)

    assert node.end(1)["stored"] == [{"name": "out", "locator": str(target)}]
    assert target.read_text() == "some\n"


def test_half_a_copy_of_a_killed_wrapper_is_removed(node: Client, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.mkdir()
    slow = binary(
        script="truncate -s 800M out",
        outputs=[{"name": "out", "min_size": None}],
    )
    node.launch(launch(1, slow, **{**made(str(far / "out")), "keep": ["out"]}))
    wait_until(lambda: list(far.iterdir()), 60)
    wrapper = int((node.folder(1) / "wrapper").read_text().split()[0])

    os.kill(wrapper, 9)

    node.wait("dead")
    wait_until(lambda: not list(far.iterdir()))


def test_checksums_of_what_was_stored_are_those_of_the_output(node: Client, tmp_path: Path) -> None:
    end = run(node, str(tmp_path / "out"))

    (output,) = (one for one in end["outputs"] if one["name"] == "out")
    assert output["checksum"] == "sha256:" + hashlib.sha256(DATA).hexdigest()
