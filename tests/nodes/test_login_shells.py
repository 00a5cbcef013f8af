"""Accounts whose login shell runs no command, or eats what it should pass on."""

from pathlib import Path

import pytest

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.transports.transport import Transport
from tests.nodes.conftest import Opener
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until

IO_TIMEOUT = 1.0
SSH = pytest.mark.parametrize("via", ["fabric", "openssh"])


@SSH
def test_a_bashrc_that_reads_stdin_fails_in_time_with_a_hint(
    tmp_path: Path, reach: Opener, via: str
) -> None:
    with Sshd(tmp_path / "reads", bashrc="cat > /dev/null\n") as reads:
        node = reach(reads, via, io_timeout=IO_TIMEOUT)

        with pytest.raises(NodeUnreachable) as failure:
            node.home()

    assert "no start-up file of the account there, such as .bashrc" in str(failure.value.hint)


@SSH
def test_an_account_that_runs_no_command_is_refused_with_the_node_and_what_its_shell_said(
    tmp_path: Path, reach: Opener, via: str
) -> None:
    with Sshd(tmp_path / "shut", bashrc="echo /nonexistent: No such file >&2; exit 1\n") as shut:
        node = reach(shut, via)

        with pytest.raises(
            NodeUnreachable, match=r"^node `.+` runs no command of .+: /nonex"
        ) as shown:
            node.home()

    assert "a home directory and a shell" in str(shown.value.hint)


def test_the_account_is_named_also_if_its_shell_has_ended_the_connection_already(
    tmp_path: Path, reach: Opener
) -> None:
    with (
        Sshd(tmp_path / "shut", bashrc="echo /nonexistent: No such file >&2; exit 1\n") as shut,
        pytest.raises(NodeUnreachable, match=r"^node `.+` runs no command of .+: /nonex"),
    ):
        node = reach(shut, "openssh")
        wait_until(lambda: _is_gone(node))
        node.home()


def _is_gone(node: Transport) -> bool:
    try:
        node.start("exec cat").read()
    except NodeUnreachable:
        return True
    return False


@SSH
def test_a_bashrc_that_ends_the_shell_is_named_as_a_possible_cause(
    tmp_path: Path, reach: Opener, via: str
) -> None:
    with Sshd(tmp_path / "ends", bashrc="echo Welcome; exit 3\n") as ends:
        node = reach(ends, via)

        with pytest.raises(NodeUnreachable, match="runs no command of this account") as shown:
            node.home()

    assert "no start-up file there, such as .bashrc, ends the shell" in str(shown.value.hint)
