"""The only place that says which guards an attempt has, and sets them on each of its binaries."""

import signal
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.guards.disk_guard import Room
from d0ctl_wrapper.attempt.guards.limits import Disk, Memory, WallTime
from d0ctl_wrapper.attempt.guards.load_guard import ForeignWork, Judge, Pace, Thrashing, Yield
from d0ctl_wrapper.attempt.guards.looping import Looping, Signs
from d0ctl_wrapper.attempt.guards.rotation import Turn
from d0ctl_wrapper.attempt.intervals import Watcher
from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import Tree
from d0ctl_wrapper.attempt.run.progress_report import Headway
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host import kernel
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, to_path
from d0ctl_wrapper.protocol.quantities import size


class Guards:
    """The guards of one attempt, over one of its binaries after the other."""

    def __init__(self, folder: AttemptFolder, launch: Launch, tree: Tree, report: Report) -> None:
        self._folder = folder
        self._launch = launch
        self._asked: "Dict[str, Any]" = launch["guards"]
        self._tree = tree
        self._report = report
        self._ran = 0.0
        self._clock: "Clock | None" = None
        self._looping: "Looping | None" = None
        self._kills: "kernel.Memory | None" = None

    def over(
        self, who: str, binary: "Dict[str, Any]", logs: "List[bytes]", clock: Clock,
        headway: Headway, suspension: Suspension,
    ) -> "List[Watcher]":  # fmt: skip
        """Make what guards a binary that has just been started."""
        work = self._folder.work
        outputs = [work + b"/" + to_path(output["name"]) for output in binary["outputs"]]
        signs = Signs(lambda: headway.news, [*logs, *outputs], work)
        self._clock, self._kills = clock, kernel.memory()
        self._looping = Looping(who, binary, clock, signs, self._tree.usage)
        return [
            self._looping.look,
            *self._limits(who, binary),
            *self._room(suspension),
            *self._yields(suspension),
        ]

    def end(self) -> "float | None":
        """Take note that the binary has ended, and give its longest silence."""
        if self._clock is None or self._looping is None:
            return None
        gap = self._looping.gap()
        self._ran += self._clock.now()
        self._clock = self._looping = None
        return round(gap, 1)

    def judge(self, who: str, number: "int | None") -> None:
        """Raise Failed if a binary was killed by the kernel, which had no memory left."""
        now = kernel.memory()
        if number != signal.SIGKILL or now is None or self._kills is None:
            return
        killed = now.killed - self._kills.killed
        if killed > 0:
            detail = "%s was killed by the kernel, out of memory (kills on the node meanwhile: %d)"
            peak = "; its largest process took %s" % size(self._tree.rss)
            raise Failed("out-of-memory", detail % (who, killed) + peak)

    def _limits(self, who: str, binary: "Dict[str, Any]") -> "List[Watcher]":
        asked = self._asked
        looks: "List[Watcher]" = []
        if asked["wall_time"] is not None:
            looks.append(WallTime(asked["wall_time"], self._running_time).look)
        if asked["memory"] is not None:
            looks.append(Memory(who, asked["memory"], self._tree.usage, self._tree.memory).look)
        scratch = binary["work_size"] if asked["disk"] is None else None
        if asked["disk"] is not None or scratch is not None:
            looks.append(Disk(asked["disk"], scratch, self._folder.path, self._report.remark).look)
        return looks

    def _running_time(self) -> float:
        return self._ran + (self._clock.now() if self._clock is not None else 0.0)

    def _room(self, suspension: Suspension) -> "List[Watcher]":
        reserve = self._asked["reserve"]
        if reserve is None:
            return []
        turn = Turn(self._folder.node, b"room")
        room = Room(
            self._folder.node.base,
            reserve,
            self._asked["patience"],
            suspension,
            turn,
            self._report.need,
        )
        return [room.look]

    def _yields(self, suspension: Suspension) -> "List[Watcher]":
        asked = self._asked
        judges: "List[tuple[str, Judge]]" = []
        pace = Pace(asked["window"], asked["grace"])
        if asked["yield_cpu"] is not None:
            work = ForeignWork(asked["yield_cpu"], self._launch["cpus"], pace.window)
            judges.append(("cpu", work))
        if asked["swap"] is not None:
            judges.append(("swap", Thrashing(asked["swap"], pace.window)))
        return [
            Yield(name, judge, suspension, Turn(self._folder.node, name.encode("ascii")), pace).look
            for name, judge in judges
        ]
