"""A wrapper that is asked how it stands, and looks into the folder of its attempt."""

import base64
import time
from pathlib import Path

import pytest

from tests.support.waiting import Pid, wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.pythons import found, versions

COUNTS = 'for i in 1 2 3; do echo $i/4 >> "$D0CTL_PROGRESS"; done; echo up; touch ../up; sleep 300'
"""A binary that comes as far as three of four."""


@pytest.fixture
def visitor(node: Client, connect: Connect) -> Client:
    """A person who looks, while another connection holds the node."""
    client = connect(read_only=True)
    client.wait("hello")
    return client


def ask(client: Client, attempt: int = 1) -> Frame:
    """Ask how an attempt stands."""
    client.send("ask", id="a", attempt=attempt)
    return client.wait("status", id="a")


def listing(client: Client, path: str = "", attempt: int = 1) -> Frame:
    """List a folder of an attempt."""
    client.send("list", id="l", attempt=attempt, path=path)
    return client.wait("listing", id="l")


def read(client: Client, path: str, attempt: int | None = 1) -> tuple[bytes, str]:
    """Read a file of an attempt, and say what was wrong."""
    client.send("read", id="r", attempt=attempt, path=path, offset=0, length=100)
    answer = client.wait("data", id="r")
    return base64.b64decode(answer["base64"]), answer["message"]


def run_up(node: Client, script: str = COUNTS, attempt: int = 1) -> None:
    """Start an attempt, and wait until it is as far as it comes."""
    node.launch(launch(attempt, binary(script=script)))
    wait_until(lambda: (node.folder(attempt) / "up").exists())


@pytest.mark.parametrize("by", ["node", "visitor"])
def test_a_wrapper_answers_a_status_request_before_its_next_progress_message(
    node: Client, visitor: Client, by: str
) -> None:
    run_up(node)

    answer = ask({"node": node, "visitor": visitor}[by])

    reply = answer["status"]
    assert (answer["state"], answer["message"]) == ("running", "")
    assert (reply["phase"], reply["binary"]) == ("running", 1)
    assert (reply["done"], reply["total"], reply["percent"], reply["line"]) == (3, 4, 75, "3/4")
    assert reply["processes"] >= 1 and reply["rss"] > 0 and reply["disk_free"] > 0
    assert (
        reply["since"] <= reply["began"] <= reply["last_sign"] <= reply["time"] <= time.time() + 1
    )


def test_each_status_request_gets_a_new_answer(node: Client, visitor: Client) -> None:
    run_up(node)

    times = list[float]()
    for client in (visitor, visitor, node):
        times.append(ask(client)["status"]["time"])
        wait_until(lambda: time.time() > times[-1] + 0.002)  # times are in milliseconds

    assert times[0] < times[1] < times[2]


def test_many_status_requests_at_once_are_all_answered(node: Client, visitor: Client) -> None:
    run_up(node)
    run_up(node, attempt=2)
    names = [(f"{n}", 1 + n % 2) for n in range(20)]

    for name, attempt in names:
        visitor.send("ask", id=name, attempt=attempt)

    for name, attempt in names:
        assert visitor.wait("status", id=name, attempt=attempt)["status"]["phase"] == "running"


def test_a_suspended_attempt_reports_that_it_is_suspended(node: Client, visitor: Client) -> None:
    run_up(node)
    node.send("pause", attempts=[1], grace=0)

    wait_until(lambda: ask(visitor)["status"]["phase"] == "suspended")

    assert ask(visitor)["status"]["why"].startswith("paused on request")


def test_an_attempt_that_is_being_killed_answers_a_status_request(
    node: Client, visitor: Client
) -> None:
    run_up(node, "trap '' TERM; touch ../up; while true; do sleep 0.1; done")
    node.send("kill", attempts=[1], grace=300)
    wait_until(lambda: (node.folder(1) / "kill").exists())

    assert ask(visitor)["status"]["binary"] == 1
    node.send("kill", attempts=[1], grace=0)


def test_an_attempt_that_reads_its_outputs_answers_a_status_request(
    node: Client, visitor: Client
) -> None:
    big = binary(
        script="truncate -s 512M big; touch ../up", outputs=[{"name": "big", "min_size": 0}]
    )
    node.launch(launch(1, big, keep=["big"]))
    wait_until(lambda: (node.folder(1) / "up").exists())

    wait_until(lambda: ask(visitor)["status"]["began"] is None)

    assert not (node.folder(1) / "end").exists()
    assert node.end(1)["outcome"] == "successful"


def test_a_status_request_for_an_attempt_that_is_not_running_is_answered_at_once(
    node: Client, visitor: Client
) -> None:
    node.run(binary("true"))
    run_up(node, attempt=2)
    wrapper = Pid.of(node.started(2))
    assert wrapper
    wrapper.kill(9)
    node.wait("dead")

    assert [ask(visitor, one)["state"] for one in (1, 2, 3)] == ["ended", "dead", "absent"]


def test_a_wrapper_that_does_not_answer_does_not_block_the_relay(
    node: Client, visitor: Client
) -> None:
    run_up(node)
    wrapper = Pid.of(node.started(1))
    assert wrapper
    wrapper.kill(19)
    node.send("ask", id="q", attempt=1)

    node.wait("pong", id=node.ping())
    assert not [frame for frame in node.frames if frame["kind"] == "status"]
    answer = node.wait("status", id="q")

    assert (answer["state"], answer["status"]) == ("running", None)
    assert "did not answer within 5 s" in answer["message"]
    wrapper.kill(18)


def test_the_folder_of_an_attempt_is_listed_with_sizes_and_times(
    node: Client, visitor: Client, tmp_path: Path
) -> None:
    (tmp_path / "raw").write_bytes(b"12345")
    inputs = [{"name": "in.raw", "path": str(tmp_path / "raw"), "size": 5, "required": True}]
    script = "echo out; mkdir d; touch d/x; ln -s nowhere dangling; touch ../up; sleep 300"
    node.launch(launch(1, binary(script=script), inputs=inputs))
    wait_until(lambda: (node.folder(1) / "up").exists())

    top, work = listing(visitor), listing(visitor, "work")

    assert (top["state"], top["type"], top["more"]) == ("running", "folder", False)
    assert {"1.out": 4, "1.err": 0}.items() <= {
        e["name"]: e["size"] for e in top["entries"]
    }.items()
    found = {e["name"]: (e["type"], e["size"], e["target"]) for e in work["entries"]}
    assert found["in.raw"] == ("link", 5, str(tmp_path / "raw"))
    assert found["dangling"] == ("link", None, "nowhere")
    assert found["d"][0] == "folder"
    assert all(abs(e["time"] - time.time()) < 600 for e in work["entries"])


def test_a_file_is_listed_alone_and_a_missing_one_is_an_error(
    node: Client, visitor: Client
) -> None:
    run_up(node)

    assert [(e["name"], e["size"]) for e in listing(visitor, "1.out")["entries"]] == [("1.out", 3)]
    assert listing(visitor, "work/nothing")["message"] == "No such file or directory"
    assert listing(visitor, attempt=9)["state"] == "absent"


def test_a_huge_folder_is_listed_in_part(node: Client, visitor: Client) -> None:
    run_up(node, "mkdir many; cd many; seq 10001 | xargs touch; touch ../../up; sleep 300")

    answer = listing(visitor, "work/many")

    assert (len(answer["entries"]), answer["more"]) == (10_000, True)


OUTSIDE = [
    "..",
    "../2/1.out",
    "/etc/passwd",
    "work/../../2/1.out",
    "out/passwd",
    "next/1.out",
    "lock",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_nothing_outside_the_folder_of_the_attempt_is_shown(
    node: Client, visitor: Client, path: str
) -> None:
    run_up(node)
    run_up(node, attempt=2)
    (node.folder(1) / "out").symlink_to("/etc")
    (node.folder(1) / "next").symlink_to(node.folder(2))
    (node.folder(1) / "lock").symlink_to(node.base / "lock")

    assert read(visitor, path) == (b"", read(visitor, path)[1])
    for answer in (read(visitor, path)[1], listing(visitor, path)["message"]):
        assert "outside of the attempt's folder" in answer
    assert not listing(visitor, path)["entries"]


def test_links_to_inputs_in_the_cache_are_followed(node: Client, visitor: Client) -> None:
    cached = node.base / "cache/in/k/raw"
    cached.parent.mkdir()
    cached.write_bytes(b"12345")
    run_up(node)
    (node.folder(1) / "raw").symlink_to(cached)

    assert read(visitor, "raw") == (b"12345", "")
    assert read(visitor, "1.out") == (b"up\n", "")


def test_a_reader_does_not_see_the_token_of_an_ended_attempt(node: Client, visitor: Client) -> None:
    order = launch(1, binary(script="ln -s end ../mine"))
    node.launch(order)
    end = node.folder(1) / "end"
    wait_until(end.exists)
    token = order["token"].encode()
    assert token in end.read_bytes()

    for path in ("end", "./end", "mine"):
        pieces = []
        for offset in range(0, end.stat().st_size, 37):
            visitor.send("read", id="p", attempt=1, path=path, offset=offset, length=37)
            pieces.append(base64.b64decode(visitor.wait("data", id="p")["base64"]))
        answer = b"".join(pieces)
        assert answer == end.read_bytes().replace(token, b"." * len(token))
        assert token[:20] not in answer


def test_a_pipe_or_a_folder_is_not_read(node: Client, visitor: Client) -> None:
    run_up(node, "mkfifo pipe; touch ../up; sleep 300")

    assert read(visitor, "work/pipe") == (b"", "it is not a file")
    assert read(visitor, "work") == (b"", "it is not a file")


@pytest.mark.parametrize("version", versions())
def test_every_python_answers_lists_and_reads(connect: Connect, version: str) -> None:
    environment = {"LC_ALL": "C"}
    node = connect(found()[version], environment=environment)
    run_up(node, COUNTS.replace("touch ../up", "echo y > größe; touch ../up"))
    visitor = connect(found()[version], environment=environment, read_only=True)

    assert ask(visitor)["status"]["line"] == "3/4"
    assert "größe" in [entry["name"] for entry in listing(visitor, "work")["entries"]]
    assert read(visitor, "work/größe") == (b"y\n", "")
