"""The login to a host with the keys that OpenSSH would try."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paramiko

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.transports.resolve import Hop


class LoginRefused(NodeUnreachable):
    """The host answers with the right key, but refuses the login."""


class Login:
    """A login with the keys that OpenSSH would try, in its order; it records them for the error."""

    def __init__(self, hop: Hop) -> None:
        self._hop = hop
        self._tried: list[str] = []

    def authenticate(self, transport: paramiko.Transport) -> None:
        """Log in, or raise LoginRefused with all that was tried."""
        deadline = time.monotonic() + transport.auth_timeout
        agent = self._agent(transport.auth_timeout)
        try:
            if not any(self._fits(transport, key, deadline) for key in self._keys(agent)):
                raise self._refused("")
        finally:
            agent._close()

    def _fits(self, transport: paramiko.Transport, key: paramiko.PKey, deadline: float) -> bool:
        """Return whether the host accepts this key."""
        try:
            more = transport.auth_publickey(self._hop.user, key)
        except paramiko.AuthenticationException as error:
            if time.monotonic() >= deadline:
                raise TimeoutError from error
            if transport.is_active():
                return False
            raise self._refused(" and closes the connection") from error
        if more:
            raise self._refused(
                f" with a key alone: it also wants {' or '.join(more)} (--via openssh)"
            )
        return True

    def _refused(self, how: str) -> LoginRefused:
        tried = ", ".join(self._tried) or "nothing: there is no key and no agent"
        return LoginRefused(
            f"`{self._hop}` refuses the login{how}; tried {tried}",
            hint=f"make `ssh {self._hop.asked}` work without a question, "
            "or name a key: `d0ctl node add ... --identity FILE`",
        )

    def _agent(self, timeout: float) -> Any:
        """Return the agent of this hop; it has no keys if there is none."""
        agent = paramiko.agent.AgentSSH()
        if not self._hop.agent:
            return agent
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        try:
            connection.connect(self._hop.agent)
            agent._connect(connection)
        except (OSError, paramiko.SSHException):
            connection.close()
            self._tried.append(f"the agent at `{self._hop.agent}`, which does not answer")
        return agent

    def _keys(self, agent: Any) -> Iterator[paramiko.PKey]:
        """Yield the agent's keys, those of identity files first, then the files that it lacks."""
        held = {key.get_base64(): key for key in agent.get_keys()}
        files = {path: public_part(path) for path in self._hop.identities if path.is_file()}
        wanted = [text for text in files.values() if text in held]
        others = [] if self._hop.identities_only else [text for text in held if text not in wanted]
        for text in (*wanted, *others):
            self._tried.append(f"`{held[text].comment}` of the agent")
            yield held[text]
        if self._hop.identities_only and not files:
            self._tried += [f"`{path}`, which does not exist" for path in self._hop.identities]
        for path in (path for path, text in files.items() if text not in held):
            try:
                key = paramiko.PKey.from_path(path)
            except TypeError:
                self._tried.append(f"`{path}`, which has a passphrase and is in no agent")
            except (OSError, ValueError, paramiko.SSHException, paramiko.UnknownKeyType):
                self._tried.append(f"`{path}`, which can't be read as a key")
            else:
                self._tried.append(f"`{path}`")
                yield key


def public_part(identity: Path) -> str:
    """Return the key in `identity`.pub; empty if there is none."""
    try:
        return Path(f"{identity}.pub").read_text().split()[1]
    except (OSError, ValueError, IndexError):
        return ""
