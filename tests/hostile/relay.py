"""A relay that attacks, started in place of a node's python.

It shakes hands and accepts launches as any relay. The first part of the path of a launched
package, which is the name of its job, says which attack follows.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.relay import facts

Frame = dict[str, Any]

FOLDER = Path(os.environ.get("HOSTILE_FOLDER", "."))
"""Where the link to an endless file is."""

OUTPUT = "o.txt"

PIECE = 1 << 20
"""How many characters of a text go into one frame."""

CHUNK = 1000
"""How many messages go into one frame."""

FAR = 9.2e18

NEIGHBOURS = 30
"""How many attempts before and after its own the relay talks about."""

ENDLESS = "endless"
"""The node whose relay never ends its hello."""

NOBODY = "0" * 64
CHECKSUM = f"sha256:{NOBODY}"


def write(data: bytes) -> None:
    """Write bytes to the control host; end when it is gone."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(1, view) :]
    except OSError:
        os._exit(0)


def send(frame: Frame) -> None:
    """Send one frame."""
    write(json.dumps(frame, separators=(",", ":")).encode() + b"\n")


def deliver(*texts: str) -> None:
    """Send the texts of message files, many in a frame, long ones in pieces."""
    files: list[Frame] = []
    for number, text in enumerate(texts):
        name = f"1.{number + 1}"
        if len(text) <= PIECE:
            files.append({"name": name, "text": text})
            if len(files) < CHUNK:
                continue
        send({"kind": "messages", "files": files})
        files = []
        for begin in range(0, len(text) if len(text) > PIECE else 0, PIECE):
            file = {"name": name, "text": text[begin : begin + PIECE]}
            send({"kind": "messages", "files": [{**file, "more": begin + PIECE < len(text)}]})
    send({"kind": "messages", "files": files})


def line(fields: Frame) -> str:
    """Write one message without looking at it."""
    return json.dumps(fields, separators=(",", ":")) + "\n"


class Attempt:
    """One launch, and the messages that its wrapper could have signed."""

    def __init__(self, launch: Frame) -> None:
        self.number = launch["attempt"]
        self.token = launch["token"]
        self.attack = launch["path"].split("/")[0]

    def say(self, seq: int, kind: str, **fields: Any) -> Frame:
        """Make one message."""
        common = {"attempt": self.number, "token": self.token, "seq": seq, "time": time.time()}
        return {**common, "kind": kind, **fields}

    def start(self) -> str:
        """Say that the package runs."""
        fields = {"pid": 1, "boot_id": "boot", "utc_offset": 0, "phase": "running"}
        return line(self.say(1, "start", **fields))

    def end(self, seq: int = 2, **fields: Any) -> Frame:
        """Make an end that says that all went well, but for some fields."""
        now = time.time()
        usual = {
            "outcome": "successful", "started": now - 1, "ended": now, "utc_offset": 0,
            "binary": 1, "reason": None, "detail": "", "exit_code": 0, "signal": None,
            "cpu": 0.0, "rss": 0, "stderr": "", "binaries": [], "outputs": [], "missing": [],
        }  # fmt: skip
        return self.say(seq, "end", **{**usual, **fields})

    def failure(self, **fields: Any) -> Frame:
        """Make an end that says that the package failed."""
        usual = {"outcome": "failed", "reason": "exit-code", "exit_code": 1}
        return self.end(**{**usual, **fields})


def zero(attempt: Attempt) -> None:
    """Name an endless file as an output of 10 bytes."""
    path = str(FOLDER / "zero")
    output = {"name": OUTPUT, "path": path, "size": 10, "checksum": CHECKSUM}
    deliver(line(attempt.end(outputs=[output])))


def times(attempt: Attempt) -> None:
    """End before the universe began, and long after the sun."""
    deliver(line(attempt.end(started=-FAR, ended=FAR)))


def detail(attempt: Attempt) -> None:
    """Explain a failure in 30 MB, then in as much as one message may have."""
    deliver(line(attempt.failure(detail="x" * 30_000_000)))
    deliver(line(attempt.failure(detail="x" * 1_000_000)))


def missing(attempt: Attempt) -> None:
    """Miss 200,000 inputs."""
    names = [f"missing{number}" for number in range(200_000)]
    deliver(message.text([attempt.failure(missing=names)]))


def binaries(attempt: Attempt) -> None:
    """Report 100,000 binaries of a package that has one."""
    record = {"started": 1.0, "ended": 2.0, "exit_code": 1, "signal": None, "cpu": 0, "rss": 0}
    found = [{"binary": number, **record} for number in range(1, 100_001)]
    deliver(message.text([attempt.failure(binaries=found)]))


def notes(attempt: Attempt) -> None:
    """Make 20,000 remarks, and then fail."""
    texts = ("n" * 300 + str(number) for number in range(20_000))
    said = (attempt.say(2 + n, "note", binary=1, text=text) for n, text in enumerate(texts))
    deliver(*map(line, said), line(attempt.failure(seq=30_000)))


def forged(attempt: Attempt) -> None:
    """Send 20,000 messages that nobody has signed, and then fail."""
    unsigned = {**attempt.failure(), "token": NOBODY}
    deliver(*(line({**unsigned, "attempt": n}) for n in range(1, 20_001)), line(attempt.failure()))


def frame(attempt: Attempt) -> None:
    """Send one frame of 150 MB that is full of empty lists."""
    part = b"[]," * 1_000_000
    write(b'{"kind":"pong","id":"x","a":[')
    for _ in range(50):
        write(part)
    write(b"[]]}\n")


def nothing(attempt: Attempt) -> None:
    """Succeed without the output that the package exists for."""
    deliver(line(attempt.end()))


def theft(attempt: Attempt) -> None:
    """End the attempts of other nodes, by messages and by all that needs no signature."""
    others = [attempt.number + n for n in range(-NEIGHBOURS, NEIGHBOURS + 1) if n]
    others = [number for number in others if number > 0]
    deliver(*(line({**attempt.failure(), "attempt": number}) for number in others))
    for number in others:
        refusal = {"attempt": number, "reason": "launch-failed", "message": "no"}
        send({"kind": "refused", **refusal})
        send({"kind": "dead", "attempts": [{"attempt": number, "message": "it is dead"}]})
    send({"kind": "absent", "attempts": others})
    send({"kind": "forgotten", "attempts": others, "paths": []})
    deliver(line(attempt.failure()))


LAUNCHED: dict[int, Attempt] = {}
"""The attempts that were launched here."""

ATTACKS: dict[str, Callable[[Attempt], None]] = {
    attack.__name__: attack
    for attack in (
        zero, times, detail, missing, binaries, notes, forged, frame, nothing, theft,
    )
}  # fmt: skip
"""What the relay does once it has said that a package runs, by the name of the job."""


def lines() -> Iterator[bytes]:
    """What the control host says, line by line; pieces of a frame are not put together."""
    rest = b""
    while data := os.read(0, 1 << 16):
        *whole, rest = (rest + data).split(b"\n")
        yield from whole


def obey(order: Frame) -> None:
    """Answer as a relay would, as far as the control host waits for it."""
    kind = order["kind"]
    if kind == "ping":
        pong = {"kind": "pong", "id": order["id"], "time": time.time(), "load": 0.0}
        send({**pong, "disk_free": 1 << 40})
    elif kind == "stat":
        send({"kind": "facts", "id": order["id"], "facts": facts.gather(os.fsencode(FOLDER))})
    elif kind == "forget":
        send({"kind": "forgotten", "attempts": order["attempts"], "paths": order["paths"]})
    elif kind == "resend":
        for attempt in (LAUNCHED[number] for number in order["attempts"] if number in LAUNCHED):
            ATTACKS[attempt.attack](attempt)
    elif kind == "launch":
        for launch in order["attempts"]:
            attempt = LAUNCHED[launch["attempt"]] = Attempt(launch)
            send({"kind": "accepted", "attempts": [attempt.number]})
            deliver(attempt.start())
            if attempt.attack in ATTACKS:
                ATTACKS[attempt.attack](attempt)


def never_end() -> None:
    """List attempts for ever, in place of the end of a hello."""
    for first in range(1, 1 << 60, 10_000):
        found = [{"attempt": n, "state": "running"} for n in range(first, first + 10_000)]
        send({"kind": "listed", "attempts": found, "more": True})


def main() -> None:
    """Serve one connection."""
    said = lines()
    hello = json.loads(next(said))
    write(f"d0ctl {hello['nonce']}\n".encode())
    is_endless = hello["base"].endswith(f"/{ENDLESS}") and not hello["read_only"]
    found = {**facts.gather(os.fsencode(FOLDER)), "machine_id": FOLDER.name}
    send({"kind": "hello", "facts": found, "attempts": [], "more": is_endless})
    if is_endless:
        threading.Thread(target=never_end, daemon=True).start()
    for text in said:
        obey(json.loads(text))


if __name__ == "__main__":
    main()
