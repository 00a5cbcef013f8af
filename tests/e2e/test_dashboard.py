"""The dashboard in a real terminal, over a real daemon, with the keys that a person presses."""

import os
import signal
import threading

from tests.e2e.terminal import CTRL_C, Terminal, terminal
from tests.support.site import Site
from tests.support.waiting import Pid, wait_until

CTRL_Z = "\x1a"

JOB = """
job: reco
stages:
  - name: make
    lines:
      - for: {i: {list: [1, 2, 3]}}
        run: |
          echo "working on {i}"
          test {i} != 2 || exit 3
          echo done > out-{i}
        outputs: ["out-{i}"]
  - name: merge
    lines:
      - run: "cat {inputs} > all"
        inputs: {from: make}
        outputs: [all]
"""

LEFT = "\x1b[?1049l"
"""What gives a terminal back its own screen."""


def test_a_failed_line_can_be_found_and_dropped_in_the_dashboard(site: Site) -> None:
    site.submit(JOB)
    site.start_daemon()
    site.wait_phase("reco/1/2/1", "failed")

    with terminal(site, "tui") as board:
        board.expect("daemon up")
        board.type("n")
        board.expect("reco/1/2/1")
        board.expect("ended with exit")
        board.type("t")
        board.expect("working on 2")
        board.type("q")
        board.type("D")
        board.expect("continuing without these files")
        board.type("bad tape\r")
        board.expect("dropped package")
        site.wait_phase("reco/2/1/1", "done")
        board.type("\r")
        assert leave(board) == 0
        assert LEFT in board.text

    assert site.json("history", "reco")["actions"][0]["reason"] == "bad tape; --drop-outputs"


def test_the_shell_comes_back_with_ctrl_z_and_the_dashboard_with_fg(site: Site) -> None:
    site.submit(JOB)

    with terminal(site, "tui") as board:
        board.expect("reco")
        board.type(CTRL_Z)
        pid = dashboard_of(board)
        wait_until(lambda: pid.state() == "T", what="it stops")
        assert LEFT in board.text
        seen = len(board.text)
        os.kill(pid.number, signal.SIGCONT)
        wait_until(lambda: "reco" in board.text[seen:], what="it is drawn again")
        board.type("q")
        assert board.end() == 0


def test_ctrl_c_says_how_to_leave_and_q_leaves(site: Site) -> None:
    site.submit(JOB)

    with terminal(site, "tui") as board:
        board.expect("reco")
        board.type(CTRL_C)
        board.type("q")
        assert board.end() == 0


def test_the_dashboard_needs_a_terminal(site: Site) -> None:
    answer = site.d0ctl("tui")

    assert answer.code == 2
    assert "needs a terminal" in answer.err


def leave(board: Terminal) -> int:
    """Press `q` until it has gone; a box that is just closing may take the first."""
    pause = threading.Event()
    while board.process.poll() is None and board.text:
        board.type("q")
        pause.wait(0.3)
    return board.end()


def dashboard_of(board: Terminal) -> Pid:
    """The process that draws; `setsid` has become it."""
    pid = Pid.of(board.process.pid)
    assert pid is not None
    return pid
