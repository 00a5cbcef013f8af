"""A question on the terminal, and the keys that answer it."""

import os
import pty
import shutil
import subprocess
import sys

import pytest

ASK = """
import signal
from d0ctl.cli.terminal.output import ask
signal.siginterrupt(signal.SIGINT, False)  # a read goes on, as if the signal had come before it
try:
    raise SystemExit(len(ask("stop here? ")))
except KeyboardInterrupt:
    raise SystemExit(130)
"""


@pytest.mark.parametrize(("keys", "code"), [(b"\x03", 130), (b"yes\n", 4)])
def test_a_ctrl_c_that_comes_before_the_answer_is_read_is_not_lost(keys: bytes, code: int) -> None:
    setsid = shutil.which("setsid")
    assert setsid
    person, terminal = pty.openpty()
    command = [setsid, "--ctty", "--wait", sys.executable, "-c", ASK]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        seen = b""
        while b"stop here? " not in seen:
            seen += os.read(person, 1024)
        os.write(person, keys)
        try:
            assert process.wait(30) == code
        finally:
            process.kill()
            os.close(person)
