"""The folder of orders: which process is to die at which point, and what a stream shall suffer."""

import itertools
import json
import random
from pathlib import Path

from tests.chaos.trap import ANY, FIRED

POINTS = {
    "daemon": (
        "execute", "fsync", "rename", "unlink", "write", "send", "launch", "order", "deliver",
        "clear", "apply_messages", "act_on_reports", "send_orders", "begin_transfers", "copy_here",
        "put", "reconcile", "accept", "remove_unneeded", "settle_jobs", "details", "collect",
        "apply", "arrive", "give_lease",
    ),
    "call": ("execute", "fsync", "rename", "open", "writing", "commit", "apply", "flock"),
    "relay": (
        "mkdir", "fork", "write", "unlink", "send", "rename", "adopt", "launch", "acknowledge",
        "waitpid", "kill", "_start", "_sign", "take", "collect", "begin", "proceed", "ended",
        "start", "_claim", "link_record", "write_record", "_take_packet", "_rest", "_close",
        "send_reported", "_release_cpus",
    ),
    "wrapper": (
        "setsid", "launch", "send_message", "send_end_message", "observe", "fork", "write",
        "rename", "link", "unlink", "rmdir", "mkdir", "start", "begin", "record_end", "finish",
        "keep", "prepare", "spawn", "send_end", "waitpid", "symlink", "fsync", "wake_relay", "run",
        "send_computed",
    ),
    "agent": (
        "execute", "executemany", "writing", "commit", "append", "insert", "feed", "look_up",
        "move", "move_dataset", "follow", "act", "locked", "wait", "take", "_pick",
        "_complete", "packages",
    ),
    "helper": ("rename", "unlink", "fsync", "read", "rmdir", "take", "forget"),
}  # fmt: skip
"""Named points of each role: functions of ours or of Python that do something to the world."""

FRAMES = {
    "up": ("messages", "hello", "accepted", "forgotten", "taken", "hashed"),
    "down": ("launch", "ack", "forget", "kill", "take", "lease", "resend"),
}
"""The frames worth spoiling, by their direction."""

MOST_CALLS = 3000
"""How far a random instruction is from the start at most, in calls of ours."""


class Orders:
    """Orders that lie in a folder until a process takes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = itertools.count(1)
        folder.mkdir(parents=True)

    def kill(self, role: str, chance: random.Random) -> None:
        """Have the next process of this role killed, at a named point or anywhere."""
        point = chance.choice((ANY, *POINTS[role])) if chance.random() < 0.7 else ANY
        count = int(MOST_CALLS ** chance.random()) if point == ANY else chance.randint(1, 6)
        after = chance.random() < 0.5
        self._put(role, {"point": point, "count": count, "after": after})

    def spoil(self, deed: str, chance: random.Random) -> None:
        """Have something done to a frame between the next relay and its control host."""
        way = chance.choice(("up", "down"))
        kind = chance.choice(FRAMES[way])
        count = chance.choice((1, 1, 2, 3))
        self._put("middle", {"way": way, "kind": kind, "count": count, "deed": deed})

    def _put(self, role: str, order: dict[str, object]) -> None:
        path = self.folder / f"{role}-{next(self._numbers):03}.json"
        aside = path.with_suffix(".aside")
        aside.write_text(json.dumps(order))
        aside.rename(path)

    def fired(self) -> list[str]:
        """What was killed, where."""
        path = self.folder / FIRED
        return path.read_text().splitlines() if path.exists() else []
