"""A shell for a person: in the folder of an attempt, on this machine or by ssh."""

import subprocess
from pathlib import Path

import pytest

from d0ctl.errors import Refused
from d0ctl.nodes.transports.transport import Address
from d0ctl.nodes.visits.login_shell import opened
from tests.nodes.conftest import trust
from tests.support.sshd import Sshd

ASK = "pwd; exit\n"


def said(address: Address, known_hosts: Path, folder: Path) -> str:
    """What a shell prints that is asked where it is."""
    with opened(address, known_hosts, str(folder)) as call:
        done = subprocess.run(call.arguments, cwd=call.folder, input=ASK, text=True, timeout=60,
                              capture_output=True)  # fmt: skip
    return done.stdout + done.stderr


def test_the_shell_begins_in_the_folder_on_a_node(
    sshd: Sshd, known_hosts: Path, tmp_path: Path
) -> None:
    trust(known_hosts, sshd)
    folder = tmp_path / "it's here"
    folder.mkdir()
    address = Address("n", destination=sshd.destination, identity=str(sshd.identity))

    assert str(folder) in said(address, known_hosts, folder)


def test_the_shell_begins_in_the_folder_on_this_machine(known_hosts: Path, tmp_path: Path) -> None:
    assert str(tmp_path) in said(Address("here", kind="local"), known_hosts, tmp_path)


def test_a_folder_that_is_gone_is_named_and_the_shell_opens(
    known_hosts: Path, tmp_path: Path
) -> None:
    words = said(Address("here", kind="local"), known_hosts, tmp_path / "gone")

    assert str(tmp_path / "gone") in words
    assert str(Path.cwd()) in words


def test_an_allocation_of_a_batch_system_is_refused(known_hosts: Path) -> None:
    address = Address("n", kind="slurm", destination="login", job="17")

    with pytest.raises(Refused, match="an allocation of slurm"), opened(address, known_hosts, ""):
        pass
