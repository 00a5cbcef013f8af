"""How many files the process that drives may have open, and what it starts."""

import resource
import subprocess
import sys

PROGRAM = """
import resource
from pathlib import Path
from d0ctl.model import Address
from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.local import allow_many

allow_many()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
node = connect(Address("here", kind="local"), Path("none"))
stream = node.start("read line; ulimit -S -n")
stream.write(b"\\n")
print(stream.read().decode(), end="")
node.close()
"""


def test_the_driver_may_open_many_files_and_its_children_as_many_as_before() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limited = ["prlimit", f"--nofile=256:{hard}", sys.executable, "-c", PROGRAM]

    answer = subprocess.run(limited, capture_output=True, text=True, check=True).stdout

    assert answer.split() == [str(min(hard, 65_536)), "256"]
