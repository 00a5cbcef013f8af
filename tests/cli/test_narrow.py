"""Pages on a terminal of 80 columns: nothing is cut off, and sentences end at words."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

from tests.support.building import job, line, package
from tests.support.site import Site

PROGRAM = Path(sys.executable).with_name("d0ctl")

LONG = "binary 1 (reco) ended with exit code 3: no calibration for the run of this line"


def lines_at(columns: int, *words: str) -> list[str]:
    """Type a command on a terminal of this width; the lines that it prints."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = os.environ | {"TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen([PROGRAM, *words], stdin=theirs, stdout=theirs, env=environment):
        os.close(theirs)
        seen = b""
        while piece := _read(ours):
            seen += piece
    os.close(ours)
    return seen.decode().splitlines()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the program has ended
        return b""


def test_what_explains_a_failure_fits_on_80_columns(site: Site) -> None:
    site.submit(job(("reco", [line(package("x")), line(package("y"))])))
    site.fail("prod/1/1/1", detail=LONG)

    for words in (["why", "prod/1/1/1"], ["history", "prod"], ["report", "failures", "prod"],
                  ["report", "usage"], ["logs", "prod", "--failed"]):  # fmt: skip
        shown = lines_at(80, *words)

        assert max(map(len, shown)) <= 80, words
        assert not any("…" in line for line in shown), (words, shown)
        if words != ["report", "usage"]:
            assert LONG in " ".join(" ".join(shown).split()), (words, shown)


def test_the_stages_of_a_job_have_bars_on_80_columns(site: Site) -> None:
    site.submit(job(("reco", [line(package("x")), line(package("y"))])))
    site.finish("prod/1/1/1")

    (row,) = [line for line in lines_at(80, "status", "prod") if "50 %" in line]

    assert "████" in row and "────" in row
