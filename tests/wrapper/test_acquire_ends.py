"""Transfers that fail, hang, are killed, or wait for one another."""

import os
from pathlib import Path

import pytest

from tests.support.waiting import wait_until
from tests.support.web import Web
from tests.wrapper.client import Client, launch
from tests.wrapper.fetching import READ, given, rules, run


def test_a_server_that_answers_with_an_error_is_tried_again(node: Client, web: Web) -> None:
    web.failing["/raw"] = 1

    assert run(node, given(f"{web.url}/raw"))["outcome"] == "successful"
    assert web.asked["/raw"] == 2


def test_half_a_fetched_file_is_not_used(node: Client, web: Web) -> None:
    web.short.add("/raw")

    end = run(node, given(f"{web.url}/raw"))

    assert end["reason"] == "stage-in"
    assert web.asked["/raw"] == 3
    assert not any((node.base / "cache/in").glob("*/raw"))


def test_a_failing_command_is_quoted(node: Client, tmp_path: Path) -> None:
    program = tmp_path / "xrdcp"
    program.write_text("#!/bin/sh\necho '[FATAL] no such door' >&2\nexit 54\n")
    program.chmod(0o700)

    end = run(node, given("root://store/raw"), transfer=rules(program))

    assert end["reason"] == "stage-in"
    assert "exit code 54: [FATAL] no such door" in end["detail"]


def test_a_command_that_makes_no_file_fails_the_stage_in(node: Client) -> None:
    end = run(node, given("root://store/raw"), transfer=rules(Path("/bin/true")))

    assert end["reason"] == "stage-in"
    assert "nothing arrived" in end["detail"]


def test_a_missing_command_fails_the_stage_in(node: Client) -> None:
    end = run(node, given("root://store/raw"), transfer=rules(Path("/no/such/xrdcp")))

    assert end["reason"] == "stage-in"
    assert "not found" in end["detail"]


@pytest.mark.parametrize("way", ["http", "command"])
def test_a_transfer_without_progress_is_ended(
    node: Client, web: Web, xrdcp: Path, way: str
) -> None:
    web.stuck.add("/raw")
    (xrdcp.parent / "stuck").touch()
    locator = f"{web.url}/raw" if way == "http" else "root://store/raw"

    end = run(node, given(locator), transfer=rules(xrdcp, idle=0.3))

    assert end["reason"] == "stage-in"
    assert "no progress for" in end["detail"]


def test_a_transfer_that_takes_too_long_is_ended(node: Client, xrdcp: Path) -> None:
    (xrdcp.parent / "stuck").touch()

    end = run(node, given("root://store/raw"), transfer=rules(xrdcp, timeout=0.5))

    assert "not done after" in end["detail"]


@pytest.mark.parametrize("partial", [False, True])
def test_a_kill_ends_a_transfer_at_once(node: Client, web: Web, partial: bool) -> None:
    web.stuck.add("/raw")
    node.launch(launch(1, READ, inputs=[given(f"{web.url}/raw")], keep=["out"]))
    wait_until(lambda: (node.folder(1) / "staging/raw").exists())

    node.send("kill", attempts=[1], grace=60.0, partial=partial)

    assert node.end(1)["outcome"] == "killed"
    assert not (node.folder(1) / "staging").exists()


def test_an_attempt_that_waits_for_anothers_fetch_can_be_killed(node: Client, web: Web) -> None:
    web.stuck.add("/raw")
    entry = given(f"{web.url}/raw")
    node.launch(*(launch(n, READ, inputs=[entry]) for n in (1, 2)))
    wait_until(lambda: web.asked["/raw"] == 1)
    wait_until(lambda: (node.folder(2) / "wrapper").exists())

    node.send("kill", attempts=[1, 2], grace=1.0)

    assert {node.end(n)["outcome"] for n in (1, 2)} == {"killed"}


def test_a_waiting_attempt_fetches_a_file_after_the_death_of_the_fetching_one(
    node: Client, web: Web
) -> None:
    web.stuck.add("/raw")
    entry = given(f"{web.url}/raw")
    node.launch(launch(1, READ, inputs=[entry], keep=["out"]))
    wait_until(lambda: web.asked["/raw"] == 1)
    node.launch(launch(2, READ, inputs=[entry], keep=["out"]))
    wait_until(lambda: (node.folder(2) / "wrapper").exists())
    web.stuck.clear()

    os.kill(int((node.folder(1) / "wrapper").read_text().split()[0]), 9)

    node.wait("dead")
    assert node.end(2)["outcome"] == "successful"
    wait_until(lambda: not (node.folder(1) / "staging").exists())
