"""The guards of an attempt, set on each of its binaries."""

import signal
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.guards.disk_guard import DiskGuard
from d0ctl_wrapper.attempt.guards.limits import Disk, Memory, WallTime
from d0ctl_wrapper.attempt.guards.load_guard import ForeignWork, Judge, LoadGuard, Thrashing, Timing
from d0ctl_wrapper.attempt.guards.looping import LifeSigns, Looping
from d0ctl_wrapper.attempt.guards.rotation import Rotation
from d0ctl_wrapper.attempt.intervals import Watcher
from d0ctl_wrapper.attempt.reporter import Reporter
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.attempt.run.progress_report import ProgressReport
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.attempt.stage.inputs import linked
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host import kernel
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, to_path
from d0ctl_wrapper.protocol.text import size


class Guards:
    """The guards of one attempt, over one binary after another."""

    def __init__(
        self, folder: AttemptFolder, launch: Launch, tree: ProcessTree, report: Reporter,
        inputs: "Dict[str, Dict[str, Any]]",
    ) -> None:  # fmt: skip
        self._folder = folder
        self._launch = launch
        self._asked: "Dict[str, Any]" = launch["guards"]
        self._tree = tree
        self._report = report
        self._linked = lambda: linked(inputs.values())
        self._ran = 0.0
        self._clock: "Clock | None" = None
        self._looping: "Looping | None" = None
        self._kills: "kernel.Memory | None" = None
        self._disk = Disk(None, None, folder.path, report.remark, self._linked)

    def begin(self, clock: Clock, binary: "Dict[str, Any]") -> None:
        """Record that a binary begins, with its running time."""
        self._clock, self._kills, self._looping = clock, kernel.memory(), None
        limit = self._asked["disk"]
        scratch = binary["work_size"] if limit is None else None
        self._disk = Disk(limit, scratch, self._folder.path, self._report.remark, self._linked)

    def over(
        self, who: str, binary: "Dict[str, Any]", logs: "List[bytes]", clock: Clock,
        progress: ProgressReport, suspension: Suspension,
    ) -> "List[Watcher]":  # fmt: skip
        """Return the watchers that guard a binary that has begun."""
        work = self._folder.work
        outputs = [work + b"/" + to_path(output["name"]) for output in binary["outputs"]]
        signs = LifeSigns(progress.changes, [*logs, *outputs], work)
        self._looping = Looping(who, binary, clock, signs, self._tree.usage)
        return [
            self._looping.poll,
            *self._limits(who, binary),
            *self._disk_guard(suspension),
            *self._load_guards(suspension),
        ]

    def end(self) -> "tuple[float | None, int | None]":
        """Record that the binary has ended; return its longest silence, and its peak of disk."""
        if self._clock is None:
            return None, None
        ran = self._clock.now()
        gap = self._looping.gap() if self._looping is not None else ran
        self._ran += ran
        self._clock = self._looping = None
        return round(gap, 1), self._disk.peak_of_own()

    def judge(self, who: str, number: "int | None") -> None:
        """Raise Failed if the kernel killed a binary because memory ran out."""
        if number != signal.SIGKILL or self._kills is None:
            return
        now = kernel.memory()
        if now is None:
            return
        killed = now.killed - self._kills.killed
        if killed > 0:
            detail = "%s was killed by the kernel, out of memory (kills on the node meanwhile: %d)"
            peak = "; its largest process took %s" % size(self._tree.rss)
            raise Failed("out-of-memory", detail % (who, killed) + peak)

    def _limits(self, who: str, binary: "Dict[str, Any]") -> "List[Watcher]":
        asked = self._asked
        watchers: "List[Watcher]" = []
        if asked["wall_time"] is not None:
            watchers.append(WallTime(asked["wall_time"], self._running_time).poll)
        if asked["memory"] is not None:
            watchers.append(Memory(who, asked["memory"], self._tree.usage, self._tree.memory).poll)
        return [*watchers, self._disk.poll]

    def _running_time(self) -> float:
        return self._ran + (self._clock.now() if self._clock is not None else 0.0)

    def _disk_guard(self, suspension: Suspension) -> "List[Watcher]":
        reserve = self._asked["reserve"]
        if reserve is None:
            return []
        rotation = Rotation(self._folder.node, b"disk")
        guard = DiskGuard(
            self._folder,
            reserve,
            self._asked["patience"],
            suspension,
            rotation,
            self._report.need,
        )
        return [guard.poll]

    def _load_guards(self, suspension: Suspension) -> "List[Watcher]":
        asked = self._asked
        judges: "List[tuple[str, Judge]]" = []
        timing = Timing(asked["window"], asked["grace"])
        if asked["yield_cpu"] is not None:
            work = ForeignWork(asked["yield_cpu"], self._launch["cpus"], timing.window_s)
            judges.append(("cpu", work))
        if asked["swap"] is not None:
            judges.append(("swap", Thrashing(asked["swap"], timing.window_s)))
        return [
            LoadGuard(
                name, judge, suspension, Rotation(self._folder.node, name.encode("ascii")), timing
            ).poll
            for name, judge in judges
        ]
