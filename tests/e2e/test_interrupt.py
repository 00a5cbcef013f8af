"""Ctrl-C in `run` asks once, and loses nothing."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.terminal import CTRL_C, terminal
from tests.support.site import Site
from tests.support.site.commands import D0CTL, end_process
from tests.support.waiting import PATIENCE_S, wait_until

QUESTION = "stop here?"


@pytest.fixture
def record(site: Site) -> Path:
    """A line for each time that a binary ran."""
    return site.folder / "record"


@pytest.fixture
def job(site: Site, record: Path) -> Path:
    """Three packages one after the other; the first waits for the file `go`."""
    return site.write(
        f"""\
job: slow
parameters: {{record: {record}, go: {site.folder / "go"}}}
stages:
  - lines:
      - packages:
          - run: 'echo 1 $D0CTL_ATTEMPT_ID >> {{record}}; until [ -e {{go}} ]; do sleep 0.05; done'
          - run: 'echo 2 $D0CTL_ATTEMPT_ID >> {{record}}'
          - {{run: 'echo 3 $D0CTL_ATTEMPT_ID | tee -a {{record}} > end', outputs: [end]}}
"""
    )


def go_on(site: Site) -> None:
    """Let the first package end."""
    (site.folder / "go").touch()


def ran(record: Path) -> list[str]:
    """Which packages ran, in order."""
    return [line.split()[0] for line in record.read_text().splitlines()]


@pytest.mark.parametrize("by", ["run", "daemon"])
def test_ctrl_c_asks_once_and_the_job_goes_on_later(
    site: Site, job: Path, record: Path, by: str
) -> None:
    with terminal(site, "run", job) as screen:
        wait_until(record.exists, what="the first package runs")
        screen.type(CTRL_C)
        screen.expect(QUESTION)
        screen.type("y\n")
        code = screen.end()

        assert code == 130
        assert screen.text.count(QUESTION) == 1
        assert "d0ctl run slow" in screen.text
    assert site.json("status", "slow")["status"] == "running"

    go_on(site)
    if by == "run":
        site.ok("run", "slow")
    else:
        site.start_daemon()
        site.ok("wait", "slow")
    assert ran(record) == ["1", "2", "3"]
    assert len((site.home.root / "results" / "slow" / "end").read_text().splitlines()) == 1
    assert site.counts("slow") == {"done": 3}


def test_answering_no_to_ctrl_c_leaves_the_job_alone(site: Site, job: Path, record: Path) -> None:
    with terminal(site, "run", job) as screen:
        wait_until(record.exists, what="the first package runs")
        screen.type(CTRL_C)
        screen.expect(QUESTION)
        screen.type("n\n")
        go_on(site)

        assert screen.end() == 0, screen.text
        assert "`slow` is successful" in screen.text
    assert ran(record) == ["1", "2", "3"]


def test_ctrl_c_asks_again_after_another_answer_and_says_that_the_daemon_continues(
    site: Site, job: Path, record: Path
) -> None:
    site.start_daemon()
    with terminal(site, "run", job) as screen:
        wait_until(record.exists, what="the first package runs")
        screen.type(CTRL_C)
        screen.expect("stop here? the daemon continues `slow` [Y/n]")
        screen.type("hello\n")
        screen.expect("answer y or n")
        screen.type("n\n")
        go_on(site)

        assert screen.end() == 0, screen.text
        assert "`slow` is successful" in screen.text


def test_a_second_ctrl_c_means_yes(site: Site, job: Path, record: Path) -> None:
    with terminal(site, "run", job) as screen:
        wait_until(record.exists, what="the first package runs")
        screen.type(CTRL_C)
        screen.expect(QUESTION)
        screen.type(CTRL_C)

        assert screen.end() == 130
        assert "Traceback" not in screen.text
    go_on(site)
    site.ok("run", "slow")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_without_a_terminal_run_ends_at_once_and_holds_nothing(
    site: Site, job: Path, record: Path, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [D0CTL, "run", job],
        env=site.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # `nohup` and shells that start the tests in the background have it ignored
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    try:
        wait_until(record.exists, what="the first package runs")
        process.send_signal(number)
        answer = process.communicate(timeout=PATIENCE_S)[1].decode()

        assert process.returncode == 130
        assert QUESTION not in answer and "Traceback" not in answer
        assert "`slow` continues with `d0ctl run slow` or `d0ctl daemon start`" in answer
        assert site.ask("select name from lease") == []
    finally:
        end_process(process)
    go_on(site)
    site.ok("run", "slow")
    assert ran(record) == ["1", "2", "3"]


def test_ctrl_c_right_after_the_submission_waits_for_the_run(site: Site, job: Path) -> None:
    """The run cannot get past its first line, as nobody reads it."""
    theirs, ours = full_pipe()
    process = subprocess.Popen(
        [D0CTL, "run", job], env=site.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=ours,
    )  # fmt: skip
    os.close(ours)
    try:
        wait_until(lambda: catches(process.pid, signal.SIGTERM), what="it is submitted")
        process.send_signal(signal.SIGINT)
        with os.fdopen(theirs, "rb") as stream:
            answer = stream.read().lstrip(b".").decode()

        assert process.wait(PATIENCE_S) == 130
        assert "submitted `slow`" in answer
        assert "`slow` continues with `d0ctl run slow` or `d0ctl daemon start`" in answer
    finally:
        end_process(process)
    go_on(site)
    site.ok("run", "slow")


def full_pipe() -> tuple[int, int]:
    """Return both ends of a pipe that takes no more."""
    theirs, ours = os.pipe()
    os.set_blocking(ours, False)
    with suppress(BlockingIOError):
        while os.write(ours, b"." * 4096):
            pass
    os.set_blocking(ours, True)
    return theirs, ours


def catches(process: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def test_while_a_daemon_runs_it_goes_on_with_an_interrupted_run(
    site: Site, job: Path, record: Path
) -> None:
    site.start_daemon()
    with terminal(site, "run", job) as screen:
        wait_until(record.exists, what="the first package runs")
        screen.type(CTRL_C)
        screen.expect(QUESTION)
        screen.type("y\n")

        assert screen.end() == 130
        assert "the daemon continues `slow`; `d0ctl kill slow` ends it" in screen.text
    go_on(site)
    site.ok("wait", "slow")
