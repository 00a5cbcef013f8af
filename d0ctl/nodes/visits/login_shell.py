"""A shell for a person in a folder of a node."""

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from d0ctl.errors import Refused
from d0ctl.model import DIRECT
from d0ctl.nodes.transports import standing_login
from d0ctl.nodes.transports.openssh import arguments_of, ssh
from d0ctl.nodes.transports.resolve import config_from_environment, ssh_config
from d0ctl.nodes.transports.transport import CONNECT_TIMEOUT_S, IO_TIMEOUT_S, Address


class Call(Struct, frozen=True):
    """A program to start on the terminal, and the folder where it starts."""

    arguments: list[str]
    folder: Path | None = None


def command(folder: str) -> str:
    """Return the shell command that enters a folder and becomes an interactive shell.

    If the folder no longer exists, the shell says so and begins at home.
    """
    enter = f"cd -- {shlex.quote(folder)}; " if folder else ""
    return enter + 'exec "${SHELL:-/bin/sh}" -i'


@contextmanager
def opened(address: Address, known_hosts: Path, folder: str) -> Iterator[Call]:
    """Yield the call that opens a shell on a node; by the login of a person, if there is one.

    Raises Refused for an allocation of a batch system, which ssh does not reach.
    """
    if address.job and address.job != DIRECT:
        raise Refused(
            f"`{address.name}` is an allocation of {address.kind}, which ssh does not reach"
        )
    if not address.destination:
        yield Call(["/bin/sh", "-c", command(folder)])
        return
    login = standing_login.folder_of(address, known_hosts)
    if standing_login.is_logged_in(address, login):
        yield Call(ssh(login, "-t", *arguments_of(address), command(folder)), login)
        return
    with tempfile.TemporaryDirectory(prefix="d0ctl-") as name:
        settings = ssh_config(known_hosts, CONNECT_TIMEOUT_S, IO_TIMEOUT_S,
                              config_from_environment(), is_attended=True)  # fmt: skip
        Path(name, "config").write_text(settings)
        yield Call(["ssh", "-F", f"{name}/config", "-t", *arguments_of(address), command(folder)])
