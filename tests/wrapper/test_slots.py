"""Wrappers that bring their inputs without processors, and get them from their relay in turn."""

from pathlib import Path

from d0ctl_wrapper.relay.attempts.cpus import CpuQueue
from tests.support.waiting import wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.fetching import given

BUSY = "touch ../on; while [ ! -e ../go ]; do sleep 0.02; done"


def go(node: Client, attempt: int) -> None:
    """Let a busy binary end."""
    (node.folder(attempt) / "go").touch()


def is_on(node: Client, attempt: int) -> bool:
    """Tell whether a busy binary runs."""
    return (node.folder(attempt) / "on").exists()


def wait_on(node: Client, attempt: int) -> None:
    """Wait until a busy binary runs."""
    wait_until(lambda: is_on(node, attempt))


def asks(node: Client, attempt: int) -> None:
    """Wait until a wrapper has its inputs and asks for processors."""
    wait_until(lambda: (node.folder(attempt) / "cpu_request").exists())


def status(node: Client, attempt: int) -> Frame:
    """Ask a wrapper for its status."""
    node.send("ask", id=f"ask {attempt}", attempt=attempt)
    answer: Frame = node.wait("status", id=f"ask {attempt}")["status"]
    return answer


def test_inputs_are_fetched_while_another_attempt_has_the_cpu(connect: Connect) -> None:
    node = connect(cpus=1)
    node.launch(launch(1, binary(script=BUSY)))
    node.started(1)

    node.launch(launch(2, binary(script=BUSY), ahead=True))
    asks(node, 2)
    assert not is_on(node, 2)
    go(node, 1)
    node.end(1)

    wait_on(node, 2)
    go(node, 2)
    assert node.end(2)["outcome"] == "successful"
    answer = [one for one in node.messages(2) if one["kind"] in ("start", "state")]
    assert [one["phase"] for one in answer] == ["staging-in", "staging-in", "running"]
    assert answer[1]["why"] == "its inputs are staged; waiting for free CPUs"


def test_an_attempt_runs_from_when_it_has_its_cpus(connect: Connect) -> None:
    node = connect(cpus=1)
    node.launch(launch(1, binary(script=BUSY)))
    node.started(1)
    node.launch(launch(2, binary(script=BUSY), ahead=True))
    asks(node, 2)
    waiting = status(node, 2)
    go(node, 1)
    node.end(1)
    wait_on(node, 2)
    running = status(node, 2)
    go(node, 2)

    end = node.end(2)
    assert (waiting["phase"], waiting["started"]) == ("staging-in", None)
    assert running["wrapper_started"] == end["wrapper_started"] == waiting["wrapper_started"]
    assert running["started"] == end["started"] >= waiting["time"]
    states = [one for one in node.messages(2) if one["kind"] == "state"]
    assert [one["started"] for one in states] == [None, end["started"]]
    first = node.end(1)
    assert first["started"] == first["wrapper_started"], "it had its CPUs from the start"


def test_cpus_are_granted_in_the_order_of_requests(connect: Connect) -> None:
    node = connect(cpus=1)
    node.launch(launch(1, binary(script=BUSY)))
    node.started(1)
    for attempt in (2, 3):
        node.launch(launch(attempt, binary(script=BUSY), ahead=True))
        asks(node, attempt)
        node.wait("pong", id=node.ping())
    node.launch(launch(4, binary(script=BUSY)))

    for before, after in ((1, 2), (2, 3), (3, 4)):
        go(node, before)
        node.end(before)
        wait_on(node, after)
        assert not any(is_on(node, later) for later in range(after + 1, 5))
    go(node, 4)
    node.end(4)


def test_a_new_relay_finds_requests_for_cpus(connect: Connect) -> None:
    first = connect(cpus=1)
    first.launch(launch(1, binary(script=BUSY)))
    first.started(1)
    first.launch(launch(2, binary(script=BUSY), ahead=True))
    asks(first, 2)
    first.close()

    second = connect(cpus=1)
    second.wait("hello")
    second.wait("pong", id=second.ping())
    assert not is_on(second, 2)
    go(second, 1)
    second.end(1)

    wait_on(second, 2)
    go(second, 2)
    second.end(2)


def test_an_attempt_that_waits_for_a_cpu_can_be_killed_and_blocks_no_other(
    connect: Connect,
) -> None:
    node = connect(cpus=1)
    node.launch(launch(1, binary(script=BUSY)))
    node.started(1)
    node.launch(launch(2, binary(script=BUSY), ahead=True))
    asks(node, 2)

    node.send("kill", attempts=[2], grace=1)
    end = node.end(2)
    assert (end["outcome"], end["started"]) == ("killed", None), "it never ran"
    node.launch(launch(3, binary("true")))
    go(node, 1)

    assert node.end(3)["outcome"] == "successful"


def test_an_attempt_that_is_resumed_while_it_fetches_an_input_stages_in_again(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(cpus=1)
    fetch = (
        f"touch {tmp_path}/on; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo > {{dest}}"
    )
    slow = {"commands": {"root": {"fetch": fetch, "store": "false"}}}
    raw = given("root://store/raw")
    node.launch(launch(1, binary("true"), inputs=[raw], transfer=slow))
    wait_until((tmp_path / "on").exists)

    node.send("pause", attempts=[1], grace=5)
    wait_until(lambda: status(node, 1)["phase"] == "suspended")
    node.send("resume", attempts=[1])
    wait_until(lambda: status(node, 1)["phase"] == "staging-in")
    (tmp_path / "go").touch()

    assert node.end(1)["outcome"] == "successful"
    states = [one for one in node.messages(1) if one["kind"] == "state"]
    phases = ["suspended", "staging-in", "staging-in", "running"]
    assert [one["phase"] for one in states] == phases
    assert {one["suspended"] for one in states} == {0.0}, "it did not run yet"


def test_an_attempt_that_cannot_fetch_its_inputs_fails_without_a_cpu(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(cpus=1)
    node.launch(launch(1, binary(script=BUSY)))
    node.started(1)
    absent = {"name": "a", "path": str(tmp_path / "absent"), "size": None, "required": True}

    node.launch(launch(2, binary("true"), inputs=[absent], ahead=True))

    assert node.end(2)["reason"] == "missing-input"
    go(node, 1)
    node.end(1)


def test_the_cpu_is_never_idle_while_a_slow_transfer_is_under_way(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(cpus=1)
    (tmp_path / "far").touch()
    script = tmp_path / "fetch"
    script.write_text(f"while [ ! -e {tmp_path}/tape ]; do sleep 0.05; done; cp $1 $2")
    slow = {"name": "a", "path": None, "size": None, "required": True,
            "locator": f"tape://farm{tmp_path}/far"}  # fmt: skip
    fetch = f"sh {script} {tmp_path}/far {{dest}}"
    node.launch(
        launch(1, binary(script=f"[ -e a ]; {BUSY}"), inputs=[slow],
               transfer={"commands": {"tape": {"fetch": fetch}}})
    )  # fmt: skip
    node.launch(launch(2, binary(script=BUSY)))
    wait_on(node, 2)

    (tmp_path / "tape").touch()
    asks(node, 1)
    assert not is_on(node, 1)
    go(node, 2)
    node.end(2)

    wait_on(node, 1)
    go(node, 1)
    assert node.end(1)["outcome"] == "successful"


def test_a_running_attempt_that_was_dropped_while_it_was_paused_gets_cpus_again() -> None:
    queue = CpuQueue(cpus=1)
    queue.add_running(1, 1.0)
    assert not queue.pause(1)

    assert queue.next(used=0, gpus=0) is None
    assert queue.drop(1)
    queue.add_running(1, 1.0)

    again = queue.next(used=0, gpus=0)
    assert again is not None and again.attempt == 1


def test_attempts_that_use_a_part_of_a_cpu_run_beside_each_other(connect: Connect) -> None:
    node = connect(cpus=1)
    for attempt, cpu in ((1, 50), (2, 20), (3, 30), (4, 10)):
        node.launch(launch(attempt, binary(script=BUSY), cpu=cpu))

    for attempt in (1, 2, 3):
        wait_on(node, attempt)
    assert not is_on(node, 4)
    node.close()
    node = connect(cpus=1)
    node.wait("hello")
    go(node, 2)
    node.end(2)
    node.launch(launch(4, binary(script=BUSY), cpu=10))
    wait_on(node, 4)
    for attempt in (1, 3, 4):
        go(node, attempt)
        node.end(attempt)


def seen(node: Client, attempt: int) -> str:
    """Return the GPUs that a binary sees."""
    return (node.folder(attempt) / "1.out").read_text().strip()


GPU = 'echo "$CUDA_VISIBLE_DEVICES"; ' + BUSY


def test_a_gpu_belongs_to_one_attempt_whichever_relay_starts_it(connect: Connect) -> None:
    first = connect(cpus=8, gpus=2)
    first.launch(launch(1, binary(script=GPU), gpus=1))
    wait_on(first, 1)
    first.close()

    second = connect(cpus=8, gpus=2)
    second.launch(launch(2, binary(script=GPU), gpus=1))
    second.launch(launch(3, binary(script=GPU), gpus=1))
    second.launch(launch(4, binary(script=GPU)))
    for attempt in (2, 4):
        wait_on(second, attempt)
    second.wait("pong", id=second.ping())
    assert not is_on(second, 3)
    assert [seen(second, attempt) for attempt in (1, 2, 4)] == ["0", "1", ""]

    go(second, 1)
    wait_on(second, 3)
    assert seen(second, 3) == "0"
    for attempt in (2, 3, 4):
        go(second, attempt)
        second.end(attempt)


def test_an_attempt_that_needs_more_gpus_than_there_are_is_refused(connect: Connect) -> None:
    node = connect(gpus=1)
    node.launch(launch(1, binary("true"), gpus=2))

    assert node.wait("refused")["message"] == "it needs 2 GPUs, and the node has 1"


def test_the_gpus_of_an_allocation_are_those_that_its_environment_names(connect: Connect) -> None:
    node = connect(environment={"CUDA_VISIBLE_DEVICES": "3,GPU-5f,x y"})

    assert node.wait("hello")["facts"]["gpus"] == 2
    node.launch(launch(1, binary(script=GPU), gpus=2))
    wait_on(node, 1)
    assert seen(node, 1) == "3,GPU-5f"
    go(node, 1)
    node.end(1)
