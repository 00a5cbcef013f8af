"""Jobs of a command, without a job file."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import document


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program, where commands are typed."""
    program = tmp_path / "sim.sh"
    program.write_text('#!/bin/sh\necho "event $1" >"hist-$1.txt"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_command_runs_for_each_number_and_its_outputs_are_returned(
    d0ctl: Type, folder: Path
) -> None:
    words = ("run", "--array", "1-2", "--output", "hist-{n}.txt", "--", "./sim.sh", "{n}")
    reply = d0ctl(*words)

    assert reply.exit_code == 0, reply.output
    results = folder / "home" / "results" / "sim-001"
    assert (results / "hist-2.txt").read_text() == "event 2\n"


def test_the_loop_may_follow_the_command(d0ctl: Type) -> None:
    reply = d0ctl("submit", "--", "./sim.sh", "{n}", "--array", "1-3")
    assert "submitted `sim-001`: 3 packages" in reply.stdout

    reply = d0ctl("submit", "--", "echo", "--array", "1-3")
    assert "submitted `echo-001`: 1 package" in reply.stdout
    argv = document(d0ctl("status", "echo-001/1/1/1/1", "--json").stdout)["argv"]
    assert argv == ["echo", "--array", "1-3"]


def test_a_command_runs_for_each_line_of_stdin_or_of_a_file(d0ctl: Type, folder: Path) -> None:
    (folder / "seeds.txt").write_text("a b\n\nc\n")

    reply = d0ctl("submit", "--stdin", "--", "echo", "{line}", input="x y\nz\n")
    assert "submitted `echo-001`: 2 packages" in reply.stdout
    reply = d0ctl("submit", "--each-line", "seeds.txt", "--", "echo {line} | wc")
    assert "submitted `echo-002`: 2 packages" in reply.stdout
    script = document(d0ctl("status", "echo-002/1/1/1/1", "--json").stdout)["script"]
    assert "echo 'a b' | wc" in script


def test_a_job_of_a_command_is_cloned(d0ctl: Type) -> None:
    d0ctl("submit", "--array", "1-3", "--", "./sim.sh", "{n}")

    assert d0ctl("clone", "sim-001").stdout == "submitted `sim-002`: 3 packages\n"


def test_limits_of_a_command_are_those_of_its_packages(d0ctl: Type) -> None:
    words = ("--cpus", "1", "--memory", "1GB", "--wall-time", "2h", "--", "true")
    assert d0ctl("submit", *words).exit_code == 0

    text = d0ctl("status", "true-001/1/1/1").stdout
    assert "requests 1 CPU, 1.0 GB of memory, at most 2 h 00 min" in text


SLIPS = [
    (["--array", "1-3", "job.yaml"], "--array needs a command after `--`"),
    (["--memory", "1GB", "job.yaml"], "in a job file `memory` is a key of a package"),
    (["--array", "1-3", "./sim.sh", "{n}"], "the words of a command come after `--`"),
    (["job.yaml", "--", "./sim.sh"], "a job file, or a command after `--`, not both"),
    (["--", "./sim.sh", "{n}"], "`{n}` needs --array NUMBERS before `--`"),
    (["--", "cat {line.stem}"], "`{line.stem}` needs --each-line FILE or --stdin before `--`"),
    (["--", "echo", "{n}", "--array", "1-2", "--hold"], "needs --array NUMBERS before `--`"),
    (["--"], "there is no command after `--`"),
    (["--array", "20-1", "--", "echo", "{n}"], "the range `[20, 1]` is empty"),
    (["--array", "1-3", "--stdin", "--", "true"], "exclude each other"),
    (["--stdin", "--", "true"], "there are no lines on stdin"),
    (["--each-line", "no.txt", "--", "cat {line}"], "`--each-line`: there is no file `no.txt`"),
    (["--memory", "much", "--", "true"], "`memory` takes a size"),
    (["--array", "1-2", "--output", "a", "--", "./sim.sh"], "both make `a`"),
    (
        ["--as", "s", "--array", "1-2", "--output", "a*", "--", "./sim.sh"],
        "packages `s/1/1/1` and `s/1/2/1` both make `a*`: its name lacks `{n}`; "
        "end the command with `&& mv a* out-{n}/`, and name `out-{n}/a*`",
    ),
]


@pytest.mark.parametrize(("words", "message"), SLIPS)
def test_a_mistake_in_a_command_is_reported_without_a_place_in_a_file(
    d0ctl: Type, words: list[str], message: str
) -> None:
    reply = d0ctl("submit", *words)

    assert (reply.exit_code, message in reply.stderr) == (2, True), reply.stderr
    assert reply.stderr.startswith("d0ctl: ")
    assert reply.stderr.splitlines()[-1].startswith("d0ctl submit ")
    assert ".yaml:" not in reply.stderr and "sim:" not in reply.stderr


def test_a_likely_mistake_is_reported(d0ctl: Type) -> None:
    reply = d0ctl("submit", "--array", "1-2", "--", "./sim.sh", "5")
    assert "only its log is kept" in reply.stderr
    assert "the command is the same each time" in reply.stderr

    reply = d0ctl("submit", "--array", "1-2", "--output", "{n}.txt", "--", "./sim.sh", "{n}")
    assert "log" not in reply.stderr and "same" not in reply.stderr

    for words in (["--memory", "2GB"], ["--hold"]):
        reply = d0ctl("submit", "--", "./sim.sh", "5", *words)
        told = f"`{words[0]}` is a part of the command: options of d0ctl stand before `--`"
        assert told in reply.stderr
    reply = d0ctl("submit", "--memory", "2GB", "--", "./sim.sh", "5", "--input", "x")
    assert "part of the command" not in reply.stderr
