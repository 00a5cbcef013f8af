"""The processes below a wrapper, as the kernel lists them."""

import subprocess
import sys

from d0ctl_wrapper.host import process

BY_A_THREAD = """
import subprocess, sys, threading
def start():
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    print(child.pid, flush=True)
    sys.stdin.read()
    child.communicate()
threading.Thread(target=start).start()
"""


def test_a_process_that_another_thread_than_the_first_has_started_is_found() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BY_A_THREAD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:
        assert starter.stdout is not None
        child = int(starter.stdout.readline())
        assert process.below(starter.pid) == {child}
        starter.communicate()

    assert process.below(starter.pid) == set()
