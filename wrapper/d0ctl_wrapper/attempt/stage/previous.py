"""Reusable work of previous attempts, if it is whole."""

import os
import stat
from typing import Any, Dict, List, NamedTuple

from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.events import Part, read_done
from d0ctl_wrapper.attempt.stage import supplied
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host import attempt_records as attempts
from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.protocol.checks import json_text, ranges
from d0ctl_wrapper.protocol.checks.ranges import Ranges
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, is_below, to_path
from d0ctl_wrapper.protocol.retained import RETAINED, Retained
from d0ctl_wrapper.protocol.text import one_line

RECORD = b"retained"
"""The file in an attempt's folder with the record of finished work."""

NOTHING: Retained = {
    "through": 0, "why": "", "supplied": [], "files": [], "parts": [], "left": [], "stored": [],
    "whole": False,
}  # fmt: skip


class Reusable(NamedTuple):
    """The reusable work of a previous attempt: its first binaries, and why no more.

    `who` names the attempt. The files of a twin belong to another job, so they are copied.
    `stored` are the outputs that it has delivered to their locators.
    """

    attempt: int
    who: str
    through: int
    files: "List[Dict[str, Any]]"
    why: str
    stored: "List[Dict[str, str]]"
    is_twin: bool


class PreviousAttempts:
    """The previous attempts at the package of a launch."""

    def __init__(
        self, folder: AttemptFolder, launch: Launch, boot_id: str, digests: Digests
    ) -> None:
        self._paths = folder.node
        self._launch = launch
        self._work = folder.work
        self._binaries: "List[Dict[str, Any]]" = launch["binaries"]
        self._boot_id = boot_id
        self._top = os.path.realpath(os.path.dirname(folder.node.base))
        self._digests = digests
        self._names = {previous["attempt"]: _name(previous) for previous in launch["previous"]}
        self._twins = {
            previous["attempt"]: previous["twin"]
            for previous in launch["previous"]
            if previous["twin"] is not None
        }
        self._previous = [previous for previous in launch["previous"] if self._is_over(previous)]

    def _is_over(self, previous: "Dict[str, Any]") -> bool:
        """Return whether the wrapper of a previous attempt has ended."""
        folder = self._paths.attempt(previous["attempt"])
        if attempts.has_ended(folder):
            return True
        record = attempts.read_record(folder)
        return not attempts.is_running(record, self._boot_id)

    def best(self) -> "Reusable | None":
        """Find the previous attempt with the most whole binaries; None if there is none."""
        records = [(previous["attempt"], self._retained(previous)) for previous in self._previous]
        best = None
        for attempt, retained in sorted(
            records, key=lambda record: (-record[1]["through"], -record[0])
        ):
            if best is None or retained["through"] > best.through:
                found = self._whole(attempt, retained)
                if best is None or found.through > best.through:
                    best = found
        return best

    def _retained(self, previous: "Dict[str, Any]") -> Retained:
        """Return the retained work of a previous attempt, by its message or its record here.

        A twin has its files where the control host says, if no later binary has changed them.
        """
        if previous["twin"] is not None:
            record = self._in_record(previous["attempt"]) or NOTHING
            known = {(file["binary"], file["name"], file["checksum"]) for file in record["files"]}
            files = [
                file
                for file in previous["twin"]["files"]
                if (file["binary"], file["name"], file["checksum"]) in known
            ]
            return {**NOTHING, "through": record["through"], "files": files}
        retained = (
            previous["retained"]
            or self._in_message(previous["attempt"])
            or self._in_record(previous["attempt"])
        )
        return dict(retained or NOTHING)

    def _in_message(self, attempt: int) -> "Retained | None":
        """Read the end message of an attempt."""
        try:
            end = message.parse(self._read(attempt, b"end").decode("ascii"))[-1]
        except ValueError:
            return None
        return dict(end["retained"]) if end.get("retained") else None

    def _in_record(self, attempt: int) -> "Retained | None":
        """Read the record of an attempt whose wrapper died."""
        try:
            return dict(RETAINED(json_text.decode(self._read(attempt, RECORD))))
        except ValueError:
            return None

    def _read(self, attempt: int, name: bytes) -> bytes:
        """Read a file of a previous attempt's folder; empty if it is missing."""
        try:
            with open(self._paths.attempt(attempt).file(name), "rb") as file:
                return file.read()
        except OSError:
            return b""

    def _whole(self, attempt: int, retained: Retained) -> Reusable:
        """Verify the files of a previous attempt, binary by binary."""
        who = self._names[attempt]
        is_twin = attempt in self._twins
        used: "List[Dict[str, Any]]" = []
        through = min(retained["through"], len(self._binaries))
        for number in range(1, through + 1):
            if not self._had_same_inputs(attempt, number, retained):
                why = "binary %d had other inputs in %s" % (number, who)
                return Reusable(attempt, who, number - 1, used, why, [], is_twin)
            files: "List[Dict[str, Any]]" = []
            for output in self._binaries[number - 1]["outputs"]:
                found = _files_of(output, number, retained["files"])
                is_short = len(found) < (output["min_count"] if output["late"] else 1)
                fault = "is not recorded" if is_short else self._first_fault(found)
                if fault:
                    why = "output `%s` of %s %s" % (one_line(output["name"]), who, fault)
                    return Reusable(attempt, who, number - 1, used, why, [], is_twin)
                files += found
            used = used + files
        why = retained["why"]
        if not why and not (is_twin and through):
            why = "%s got no further" % who
        stored = retained["stored"] if through == len(self._binaries) else []
        return Reusable(attempt, who, through, used, one_line(why), stored, is_twin)

    def _had_same_inputs(self, attempt: int, number: int, retained: Retained) -> bool:
        """Return whether a binary had the inputs that it would get now."""
        if attempt not in self._twins:
            return bool(self._supplied(number) == (retained["supplied"][number - 1 :] or [""])[0])
        had = {
            file["name"]: (file["size"], file["checksum"])
            for file in self._twins[attempt]["inputs"]
            if file["binary"] == number
        }
        try:
            paths = supplied.outside(self._launch, number, self._work)
            has = {name: self._digests.of(path) for name, path in paths.items()}
        except OSError:
            return False
        return had == has

    def accepted(self, attempt: int) -> Reusable:
        """Find all outputs of a previous attempt, which a person accepts as they are.

        Raises Failed unless each is as the attempt left it.
        """
        known = [previous for previous in self._previous if previous["attempt"] == attempt]
        retained = self._retained(known[0]) if known else NOTHING
        who = self._names.get(attempt, "attempt 1")
        used: "List[Dict[str, Any]]" = []
        for number, binary in enumerate(self._binaries, 1):
            for output in binary["outputs"]:
                files = _files_of(output, number, [*retained["files"], *retained["left"]])
                is_lacking = not files and not output["late"]
                fault = "is not recorded" if is_lacking else self._first_fault(files)
                if fault:
                    shown = one_line(output["name"]), who, fault
                    raise Failed("missing-output", "output `%s` of %s %s" % shown)
                used += files
        return Reusable(
            attempt, who, len(self._binaries), used, "a person accepts them", retained["stored"],
            False,
        )  # fmt: skip

    def _first_fault(self, files: "List[Dict[str, Any]]") -> str:
        """Return what is wrong with the first file that is not whole; empty if all are."""
        faults = (self._fault(file) for file in files)
        return next((fault for fault in faults if fault), "")

    def _supplied(self, number: int) -> str:
        return supplied.fingerprint(self._launch, number, self._work)

    def _fault(self, file: "Dict[str, Any]") -> str:
        """Return what is wrong with a file of a previous attempt; empty if nothing is."""
        path = to_path(file["path"])
        if not is_below(os.path.realpath(os.path.dirname(path)), self._top):
            return "is outside of d0ctl's folders"
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                return "is not a file"
            if status.st_size != file["size"]:
                return "has %d bytes, not %d" % (status.st_size, file["size"])
            if "changed" in file:
                return "" if status.st_mtime_ns == file["changed"] else "has changed"
            return "" if self._digests.of(path)[1] == file["checksum"] else "has changed"
        except OSError:
            return "is missing"

    def parts(self, number: int) -> "List[Part]":
        """Find the parts with a binary's finished events; no event is in two of them."""
        asked = self._binaries[number - 1]["events"]
        found: "List[Part]" = []
        taken: Ranges = []
        for previous in sorted(self._previous, key=lambda previous: int(previous["attempt"])):
            part = None if previous["twin"] else self._part(previous, number, asked)
            if part is not None and part.done and not ranges.common(taken, part.done):
                taken = ranges.join([*taken, *part.done])
                found.append(part)
        return found

    def _part(
        self, previous: "Dict[str, Any]", number: int, asked: "Dict[str, Any]"
    ) -> "Part | None":
        attempt: int = previous["attempt"]
        all_events = [(asked["first"], asked["last"])]
        retained = previous["retained"] or self._in_message(attempt)
        if retained is None:
            return self._left(attempt, number, asked["part"], all_events)
        for part in retained["parts"]:
            is_same = part["binary"] == number and part["supplied"] == self._supplied(number)
            if is_same and not self._fault(part):
                done = ranges.common(part["done"], all_events)
                path = to_path(part["path"])
                return Part(attempt, done, path, part["size"], part["checksum"])
        return None

    def _left(self, attempt: int, number: int, name: str, all_events: Ranges) -> "Part | None":
        """Find the part of an attempt whose wrapper died; after a reboot none is reliable."""
        folder = self._paths.attempt(attempt)
        record = attempts.read_record(folder)
        if record is None or record.boot_id != self._boot_id:
            return None
        path = os.path.join(folder.work, to_path(name))
        if os.path.islink(path) or not os.path.isfile(path):
            return None
        if self._read(attempt, b"%d.supplied" % number) != self._supplied(number).encode("ascii"):
            return None
        done = read_done(folder.file(b"%d.done" % number), all_events)
        return Part(attempt, done, path, None, None)


def _name(previous: "Dict[str, Any]") -> str:
    """Name a previous attempt, or the package of another job, for people."""
    twin = previous["twin"]
    return "attempt %d" % previous["number"] if twin is None else "`%s`" % one_line(twin["path"])


def _files_of(
    output: "Dict[str, Any]", number: int, files: "List[Dict[str, Any]]"
) -> "List[Dict[str, Any]]":
    """Return the files of an output of a previous attempt; a late output may have several."""
    field = "late" if output["late"] else "name"
    found = [file for file in files if file["binary"] == number and file[field] == output["name"]]
    return found if output["late"] else found[:1]
