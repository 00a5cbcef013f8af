"""The node that a person starts by hand, to try d0ctl with it."""

import shlex
import subprocess
import sys

from tests.support.site import Site


def test_the_printed_command_adds_the_node(site: Site) -> None:
    words = [sys.executable, "-m", "tests.support.node", str(site.folder / "farm")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdout is not None
        command = shlex.split(node.stdout.readline())
        site.ok(*command[1:])
        checked = site.d0ctl("node", "check", "farm")
        node.terminate()

    assert checked.code == 0, checked
    assert node.returncode == 0


def test_it_is_the_same_node_when_it_is_started_again(site: Site) -> None:
    assert command_of(site) == command_of(site)


def command_of(site: Site) -> str:
    """Start the node, end it, and return the command that it printed."""
    words = [sys.executable, "-m", "tests.support.node", str(site.folder / "farm")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdout is not None
        command = node.stdout.readline()
        node.terminate()
    return command
