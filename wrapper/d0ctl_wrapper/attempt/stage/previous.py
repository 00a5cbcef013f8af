"""The only place that finds out what former attempts have left, and whether it is whole."""

import os
import stat
from typing import Any, Dict, List, NamedTuple

from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.events import Part, read_done
from d0ctl_wrapper.attempt.stage import supplied
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host import records as attempts
from d0ctl_wrapper.protocol import message, ranges, shape
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, is_below, to_path
from d0ctl_wrapper.protocol.ranges import Ranges
from d0ctl_wrapper.protocol.retained import KEPT, Kept
from d0ctl_wrapper.protocol.text import one_line

RECORD = b"retained"
"""The file of an attempt's folder in which its wrapper notes what is done."""

NOTHING: Kept = {
    "through": 0, "why": "", "supplied": [], "files": [], "parts": [], "left": [], "stored": [],
    "whole": False,
}  # fmt: skip


class Found(NamedTuple):
    """How much of a former attempt can be used: its first binaries, and why no more.

    `number` counts it among the attempts of its package.
    `stored` are the outputs that it has taken to their locators already.
    """

    attempt: int
    number: int
    through: int
    files: "List[Dict[str, Any]]"
    why: str
    stored: "List[Dict[str, str]]"


class Former:
    """The former attempts at the package of a launch."""

    def __init__(
        self, folder: AttemptFolder, launch: Launch, boot_id: str, digests: Digests
    ) -> None:
        self._paths = folder.node
        self._launch = launch
        self._work = folder.work
        self._binaries: "List[Dict[str, Any]]" = launch["binaries"]
        self._boot_id = boot_id
        self._ours = os.path.realpath(os.path.dirname(folder.node.base))
        self._digests = digests
        self._numbers = {former["attempt"]: former["number"] for former in launch["previous"]}
        self._formers = [former for former in launch["previous"] if self._is_over(former)]

    def _is_over(self, former: "Dict[str, Any]") -> bool:
        """Tell whether no wrapper of a former attempt runs that might still write."""
        folder = self._paths.attempt(former["attempt"])
        if attempts.has_ended(folder):
            return True
        record = attempts.read_record(folder)
        return not attempts.is_running(record, self._boot_id)

    def best(self) -> "Found | None":
        """Find the former attempt of which most is whole; None when there is none."""
        records = [(former["attempt"], self._kept(former)) for former in self._formers]
        best = None
        for attempt, kept in sorted(records, key=lambda one: (-one[1]["through"], -one[0])):
            if best is None or kept["through"] > best.through:
                found = self._whole(attempt, kept)
                if best is None or found.through > best.through:
                    best = found
        return best

    def _kept(self, former: "Dict[str, Any]") -> Kept:
        """Give what is known of a former attempt, by its own word or by its record here."""
        kept = (
            former["retained"] or self._told(former["attempt"]) or self._recorded(former["attempt"])
        )
        return dict(kept or NOTHING)

    def _told(self, attempt: int) -> "Kept | None":
        """Read what an attempt said at its end that nobody heard any more."""
        try:
            end = message.parse(self._read(attempt, b"end").decode("ascii"))[-1]
        except ValueError:
            return None
        return dict(end["retained"]) if end.get("retained") else None

    def _recorded(self, attempt: int) -> "Kept | None":
        """Read what an attempt recorded whose wrapper died."""
        try:
            return dict(KEPT(shape.decode(self._read(attempt, RECORD))))
        except ValueError:
            return None

    def _read(self, attempt: int, name: bytes) -> bytes:
        """Read a file of a former attempt's folder; what is not there is empty."""
        try:
            with open(self._paths.attempt(attempt).file(name), "rb") as file:
                return file.read()
        except OSError:
            return b""

    def _whole(self, attempt: int, kept: Kept) -> Found:
        """Hold the files of a former attempt against what they should be, binary by binary."""
        tried = self._numbers[attempt]
        used: "List[Dict[str, Any]]" = []
        through = min(kept["through"], len(self._binaries))
        for number in range(1, through + 1):
            if self._given(number) != (kept["supplied"][number - 1 :] or [""])[0]:
                why = "binary %d was given something else in attempt %d" % (number, tried)
                return Found(attempt, tried, number - 1, used, why, [])
            files: "List[Dict[str, Any]]" = []
            for output in self._binaries[number - 1]["outputs"]:
                found = _files_of(output, number, kept["files"])
                is_short = len(found) < (output["min_count"] if output["late"] else 1)
                fault = "is not known" if is_short else self._first_fault(found)
                if fault:
                    shown = one_line(output["name"]), tried, fault
                    why = "output `%s` of attempt %d %s" % shown
                    return Found(attempt, tried, number - 1, used, why, [])
                files += found
            used = used + files
        why = kept["why"] or "attempt %d came no further" % tried
        stored = kept["stored"] if through == len(self._binaries) else []
        return Found(attempt, tried, through, used, one_line(why), stored)

    def accepted(self, attempt: int) -> Found:
        """Find all outputs of a former attempt, which a person accepts as they are.

        Raises Failed unless each is as the attempt left it.
        """
        known = [former for former in self._formers if former["attempt"] == attempt]
        kept = self._kept(known[0]) if known else NOTHING
        tried = self._numbers.get(attempt, 1)
        used: "List[Dict[str, Any]]" = []
        for number, binary in enumerate(self._binaries, 1):
            for output in binary["outputs"]:
                found = _files_of(output, number, [*kept["files"], *kept["left"]])
                is_lacking = not found and not output["late"]
                fault = "is not known" if is_lacking else self._first_fault(found)
                if fault:
                    shown = one_line(output["name"]), tried, fault
                    raise Failed("missing-output", "output `%s` of attempt %d %s" % shown)
                used += found
        return Found(
            attempt, tried, len(self._binaries), used, "a person accepts them", kept["stored"]
        )

    def _first_fault(self, files: "List[Dict[str, Any]]") -> str:
        """Say what is wrong with the first file that is not whole; empty when all are."""
        faults = (self._fault(file) for file in files)
        return next((fault for fault in faults if fault), "")

    def _given(self, number: int) -> str:
        return supplied.fingerprint(self._launch, number, self._work)

    def _fault(self, file: "Dict[str, Any]") -> str:
        """Say what is wrong with a file of a former attempt; empty when it is whole."""
        path = to_path(file["path"])
        if not is_below(os.path.realpath(os.path.dirname(path)), self._ours):
            return "is in none of our folders"
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                return "is not a file"
            if status.st_size != file["size"]:
                return "has %d bytes, not %d" % (status.st_size, file["size"])
            if "changed" in file:
                return "" if status.st_mtime_ns == file["changed"] else "is not what it was"
            return "" if self._digests.of(path)[1] == file["checksum"] else "is not what it was"
        except OSError:
            return "is not there"

    def parts(self, number: int) -> "List[Part]":
        """Find what was done of a binary's events; no event is in two parts."""
        asked = self._binaries[number - 1]["events"]
        found: "List[Part]" = []
        taken: Ranges = []
        for former in sorted(self._formers, key=lambda one: int(one["attempt"])):
            part = self._part(former, number, asked)
            if part is not None and part.done and not ranges.common(taken, part.done):
                taken = ranges.join([*taken, *part.done])
                found.append(part)
        return found

    def _part(
        self, former: "Dict[str, Any]", number: int, asked: "Dict[str, Any]"
    ) -> "Part | None":
        attempt: int = former["attempt"]
        every = [(asked["first"], asked["last"])]
        kept = former["retained"] or self._told(attempt)
        if kept is None:
            return self._left(attempt, number, asked["part"], every)
        for one in kept["parts"]:
            is_same = one["binary"] == number and one["supplied"] == self._given(number)
            if is_same and not self._fault(one):
                done = ranges.common(one["done"], every)
                path = to_path(one["path"])
                return Part(attempt, done, path, one["size"], one["checksum"])
        return None

    def _left(self, attempt: int, number: int, name: str, every: Ranges) -> "Part | None":
        """Find the part of an attempt whose wrapper died; after a reboot none can be trusted."""
        folder = self._paths.attempt(attempt)
        record = attempts.read_record(folder)
        if record is None or record.boot_id != self._boot_id:
            return None
        path = os.path.join(folder.work, to_path(name))
        if os.path.islink(path) or not os.path.isfile(path):
            return None
        if self._read(attempt, b"%d.supplied" % number) != self._given(number).encode("ascii"):
            return None
        done = read_done(folder.file(b"%d.done" % number), every)
        return Part(attempt, done, path, None, None)


def _files_of(
    output: "Dict[str, Any]", number: int, files: "List[Dict[str, Any]]"
) -> "List[Dict[str, Any]]":
    """Give the files that a former attempt has of an output, which has several if it is late."""
    field = "late" if output["late"] else "name"
    found = [one for one in files if one["binary"] == number and one[field] == output["name"]]
    return found if output["late"] else found[:1]
