"""A restart in the middle of a chain: where it begins, with what, and why there."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.pythons import found, versions
from tests.wrapper.test_progress import STAYS


def output(name: str) -> Frame:
    return {"name": name, "min_size": None}


def step(number: int, script: str = "true", **more: Any) -> Frame:
    """A binary that makes a file of what those before it made, and says that it ran."""
    before = f"cat {number - 1}.out" if number > 1 else "echo"
    made = f"echo {number} >> ../../ran; ({before}; echo {number}) > {number}.out"
    return binary(script=f"{made}; {script}", outputs=[output(f"{number}.out")], **more)


def chain(third: str, **more: Any) -> list[Frame]:
    return [step(1), step(2, **more), step(3, third), step(4)]


KEEP = ["4.out"]


def ran(node: Client) -> str:
    """The binaries that have run, in their order, in all attempts."""
    path = node.base / "attempts" / "ran"
    return "".join(path.read_text().split()) if path.exists() else ""


def former(end: Frame) -> dict[str, Any]:
    """What a launch says of an attempt that reported its end."""
    return {"attempt": end["attempt"], "number": end["attempt"], "retained": end["retained"]}


def began(node: Client, attempt: int) -> str:
    notes = [one["text"] for one in node.messages(attempt) if one["kind"] == "note"]
    return next((text for text in notes if text.startswith("began")), "")


def test_a_restart_after_a_failure_of_binary_3_begins_there(node: Client) -> None:
    first = node.run(*chain("exit 3"), keep=KEEP)
    assert (first["reason"], first["binary"]) == ("exit-code", 3)
    assert [file["name"] for file in first["retained"]["files"]] == ["1.out", "2.out"]

    second = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[former(first)])
    assert second["outcome"] == "successful"
    assert ran(node) == "12334"
    assert [one["binary"] for one in second["binaries"]] == [3, 4]
    assert Path(second["outputs"][0]["path"]).read_text() == "\n1\n2\n3\n4\n"
    assert (second["began"], first["began"]) == (3, 1)
    assert began(node, 2).startswith(
        "began at binary 3: the outputs of binaries 1 to 2 are intact, as attempt 1 left them"
    )


def test_a_restart_after_a_killed_wrapper_reuses_finished_binaries(connect: Connect) -> None:
    node = connect()
    node.wait("hello")
    node.launch(launch(1, *chain(STAYS), keep=KEEP))
    wrapper = node.started(1)
    while ran(node) != "123":
        node.wait("pong", id=node.ping())
    os.kill(wrapper, signal.SIGKILL)
    assert node.wait("dead")["attempts"][0]["attempt"] == 1

    end = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[{"attempt": 1}])
    assert (end["outcome"], end["began"], ran(node)) == ("successful", 3, "12334")


def test_a_restart_uses_the_attempt_that_got_furthest(node: Client) -> None:
    first = node.run(*chain("exit 3"), keep=KEEP)
    second = node.run(*chain("exit 3"), attempt=2, keep=KEEP, previous=[former(first)])
    assert len(second["retained"]["files"]) == 2
    formers = [former(first), former(second)]
    third = node.run(*chain("true"), attempt=3, keep=KEEP, previous=formers)

    assert (third["outcome"], ran(node)) == ("successful", "123334")
    assert "attempt 2 left" in began(node, 3)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda path: path.unlink(), "`2.out` of attempt 1 is missing"),
        (lambda path: path.write_text("\n1\n9\n"), "`2.out` of attempt 1 has changed"),
        (lambda path: path.write_text(""), "`2.out` of attempt 1 has 0 bytes, not 5"),
    ],
)
def test_a_restart_begins_with_the_first_binary_whose_files_are_not_whole(
    node: Client, spoil: Any, why: str
) -> None:
    first = node.run(*chain("exit 3"), keep=KEEP)
    spoil(Path(first["retained"]["files"][1]["path"]))

    end = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[former(first)])
    assert (end["outcome"], end["began"], ran(node)) == ("successful", 2, "123234")
    assert why in end["began_why"]


def test_of_attempts_that_are_whole_as_far_as_each_other_the_latest_is_used(node: Client) -> None:
    ends = [node.run(*chain("exit 3"), attempt=number, keep=KEEP) for number in (1, 2)]
    for end in ends:
        Path(end["retained"]["files"][1]["path"]).unlink()

    end = node.run(*chain("true"), attempt=3, keep=KEEP, previous=list(map(former, ends)))

    assert (end["outcome"], end["began"]) == ("successful", 2)
    assert "`2.out` of attempt 2 is missing" in end["began_why"]


def test_a_restart_without_anything_whole_begins_at_the_start_and_says_why(node: Client) -> None:
    first = node.run(*chain("exit 3"), keep=KEEP)
    shutil.rmtree(node.base / "cache/1")

    end = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[former(first)])
    assert (end["outcome"], end["began"], ran(node)) == ("successful", 1, "1231234")
    assert began(node, 2) == "began at binary 1: output `1.out` of attempt 1 is missing"


def test_a_binary_that_leaves_undeclared_files_runs_again(node: Client) -> None:
    steps = [step(1), step(2, "echo x > scratch"), step(3, "exit 3"), step(4)]
    first = node.run(*steps, keep=KEEP)
    steps[2] = step(3)
    end = node.run(*steps, attempt=2, keep=KEEP, previous=[former(first)])

    assert (end["began"], ran(node)) == (2, "123234")
    assert "binary 2 left `scratch`, an undeclared file" in end["began_why"]


def test_a_binary_without_outputs_does_not_run_again(node: Client) -> None:
    quiet = binary(script="echo q >> ../../ran")
    first = node.run(step(1), quiet, binary("false"))
    end = node.run(step(1), quiet, binary("true"), attempt=2, previous=[former(first)])

    assert (end["outcome"], end["began"], ran(node)) == ("successful", 3, "1q")


def test_a_file_that_a_later_binary_changed_is_made_again(node: Client) -> None:
    first = node.run(step(1), step(2, "echo more >> 1.out; false"))
    assert first["retained"] is None

    end = node.run(step(1), step(2), attempt=2, previous=[former(first)])
    assert (end["outcome"], end["began"]) == ("successful", 1)


def test_outputs_in_folders_are_reused(node: Client) -> None:
    made = binary(script="mkdir -p a/b; echo x > a/b/c", outputs=[output("a/b/c")])
    first = node.run(made, binary(script="test -e ../../go"), keep=["a/b/c"])
    (node.base / "attempts/go").touch()
    end = node.run(
        made, binary(script="test -e ../../go"), attempt=2, keep=["a/b/c"], previous=[former(first)]
    )

    assert (end["outcome"], end["began"]) == ("successful", 2)
    assert end["outputs"][0]["name"] == "a/b/c"


def test_a_chain_whose_outputs_could_not_be_kept_runs_no_binary_again(node: Client) -> None:
    first = node.run(step(1), keep=["1.out", "never-made"])
    assert (first["reason"], first["retained"]["through"]) == ("missing-output", 1)

    end = node.run(step(1), attempt=2, keep=["1.out"], previous=[former(first)])
    assert (end["outcome"], end["binaries"], ran(node)) == ("successful", [], "1")
    assert began(node, 2).startswith("began after its last binary")


def test_a_previous_attempt_that_is_running_is_not_reused(node: Client) -> None:
    node.launch(launch(1, *chain(STAYS), keep=KEEP))
    node.started(1)
    while ran(node) != "123":
        node.wait("pong", id=node.ping())
    end = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[{"attempt": 1}])

    assert (end["outcome"], end["began"]) == ("successful", 1)


def test_an_invalid_record_does_not_count(node: Client) -> None:
    (node.base / "attempts/1").mkdir(parents=True)
    (node.base / "attempts/1/retained").write_text('{"through": 9, "files": [{}]}')
    end = node.run(step(1), step(2), attempt=2, previous=[{"attempt": 1}])

    assert (end["outcome"], end["began"]) == ("successful", 1)


def test_a_shutdown_of_the_node_retains_finished_work(node: Client) -> None:
    node.launch(launch(1, *chain(STAYS), keep=KEEP))
    wrapper = node.started(1)
    while ran(node) != "123":
        node.wait("pong", id=node.ping())
    os.kill(wrapper, signal.SIGTERM)
    first = node.end(1)
    assert (first["reason"], first["retained"]["through"]) == ("platform-failure", 2)

    end = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[former(first)])
    assert (end["outcome"], end["began"]) == ("successful", 3)


def test_a_killed_attempt_retains_nothing(node: Client) -> None:
    node.launch(launch(1, *chain(STAYS), keep=KEEP))
    node.started(1)
    while ran(node) != "123":
        node.wait("pong", id=node.ping())
    node.send("kill", attempts=[1], grace=1)

    assert node.end(1)["retained"] is None
    assert not (node.base / "cache/1").exists()


@pytest.mark.parametrize("version", versions())
def test_chains_are_resumed_under_every_python(connect: Connect, version: str) -> None:
    node = connect(found()[version])
    node.wait("hello")
    given: dict[str, Any] = {"hooks": [{"before": "echo before", "end": "echo end"}], "keep": KEEP}
    rules = [{"match": "^begin", "required": True}, {"match": "careful", "passive": True}]
    said: dict[str, Any] = {"log_rules": rules, "check": "test -s 2.out"}
    steps = [step(1), step(2, "echo begin; echo careful", **said), step(3, "exit 64"), step(4)]
    first = node.run(*steps, **given)
    assert first["detail"].startswith("binary 3 (step) ended with exit code 64 (EX_USAGE)")

    steps[2] = step(3, events={"first": 1, "last": 5, "part": "new"})
    second = node.run(*steps, attempt=2, previous=[former(first)], **given)
    assert (second["outcome"], second["began"], ran(node)) == ("successful", 3, "12334")


def test_outputs_made_from_other_inputs_are_made_again(node: Client, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("x", "y")]
    for file in files:
        file.write_text(f"{file.name}\n")
    given = [{"name": f.name, "path": str(f), "size": 2, "required": True} for f in files]
    merge = binary(script="cat * > m", inputs=["x", "y"], outputs=[output("m")])
    first = node.run(merge, binary("false"), inputs=given)

    merge["inputs"] = ["x"]
    end = node.run(
        merge, binary("true"), attempt=2, inputs=given[:1], keep=["m"], previous=[former(first)]
    )
    assert (end["outcome"], end["began"]) == ("successful", 1)
    assert end["began_why"] == "binary 1 had other inputs in attempt 1"
    assert Path(end["outputs"][0]["path"]).read_text() == "x\n"


def test_outputs_made_from_a_replaced_input_are_made_again(node: Client, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("1\n")
    given = [{"name": "x", "path": str(file), "size": 2, "required": True}]
    made = binary(script="cat x > m", inputs=["x"], outputs=[output("m")])
    first = node.run(made, binary("false"), inputs=given)
    (tmp_path / "aside").write_text("2\n")
    (tmp_path / "aside").rename(file)

    end = node.run(made, binary("true"), attempt=2, inputs=given, previous=[former(first)])
    assert (end["outcome"], end["began"]) == ("successful", 1)


def test_an_end_message_that_was_not_sent_is_read_on_the_node(node: Client) -> None:
    first = node.run(*chain("exit 3"), keep=KEEP)
    assert first["retained"]

    end = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[{"attempt": 1}])
    assert (end["outcome"], end["began"], ran(node)) == ("successful", 3, "12334")


def test_no_file_outside_of_d0ctls_folders_is_reused(
    node: Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "1.out"
    first = node.run(*chain("exit 3"), keep=KEEP)
    taken = Path(first["retained"]["files"][0]["path"])
    shutil.move(taken, elsewhere)
    first["retained"]["files"][0]["path"] = str(elsewhere)

    end = node.run(*chain("true"), attempt=2, keep=KEEP, previous=[former(first)])
    assert (end["outcome"], end["began"]) == ("successful", 1)
    assert "is outside of d0ctl's folders" in end["began_why"]
