"""Who stands between a relay and its control host, and does to one frame what an order says.

The stream below is reliable: so whatever is lost from it, or broken, is soon followed by its end.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

CUT_AFTER = 0.3
"""How many seconds a stream goes on that has lost something."""

DELAY = 0.4
"""How many seconds a frame is late."""

UP, DOWN = "up", "down"
"""From the node to the control host, and back."""


def stand(command: "list[str]", order: "dict[str, Any]", note: "Callable[[str], None]") -> int:
    """Run a relay and pass on what it says and hears; note what was done; give its exit code."""
    relay = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: relay.terminate())
    assert relay.stdin is not None and relay.stdout is not None
    ways = ((UP, relay.stdout, sys.stdout.buffer), (DOWN, sys.stdin.buffer, relay.stdin))
    for way, source, target in ways:
        plan = order if order["way"] == way else {}
        pump = Pump(relay, plan, note, source, target)
        threading.Thread(target=pump.run, daemon=True).start()
    code = relay.wait()
    os._exit(abs(code))


class Pump:
    """One direction of the stream, of which one frame has bad luck."""

    def __init__(
        self,
        relay: "subprocess.Popen[bytes]",
        order: "dict[str, Any]",
        note: "Callable[[str], None]",
        source: "IO[bytes]",
        target: "IO[bytes]",
    ) -> None:
        self.relay = relay
        self.left: int = order.get("count", -1)
        self.note = note
        self.kind = b'"kind":"%s"' % order.get("kind", "").encode()
        self.deed: str = order.get("deed", "")
        self.source = source
        self.target = target

    def run(self) -> None:
        """Pass on line by line, to the end."""
        try:
            for line in self.source:
                self.pass_on(line)
            self.target.close()
        except OSError:
            self.cut()

    def pass_on(self, line: bytes) -> None:
        """Pass on one line, as it should be or as the order has it."""
        if self.left > 0 and self.kind in line.replace(b": ", b":"):
            self.left -= 1
            if self.left == 0:
                self.note(f"{self.deed} {self.kind.decode()}\n")
                getattr(self, "do_" + self.deed)(line)
                return
        self.send(line)

    def send(self, data: bytes) -> None:
        """Let bytes go at once."""
        self.target.write(data)
        self.target.flush()

    def cut(self) -> None:
        """End the stream, for both sides."""
        self.relay.kill()

    def do_double(self, line: bytes) -> None:
        """The frame comes twice."""
        self.send(line + line)

    def do_delay(self, line: bytes) -> None:
        """The frame comes after those that follow it."""
        threading.Timer(DELAY, self.send, [line]).start()

    def do_lose(self, line: bytes) -> None:
        """The frame does not come."""
        threading.Timer(CUT_AFTER, self.cut).start()

    def do_halve(self, line: bytes) -> None:
        """Half of the frame comes, and then the end."""
        self.send(line[: len(line) // 2])
        self.cut()

    def do_cut(self, line: bytes) -> None:
        """The frame comes, and then the end: an answer to it has no way back."""
        self.send(line)
        self.cut()

    def do_garble(self, line: bytes) -> None:
        """Something else comes in place of the frame."""
        self.send(b'{"kind":"messages","files":"\x1b[2J"}\n{"kin\xff\n')
        threading.Timer(CUT_AFTER, self.cut).start()
