"""The startup script of a package: it calls the chain of binaries, which runs inside it."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import descendants, wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.pythons import found

VERSIONS = list(found())


@pytest.fixture(params=dict.fromkeys((VERSIONS[0], VERSIONS[-1])))
def node(connect: Connect, request: pytest.FixtureRequest) -> Client:
    """A connection to a relay that has greeted, under the oldest and the newest python."""
    client = connect(found()[request.param])
    client.wait("hello")
    return client


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A folder for startup scripts."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    return folder


def given(scripts: Path, text: str, mode: int = 0o755, **parameters: str) -> dict[str, Any]:
    """The fields of a launch that has this startup script."""
    path = scripts / "start.sh"
    path.write_text(text)
    path.chmod(mode)
    link = {"name": "start.sh", "path": str(path), "size": None, "required": True}
    return {"startup": {"path": "start.sh", "parameters": parameters}, "inputs": [link]}


WITH_SETUP = """#!/bin/sh
export FIELD="$STRENGTH tesla"
cd /
echo context up
"$D0CTL_CHAIN"
code=$?
echo "the chain ended with $code"
exit $code
"""


def test_the_chain_runs_in_the_environment_of_the_startup_script(
    node: Client, scripts: Path
) -> None:
    end = node.run(
        binary(script='echo "$FIELD in $PWD" > first; echo said'),
        binary("sh", "-c", 'cat first > "$0"; test -z "$(cat)"', "a second' file",
               outputs=[{"name": "a second' file", "min_size": 1}]),
        **given(scripts, WITH_SETUP, STRENGTH="3"), keep=["a second' file"],
    )  # fmt: skip

    assert (end["outcome"], end["detail"]) == ("successful", "")
    assert [one["exit_code"] for one in end["binaries"]] == [0, 0]
    (kept,) = end["outputs"]
    assert Path(kept["path"]).read_text() == f"3 tesla in {node.folder(1)}/work\n"
    assert (node.folder(1) / "1.out").read_text() == "said\n"
    out = (node.folder(1) / "startup.out").read_text()
    assert out == "context up\nthe chain ended with 0\n"


def test_a_startup_script_that_is_not_executable_runs_in_bash(node: Client, scripts: Path) -> None:
    end = node.run(binary("true"), **given(scripts, '[[ x ]] && "$D0CTL_CHAIN"', mode=0o644))

    assert end["outcome"] == "successful"


def test_a_failed_binary_ends_the_chain_and_lets_the_script_clean_up(
    node: Client, scripts: Path
) -> None:
    end = node.run(
        binary(script="echo no beam >&2; exit 3", name="reco"),
        binary(script="touch ../second"),
        **given(scripts, WITH_SETUP),
    )

    assert (end["outcome"], end["reason"]) == ("failed", "exit-code")
    assert end["detail"] == "binary 1 (reco) ended with exit code 3: no beam"
    assert end["exit_code"] == 3
    assert not (node.folder(1) / "second").exists()
    assert "the chain ended with 1" in (node.folder(1) / "startup.out").read_text()


def test_a_binary_is_verified_before_the_next_one(node: Client, scripts: Path) -> None:
    outputs = [{"name": "out", "min_size": 1}]
    end = node.run(
        binary("true", outputs=outputs), binary("touch", "../second"), **given(scripts, WITH_SETUP)
    )

    assert end["reason"] == "missing-output"
    assert not (node.folder(1) / "second").exists()


@pytest.mark.parametrize(
    ("script", "reason", "expected"),
    [
        ("exit 0", "verification", "ended without calling the chain of its binaries"),
        ("echo no licence >&2; exit 4", "exit-code", "ended with exit code 4: no licence"),
        ('"$D0CTL_CHAIN"; exit 5', "exit-code", "ended with exit code 5"),
        ("nosuchprogram", "software-missing", "ended with exit code 127"),
        ('"$D0CTL_CHAIN" & while [ ! -e ../ran ]; do sleep 0.05; done; exit 0', "verification",
         "ended without waiting for the chain, while binary 1 (step) was running"),
        ("kill -SEGV $$", "seg-fault", "was ended by SIGSEGV (segmentation"),
    ],
)  # fmt: skip
def test_a_failed_startup_script_is_reported_with_its_reason(
    node: Client, scripts: Path, script: str, reason: str, expected: str
) -> None:
    end = node.run(
        binary(script=f"touch ../ran; [ {reason} = exit-code ] || sleep 60"),
        **given(scripts, f"#!/bin/sh\n{script}\n"),
    )

    assert (end["outcome"], end["reason"]) == ("failed", reason)
    assert end["detail"].startswith("the startup script `start.sh` ")
    assert expected in end["detail"]


def test_a_signal_that_ends_a_binary_of_a_startup_script_is_reported(
    node: Client, scripts: Path
) -> None:
    end = node.run(binary(script="kill -SEGV $$"), **given(scripts, WITH_SETUP))

    assert (end["reason"], end["signal"]) == ("seg-fault", 11)


def test_a_second_call_of_the_chain_gives_its_exit_code(node: Client, scripts: Path) -> None:
    text = '#!/bin/sh\n"$D0CTL_CHAIN"; "$D0CTL_CHAIN"; echo "again $?"\n'
    end = node.run(binary(script="echo ran >> ../runs"), **given(scripts, text))

    assert end["outcome"] == "successful"
    assert (node.folder(1) / "runs").read_text() == "ran\n"
    assert (node.folder(1) / "startup.out").read_text() == "again 0\n"


def test_a_kill_reaches_script_and_binary(node: Client, scripts: Path) -> None:
    node.launch(launch(1, binary("sleep", "300"), **given(scripts, WITH_SETUP)))
    wrapper = node.started(1)
    wait_until(lambda: any(one.name() == "sleep" for one in descendants(wrapper)))
    processes = descendants(wrapper)
    node.send("kill", attempts=[1], grace=5.0)

    assert node.end(1)["outcome"] == "killed"
    assert len(processes) >= 3
    wait_until(lambda: not any(one.lives() for one in processes))


def test_a_pause_stops_script_and_binary(node: Client, scripts: Path) -> None:
    node.launch(launch(1, binary("sleep", "300"), **given(scripts, WITH_SETUP)))
    wrapper = node.started(1)
    wait_until(lambda: any(one.name() == "sleep" for one in descendants(wrapper)))
    node.send("pause", attempts=[1], grace=0.0)

    wait_until(lambda: all(one.state() == "T" for one in descendants(wrapper)))
    node.send("resume", attempts=[1])
    wait_until(lambda: all(one.state() != "T" for one in descendants(wrapper)))
    node.send("kill", attempts=[1], grace=1.0)
    assert node.end(1)["outcome"] == "killed"


def test_a_restart_in_mid_chain_calls_the_script_again(node: Client, scripts: Path) -> None:
    made = [{"name": "a", "min_size": 1}]
    steps = (
        binary(script="echo 1 >> ../../runs; echo x > a", outputs=made),
        binary(script="echo 2 >> ../../runs; test -e ../../go"),
    )
    first = node.run(*steps, **given(scripts, WITH_SETUP), keep=["a"])
    (node.folder(1).parent / "go").touch()
    former = [{"attempt": 1, "retained": first["retained"]}]
    end = node.run(*steps, attempt=2, **given(scripts, WITH_SETUP), keep=["a"], previous=former)

    assert (first["outcome"], end["outcome"]) == ("failed", "successful")
    assert (node.folder(1).parent / "runs").read_text().split() == ["1", "2", "2"]


def test_the_processor_time_of_a_binary_is_counted(node: Client, scripts: Path) -> None:
    busy = "for i in $(seq 50000); do :; done"
    end = node.run(binary(script=busy), binary("true"), **given(scripts, WITH_SETUP))

    first, second = (one["cpu"] for one in end["binaries"])
    assert first > second
    assert first > 0.01
