"""Pausing and early ends: by the command file where a binary watches it, by signals else."""

from pathlib import Path

from d0ctl_wrapper.host import process
from tests.support.waiting import wait_until
from tests.wrapper.client import Client, Frame, binary, launch

WATCHES = """
while true; do
  case "$(head -n 1 "$D0CTL_COMMAND" 2>/dev/null)" in
    pause) [ -e asked ] || { touch asked; echo "paused at event 7" >> "$D0CTL_COMMAND"; } ;;
    terminate) echo "ended at event 9" >> "$D0CTL_COMMAND"; echo 9 > made; exit 0 ;;
    *) rm -f asked; echo x >> ../ticks ;;
  esac
  sleep 0.05
done
"""
"""A binary that looks at its command file."""

DEAF = "echo 1 > made; while true; do echo x >> ../ticks; sleep 0.05; done"
"""A binary that does not."""


def state(node: Client, phase: str, attempt: int = 1) -> Frame:
    """The latest state message of an attempt with this phase, once there is one."""

    def said() -> list[Frame]:
        node.wait("pong", id=node.ping())
        answer = [m for m in node.messages(attempt) if m["kind"] == "state"]
        return [one for one in answer[-1:] if one["phase"] == phase]

    wait_until(lambda: bool(said()), what=f"attempt {attempt} is {phase}")
    return said()[0]


def ticking(node: Client, attempt: int = 1) -> None:
    """Wait until a binary has gone on by a step."""
    path = node.folder(attempt) / "ticks"
    before = _size(path)
    wait_until(lambda: _size(path) > before)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _states(pid: int) -> set[str]:
    paths = [Path(f"/proc/{child}/stat") for child in process.below(pid)]
    return {path.read_text().rpartition(")")[2].split()[0] for path in paths}


def test_a_binary_that_watches_its_command_file_pauses_by_itself(node: Client) -> None:
    node.launch(launch(1, binary(script=WATCHES)))
    ticking(node)

    node.send("pause", attempts=[1], grace=60)
    answer = state(node, "suspended")
    node.send("resume", attempts=[1])
    state(node, "running")

    assert answer["why"] == "paused on request; paused by itself: paused at event 7"
    assert not (node.folder(1) / "command").exists()
    ticking(node)


def test_a_binary_that_does_not_comply_is_stopped_with_all_its_processes(node: Client) -> None:
    node.launch(launch(1, binary(script=f"(setsid bash -c '{DEAF}' &) ; sleep 300")))
    ticking(node)
    wrapper = node.started(1)

    node.send("pause", attempts=[1], grace=0)
    answer = state(node, "suspended")

    assert (
        answer["why"] == "paused on request; stopped by SIGSTOP, since it did not pause by itself"
    )
    # A process that had just ended stays until its parent, which is stopped, collects it.
    wait_until(lambda: _states(wrapper) - {"Z"} == {"T"})
    node.send("resume", attempts=[1])
    state(node, "running")
    ticking(node)


def test_a_pause_that_is_undone_in_time_sends_no_message(node: Client) -> None:
    node.launch(launch(1, binary(script=DEAF)))
    ticking(node)

    node.send("pause", attempts=[1], grace=600)
    wait_until(lambda: (node.folder(1) / "command").exists())
    node.send("resume", attempts=[1])
    wait_until(lambda: not (node.folder(1) / "command").exists())
    node.send("kill", attempts=[1], grace=1)

    assert node.end(1)["outcome"] == "killed"
    assert [m["kind"] for m in node.messages(1)] == ["start", "end"]


def test_a_queued_attempt_that_is_to_pause_is_forgotten(node: Client) -> None:
    node.launch(launch(1, binary("sleep", "300"), cpus=4), launch(2, binary("true")))
    node.started(1)

    node.send("pause", attempts=[2], grace=0)
    assert node.wait("absent")["attempts"] == [2]
    node.send("kill", attempts=[1], grace=1)
    node.end(1)
    node.launch(launch(3, binary("true")))
    assert node.end(3)["outcome"] == "successful"
    assert not node.folder(2).exists()

    node.launch(launch(2, binary("true")))
    assert node.end(2)["outcome"] == "successful"


def test_the_next_binary_of_a_paused_chain_is_paused_as_well(node: Client) -> None:
    first = "while [ ! -e ../go ]; do sleep 0.05; done"
    node.launch(launch(1, binary(script=first), binary(script=WATCHES)))
    node.started(1)

    node.send("pause", attempts=[1], grace=600)
    wait_until(lambda: (node.folder(1) / "command").exists())
    (node.folder(1) / "go").touch()

    assert state(node, "suspended")["why"].endswith("paused by itself: paused at event 7")


def test_the_next_binary_does_not_see_the_command_that_the_last_one_answered(node: Client) -> None:
    answers = """
    while [ ! -e "$D0CTL_COMMAND" ]; do sleep 0.05; done
    echo "paused at event 1" >> "$D0CTL_COMMAND"
    while [ ! -e ../go ]; do sleep 0.05; done
    """
    sees = 'cp "$D0CTL_COMMAND" ../seen || touch ../seen; while true; do sleep 0.05; done'
    node.launch(launch(1, binary(script=answers), binary(script=sees)))
    node.started(1)

    node.send("pause", attempts=[1], grace=600)
    state(node, "suspended")
    (node.folder(1) / "go").touch()

    wait_until(lambda: (node.folder(1) / "seen").exists())
    assert "paused at event 1" not in (node.folder(1) / "seen").read_text()


def test_a_paused_attempt_can_be_killed(node: Client) -> None:
    node.launch(launch(1, binary(script=DEAF)))
    ticking(node)
    node.send("pause", attempts=[1], grace=0)
    state(node, "suspended")

    node.send("kill", attempts=[1], grace=30)

    end = node.end(1)
    assert (end["outcome"], end["detail"]) == ("killed", "ended on request: by SIGTERM")


def test_a_kill_with_partial_output_asks_the_binary_to_end(node: Client) -> None:
    made = {"name": "made", "min_size": 1}
    node.launch(launch(1, binary(script=WATCHES, outputs=[made]), keep=["made"]))
    ticking(node)

    node.send("kill", attempts=[1], grace=60, partial=True, partial_grace=60)

    end = node.end(1)
    assert (end["outcome"], end["partial"], end["exit_code"]) == ("killed", True, 0)
    assert end["detail"] == "ended on request: by itself, with the answer: ended at event 9"
    assert [one["name"] for one in end["outputs"]] == ["made"]
    assert (node.base / "cache/1/made").read_text() == "9\n"


def test_partial_output_of_a_binary_that_does_not_comply_is_kept_and_says_how(
    node: Client,
) -> None:
    outputs = [{"name": "made", "min_size": 1}, {"name": "other", "min_size": None}]
    node.launch(launch(1, binary(script=DEAF, outputs=outputs), keep=["made", "other"]))
    ticking(node)

    node.send("kill", attempts=[1], grace=0, partial=True)

    end = node.end(1)
    notes = [m["text"] for m in node.messages(1) if m["kind"] == "note"]
    assert end["detail"] == "ended on request: by SIGKILL"
    assert [one["name"] for one in end["outputs"]] == ["made"]
    assert notes == ["not kept: output `other` is missing"]


def test_a_plain_kill_keeps_no_outputs(node: Client) -> None:
    made = {"name": "made", "min_size": None}
    node.launch(launch(1, binary(script=DEAF, outputs=[made]), keep=["made"]))
    ticking(node)

    node.send("kill", attempts=[1], grace=60)

    end = node.end(1)
    assert (end["outputs"], end["partial"]) == ([], False)
    assert not (node.base / "cache/1").exists()


def test_a_second_kill_can_drop_partial_output(node: Client) -> None:
    made = {"name": "made", "min_size": None}
    node.launch(launch(1, binary(script=DEAF, outputs=[made]), keep=["made"]))
    ticking(node)

    node.send("kill", attempts=[1], grace=600, partial=True)
    wait_until(lambda: (node.folder(1) / "command").exists())
    node.send("kill", attempts=[1], grace=600)

    end = node.end(1)
    assert (end["outputs"], end["detail"]) == ([], "ended on request: by SIGTERM")
