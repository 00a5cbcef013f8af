"""The command line of a program of this package, as a process of its own."""

import os
import shlex
import sys
from typing import List


def arguments(statement: str) -> "List[str]":
    """Return the words that carry out a statement, with the python and the package of this one."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    text = "import sys; sys.path.insert(0, %r); %s" % (folder, statement)
    return [sys.executable, "-I", "-S", "-c", text]


def shell() -> str:
    """Return the same for the program of a node, as a text for the shell."""
    found = arguments("from d0ctl_wrapper.__main__ import main; main()")
    return " ".join(shlex.quote(word) for word in found)
