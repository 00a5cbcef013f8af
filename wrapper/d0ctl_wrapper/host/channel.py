"""The channel between a relay and a wrapper of its own: packets over a pair of sockets.

The relay sends launches. The wrapper answers with the messages that it has put into the spool, with
the end of each attempt, and before that, on a slow disk, with the end of its computing. A packet
arrives whole or not at all.
"""

import marshal
import signal
import socket
import struct
from typing import Any, Dict, NamedTuple, Optional, Tuple

from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol.paths import NodePaths

LONGEST = 32 * 1024
"""The most bytes of a packet."""

INHERITED = b"!"
"""The packet for the launch that a new wrapper has inherited from its relay."""

CHECK_S = 1
"""The whole seconds between two checks of an idle wrapper for SIGTERM."""

MESSAGE, END, LAST_END = b"m", b"e", b"l"
"""The kinds of packets of a wrapper; after the last end it takes no more launches."""

COMPUTED = b"c"
"""The kind of packet of a wrapper that only waits for its disk until the end of its attempt."""

UNREAD = b"u"
"""The kind of packet that stands for the end of a wrapper that had not read its launch."""


class Packet(NamedTuple):
    """A message in the spool: its kind of packet, its name, and its text unless that is long."""

    kind: bytes
    name: bytes
    text: bytes


def pair() -> "Tuple[socket.socket, socket.socket]":
    """Return the ends of a new channel: that of the relay, and that of the wrapper."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def pack(launch: "Dict[str, Any]") -> "bytes | None":
    """Return the packet of a launch; None if it is too long for one."""
    packet = marshal.dumps(launch)
    return packet if len(packet) <= LONGEST else None


def send(end: "socket.socket", packet: bytes) -> bool:
    """Send a packet without waiting; return whether the other end can receive it."""
    try:
        end.send(packet, socket.MSG_DONTWAIT)
    except OSError:
        return False
    return True


def receive(end: "socket.socket") -> "Packet | None":
    """Return the next packet of a wrapper, empty at its end; None if there is none yet.

    A socket that is closed with unread packets resets the connection (unix(7)).
    """
    try:
        packet = end.recv(LONGEST, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except ConnectionResetError:
        packet = UNREAD
    except OSError:
        packet = b""
    name, _, text = packet[1:].partition(b" ")
    return Packet(packet[:1], name, text)


class RelayChannel:
    """The end of a wrapper."""

    def __init__(self, paths: NodePaths, end: "socket.socket") -> None:
        self._paths = paths
        self._end = end
        timeout = struct.pack("ll", CHECK_S, 0)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)

    def launch(self, inherited: "Optional[Dict[str, Any]]") -> "Dict[str, Any] | None":
        """Wait for the next launch; return None if the relay wants no more, or SIGTERM came."""
        while True:
            try:
                packet = self._end.recv(LONGEST)
            except BlockingIOError:
                if signal.SIGTERM in signal.sigpending():
                    return None
                continue
            except OSError:
                return None
            if packet == INHERITED:
                return inherited
            found: "Dict[str, Any] | None" = marshal.loads(packet) if packet else None
            return found

    def send_message(self, name: bytes, text: bytes) -> None:
        """Tell the relay of a message in its spool; if it is gone, wake the one there is now."""
        if self._paths.has_own_spool and not self._send(MESSAGE, name, text):
            spool.wake_relay(self._paths)

    def send_computed(self) -> None:
        """Tell the relay that the attempt needs no CPUs until its end; none may hear it."""
        self._send(COMPUTED, b"", b"")

    def send_end_message(self, name: bytes, text: bytes, is_last: bool) -> bool:
        """Tell the relay of an end message and of the end of its attempt; return whether it can
        receive it."""
        if self._send(LAST_END if is_last else END, name, text):
            return True
        spool.wake_relay(self._paths)
        return False

    def _send(self, kind: bytes, name: bytes, text: bytes) -> bool:
        head = kind + name + b" "
        is_short = len(head) + len(text) <= LONGEST
        return send(self._end, head + text if is_short else head)
