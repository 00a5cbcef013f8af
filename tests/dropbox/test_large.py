"""What a message of a gigabyte costs."""

import subprocess
import sys

import pytest

from d0ctl.dropbox import DropBox
from tests.dropbox.dropped import put, rejected, start

SCRIPT = """
import resource, sys
from pathlib import Path
from d0ctl.dropbox import DropBox

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

box = DropBox(Path(sys.argv[1]), lambda: str)
box.collect()
before = peak()
print(flush=True)
input()
box.collect()
print(peak() - before)
"""

MOST = 4_000_000
"""How many bytes of memory a look may take beyond those of an empty one."""


@pytest.mark.parametrize("name", ["7.1", "n1.1.2.3.batch"])
def test_a_message_of_a_gigabyte_is_refused_without_the_memory_for_it(
    box: DropBox, name: str
) -> None:
    put(box, name, start(7))
    aside = box.folder / "tmp" / name
    (box.new / name).rename(aside)
    with aside.open("r+b") as file:
        file.truncate(1_000_000_000)
    looks = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(box.folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert looks.stdout and looks.stdout.readline() == "\n"
    aside.rename(box.new / name)

    taken, _ = looks.communicate("\n")

    assert int(taken) < MOST
    assert len(rejected(box)) == 1
    assert not list(box.new.iterdir())
