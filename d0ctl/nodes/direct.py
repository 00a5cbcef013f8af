"""Logins of one node to another, with a key made for one stream of files.

The private key goes to the node that logs in, which keeps it in memory; the public one is in the
`authorized_keys` of the other node until the login has arrived. Nothing of it is kept here.
"""

import secrets

from d0ctl.errors import D0Error
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.link import Frame
from d0ctl.nodes.transports import hostkeys
from d0ctl.nodes.transports.resolve import resolve
from d0ctl.units import clean
from d0ctl_wrapper.protocol import file_stream
from d0ctl_wrapper.protocol.checks import json_text, shape

_READY = shape.record(
    {"fault": shape.bounded(shape.string), "command": shape.bounded(shape.string)}
)

_CALLED = shape.record({"fault": shape.bounded(shape.string)})


class NoLogin(D0Error):
    """A node can't log in to another one."""


class Login:
    """A login of `caller` to `callee`, for one stream."""

    def __init__(self, caller: Courier, callee: Courier) -> None:
        self.caller, self.callee = caller, callee
        self._name = secrets.token_hex(16)
        self._private = ""

    def order(self, *, is_caller: bool) -> Frame:
        """Return how an end is connected; the one that answers gets a new public key."""
        if is_caller:
            return {"role": file_stream.CALL, "name": self._name}
        return {"role": file_stream.ANSWER, "name": self._name, "public": self._new_key()}

    def command(self, answer: bytes) -> str:
        """Return the command of the login, as reported by the end that waits. Raises NoLogin."""
        ready = _READY(json_text.decode_bounded(answer))
        if ready["fault"]:
            raise NoLogin(clean(ready["fault"]))
        return str(ready["command"])

    def call(self, command: str) -> bytes:
        """Return the second order to the end that calls. Raises NoLogin."""
        try:
            target = resolve(self.callee.address.destination).target
        except D0Error as error:
            raise NoLogin(str(error)) from error
        lines = hostkeys.lines(self.callee.known_hosts, target.known_as, file_stream.ALIAS)
        if not lines:
            raise NoLogin(f"the host key of `{target.known_as}` is not known")
        return file_stream.encode(
            {
                "user": target.user,
                "host": target.host,
                "port": target.port,
                "known_hosts": lines,
                "private": self._private,
                "command": command,
            }
        )

    def check(self, answer: bytes) -> None:
        """Raise NoLogin if the end that calls reports that it can't log in."""
        fault = _CALLED(json_text.decode_bounded(answer))["fault"]
        if fault:
            raise NoLogin(clean(fault))

    def _new_key(self) -> str:
        # only large streams go directly: others avoid the import
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        self._private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ).decode()
        encoding, form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        return key.public_key().public_bytes(encoding, form).decode()
