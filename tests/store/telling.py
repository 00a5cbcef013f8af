"""Messages of attempts, and the rows that they make."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.store import Store, lifecycle, open_store
from d0ctl.store.attempts import messages
from tests.support.homes import make_home
from tests.support.jobs import NOW, job, simple, stage, submitted
from tests.support.messages import Message
from tests.support.site import Site


@contextmanager
def launched() -> Iterator[tuple[Store, Site]]:
    """Six packages launched as attempts 1 to 6, one of them being killed, and a merge."""
    with tempfile.TemporaryDirectory() as folder:
        with open_store(make_home(Path(folder, "home"))) as store:
            store.connection.execute("pragma synchronous = off")
            makers = [simple(outputs=[f"f{n}"]) for n in range(1, 6)]
            last = simple(outputs=[OutputSpec("result", result=True)])
            merge = simple(inputs=[f"f{n}" for n in range(1, 6)])
            submitted(store, job("all", stage(*makers, last), stage(merge)))
            site = Site.of(store, cpus=8)
            site.schedule()
            site.hand_out(site.node("localhost"))
            with store.writing():
                selected = store.select([5])
                lifecycle.kill(selected, actor="tester", note=None, now=NOW)
            yield store, site


def more(attempt: int, kind: str, seq: int, **fields: object) -> Message:
    """Another message of an attempt under way."""
    return {"attempt": attempt, "kind": kind, "seq": seq, "time": NOW + seq, **fields}


def state(attempt: int, seq: int, phase: str) -> Message:
    """A wrapper says which phase its attempt is in."""
    return more(attempt, "state", seq, phase=phase, why=f"it is {phase}")


def progress(attempt: int, seq: int, percent: float, eta: float | None = None) -> Message:
    """A wrapper says how far its attempt is."""
    numbers = {"binary": 1, "done": percent, "total": 100.0, "percent": percent, "eta": eta}
    return more(attempt, "progress", seq, **numbers, line=f"{percent} %", cpu=1.0, rss=4096)


def note(attempt: int, seq: int) -> Message:
    """A wrapper says what it found."""
    return more(attempt, "note", seq, binary=1, text=f"note {seq}")


def apply(store: Store, batch: list[Message], *, at: float = NOW + 5) -> messages.Applied:
    """Apply a batch in a transaction of its own."""
    with store.writing():
        return messages.apply(store, batch, now=at)
