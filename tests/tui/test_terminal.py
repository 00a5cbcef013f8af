"""The dashboard on a real terminal: signals leave it as it was, and `fg` draws all again."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from tests.support.building import job, line, package, production
from tests.support.live import LiveTerminal, without_size
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, wait_until

PROGRAM = Path(sys.executable).with_name("d0ctl")

ALTERNATE, NORMAL, CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


class Screen:
    """A pseudo-terminal with a program on it, and all that the program has written."""

    def __init__(self, *words: str | Path, home: Path, size: tuple[int, int] = (24, 80)) -> None:
        self.seen = b""
        self.ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, size)
        self.program = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),
            env=without_size() | {"TERM": "xterm-256color", "D0CTL_HOME": str(home), "PS1": "$ ",
                                  "COLORTERM": ""},
        )  # fmt: skip
        os.close(theirs)
        os.set_blocking(self.ours, False)

    def read(self) -> bytes:
        """All that was written so far."""
        try:
            while piece := os.read(self.ours, 1 << 16):
                self.seen += piece
        except OSError:
            pass
        return self.seen

    def sees(self, text: bytes, after: int = 0) -> None:
        """Return once the program has written this."""
        wait_until(lambda: text in self.read()[after:])

    def type(self, keys: bytes) -> int:
        """Press keys; how much had been written before."""
        before = len(self.read())
        os.write(self.ours, keys)
        return before


Open = Callable[..., Screen]


@pytest.fixture
def terminal(site: Site) -> Iterator[Open]:
    """Start programs on terminals of their own."""
    opened: list[Screen] = []

    def start(*words: str | Path, size: tuple[int, int] = (24, 80)) -> Screen:
        opened.append(Screen(*words, home=site.store.home.root, size=size))
        return opened[-1]

    yield start
    for one in opened:
        if one.program.poll() is None:
            one.program.kill()
        one.program.wait()
        os.close(one.ours)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_dashboard_restores_the_terminal(
    site: Site, terminal: Open, number: signal.Signals
) -> None:
    site.submit(production())
    screen = terminal(PROGRAM, "tui")
    screen.sees(ALTERNATE)
    screen.sees(b"A production")

    screen.program.send_signal(number)

    assert screen.program.wait(PATIENCE_S) == 128 + number
    screen.sees(NORMAL)
    assert screen.read().rindex(CURSOR) > screen.read().rindex(ALTERNATE)
    modes = [b"\x1b[?1000l", b"\x1b[?1006l", b"\x1b[?2004l"]
    assert [mode for mode in modes if mode not in screen.read()] == []


def test_the_dashboard_ends_when_its_terminal_goes(site: Site, terminal: Open) -> None:
    site.submit(production())
    screen = terminal(PROGRAM, "tui")
    screen.sees(b"A production")
    spare = os.dup(screen.ours)
    os.close(screen.ours)
    screen.ours = os.open(os.devnull, os.O_RDONLY)
    os.close(spare)

    wait_until(lambda: screen.program.poll() is not None)


def test_the_whole_screen_is_drawn_again_after_fg(site: Site, terminal: Open) -> None:
    site.submit(production())
    screen = terminal("bash", "--norc", "--noprofile", "-i")
    screen.type(f"{PROGRAM} tui\n".encode())
    screen.sees(ALTERNATE)
    screen.sees(b"A production")

    before = screen.type(b"\x1a")
    screen.sees(NORMAL, before)
    screen.sees(b"Stopped", before)
    again = screen.type(b"fg\n")

    screen.sees(ALTERNATE, again)
    screen.sees(b"A production", again)
    screen.type(b"q")
    screen.sees(NORMAL, again)


def test_the_first_picture_takes_less_than_ten_kilobytes(site: Site, terminal: Open) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    screen = terminal(PROGRAM, "tui", "prod/1/2/1")
    screen.sees(b"exit-code")
    screen.sees(b"more")

    assert len(screen.read()) < 10_000


@pytest.mark.parametrize("options", [[], ["--slow"]], ids=["fast", "slow"])
@pytest.mark.parametrize("size", [(24, 80), (40, 120)], ids=["24x80", "40x120"])
def test_the_first_picture_is_sent_from_the_top_and_without_its_blanks(
    site: Site, terminal: Open, options: list[str], size: tuple[int, int]
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    words = ("env", "COLORTERM=truecolor", PROGRAM, "tui", "prod/1/2/1", *options)
    screen = terminal(*words, size=size)
    screen.sees(b"more")

    seen = screen.read()
    seen = seen[: seen.index(b"more") + len(b"more")]  # a later picture may have come, too
    first = seen.index(b" d0ctl ")
    parts = (b"A production", b"requests 1 CPU", b"  name", b"more")
    assert [part for part in parts if part in seen[:first] or part not in seen] == []
    assert b" " * 12 not in seen
    assert len(seen) < size[0] * size[1] * (1.5 if options else 2.5)


def test_a_slow_line_gets_sixteen_colours_and_no_mouse_within_the_budget(
    site: Site, terminal: Open
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    words = ("env", "COLORTERM=truecolor", PROGRAM, "tui", "--slow", "prod/1/2/1")
    screen = terminal(*words)
    screen.sees(b"exit-code")
    screen.sees(b"more")

    assert len(screen.read()) < 10_000
    assert [word for word in (b"8;2;", b"8;5;", b"\x1b[?1003h") if word in screen.read()] == []


def test_a_terminal_of_256_colours_gets_no_others(site: Site, terminal: Open) -> None:
    site.submit(production())
    screen = terminal(PROGRAM, "tui")
    screen.sees(b"d0ctl ")

    assert b"48;5;233" in screen.read()
    assert b"48;2;" not in screen.read() and b"38;2;" not in screen.read()


COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:[34][0-7]|9[0-7]|10[0-7]|[34]8;[0-9;]+)[m;]")


@pytest.mark.parametrize(
    ("variables", "paper"),
    [(("TERM=xterm",), b"40"), (("TERM=linux",), b"40"), (("TERM=vt100",), b""),
     (("TERM=xterm-256color", "NO_COLOR=1"), b""), (("TERM=linux", "NO_COLOR=1"), b"")],
    ids=["xterm", "linux", "vt100", "no-color", "linux-no-color"],
)  # fmt: skip
def test_a_terminal_gets_the_colours_that_it_has(
    site: Site, terminal: Open, variables: tuple[str, ...], paper: bytes
) -> None:
    site.submit(production())
    screen = terminal("env", *variables, PROGRAM, "tui", "--theme", "light")
    screen.sees(b"A production")
    screen.sees(b"more")

    found = COLOUR.findall(screen.read())
    assert bool(found) == bool(paper), found
    assert not re.search(rb"[34]8;[25];", screen.read())
    assert re.search(rb"\x1b\[(?:[0-9;]*;)?%s[;m]" % (paper or b"7"), screen.read())


@pytest.mark.parametrize(
    ("size", "options", "most"),
    [((24, 80), [], 1000), ((24, 80), ["--slow"], 500), ((36, 120), [], 1000)],
)
def test_a_line_down_takes_less_than_a_kilobyte(
    site: Site, terminal: Open, size: tuple[int, int], options: list[str], most: int
) -> None:
    site.submit(job(("one", [line(package()) for _ in range(12)]), name="wide"))
    screen = terminal("env", "COLORTERM=truecolor", PROGRAM, "tui", "wide/1/1", *options, size=size)
    screen.sees(b"wide/1/1/1")
    screen.sees(b"why")

    before = [screen.type(b"j")]
    for number in range(2, 10):
        screen.sees(f"package `wide/1/{number}/1`".encode(), before[-1])
        before.append(screen.type(b"j"))

    assert median(b - a for a, b in pairwise(before)) < most, screen.read()[before[-2] :]


def printed(site: Site, path: str, text: str) -> Path:
    """The folder of an attempt that has failed, and what it printed."""
    site.up(base=str(site.store.home.root / "base"))
    attempt = site.launch(path)
    folder = site.store.home.root / "base" / "attempts" / str(attempt)
    folder.mkdir(parents=True)
    (folder / "1.out").write_text(text)
    site.end(path, "failed", reason="exit-code", exit_code=1)
    return folder


def test_a_shell_opens_in_the_folder_of_the_attempt_and_leads_back(
    site: Site, terminal: Open
) -> None:
    site.submit(production())
    folder = printed(site, "prod/1/1/1", "no calibration\n")
    screen = terminal("env", "SHELL=/bin/sh", PROGRAM, "tui", "prod/1/1/1")
    screen.sees(b"exit-code")

    before = screen.type(b"!")
    screen.sees(NORMAL, before)
    screen.type(b"echo in-$(pwd)\n")
    screen.sees(f"in-{folder}".encode(), before)
    again = screen.type(b"exit\n")

    screen.sees(ALTERNATE, again)
    screen.sees(b"exit-code", again)
    screen.type(b"q")
    screen.sees(NORMAL, again)
    assert screen.program.wait(PATIENCE_S) == 0


@pytest.mark.parametrize(("key", "variable"), [(b"|", "PAGER"), (b"e", "EDITOR")])
def test_the_log_is_read_with_the_programs_of_the_user(
    site: Site, terminal: Open, tmp_path: Path, key: bytes, variable: str
) -> None:
    site.submit(production())
    folder = printed(site, "prod/1/1/1", "no calibration\n")
    program = tmp_path / "show"
    program.write_text('#!/bin/sh\necho "shows $2:"; cat "$2"; read answer\n')
    program.chmod(0o755)
    screen = terminal("env", "VISUAL=", f"{variable}={program} -R", PROGRAM, "tui", "prod/1/1/1")
    screen.sees(b"exit-code")

    before = screen.type(key)
    screen.sees(f"shows {folder}/1.out:".encode(), before)
    screen.sees(b"no calibration", before)
    again = screen.type(b"\n")

    screen.sees(ALTERNATE, again)
    screen.sees(b"exit-code", again)


def test_a_pager_that_does_not_exist_is_named(site: Site, terminal: Open) -> None:
    site.submit(production())
    printed(site, "prod/1/1/1", "no calibration\n")
    screen = terminal("env", "PAGER=/no/pager", PROGRAM, "tui", "prod/1/1/1")
    screen.sees(b"exit-code")

    before = screen.type(b"|")

    screen.sees(b"`/no/pager` can't be started: No such file or directory", before)


def test_the_dashboard_ends_with_its_terminal_even_if_no_signal_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D0CTL_HOME", str(site.store.home.root))
    terminal = LiveTerminal("tui")
    terminal.expect("daemon")
    os.close(terminal.descriptor)

    assert terminal.process.wait(60) >= 0
