"""Outputs that leave the node: stored by a command, by http, or at a path; whole or not at all."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.waiting import wait_until
from tests.support.web import Web, serving
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.storing import DATA, MAKE, made, rules, run


@pytest.fixture
def web() -> Iterator[Web]:
    """An empty web server that takes files."""
    with serving() as web:
        yield web


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
    wait_until(lambda: list(far.iterdir()))
    wrapper = int((node.folder(1) / "wrapper").read_text().split()[0])

    os.kill(wrapper, 9)

    node.wait("dead")
    wait_until(lambda: not list(far.iterdir()))


def test_checksums_of_what_was_stored_are_those_of_the_output(node: Client, tmp_path: Path) -> None:
    end = run(node, str(tmp_path / "out"))

    (output,) = (one for one in end["outputs"] if one["name"] == "out")
    assert output["checksum"] == "sha256:" + hashlib.sha256(DATA).hexdigest()
