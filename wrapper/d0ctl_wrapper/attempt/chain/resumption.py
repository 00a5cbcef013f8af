"""Resuming a chain in the middle, and retaining work for the next attempt.

D0 Job Definition, section 5: a restart begins at the first binary whose outputs are not whole.
Undeclared files are not retained, so a restart begins with the binary that left any.
"""

import os
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.chain import late_outputs
from d0ctl_wrapper.attempt.chain.reused_files import ReusedFiles, leave, undeclared_file
from d0ctl_wrapper.attempt.deliver import outputs
from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.events import Events, Part
from d0ctl_wrapper.attempt.reporter import Reporter
from d0ctl_wrapper.attempt.stage import inputs as stage
from d0ctl_wrapper.attempt.stage import supplied
from d0ctl_wrapper.attempt.stage.previous import NOTHING, RECORD, PreviousAttempts, Reusable
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import (
    AttemptFolder,
    remove,
    to_path,
    to_text,
    write,
)
from d0ctl_wrapper.protocol.retained import Retained
from d0ctl_wrapper.protocol.text import one_line

Binary = Dict[str, Any]


class Resumption:
    """The part of the chain that is done, by this attempt and previous ones."""

    def __init__(
        self,
        folder: AttemptFolder,
        launch: Launch,
        boot_id: str,
        report: Reporter,
        digests: Digests,
    ) -> None:
        self.digests = digests
        self._folder = folder
        self._launch = launch
        self._report = report
        self._work = folder.work
        self._binaries: "List[Binary]" = launch["binaries"]
        self._inputs = {entry["name"]: entry for entry in launch["inputs"]}
        self._is_of_use = any(binary["outputs"] for binary in self._binaries)
        self._previous = (
            PreviousAttempts(folder, launch, boot_id, self.digests) if launch["previous"] else None
        )
        self._known = {to_path(name.rstrip("/")) for name in self._inputs}
        self._files: "List[Dict[str, Any]]" = []
        self._events: "Dict[int, Events]" = {}
        self._supplied: "Dict[int, str]" = {}
        self._through = 0
        self._why = ""
        self.began: "Dict[str, Any]" = {}
        self.stored: "List[Dict[str, str]]" = []
        """The outputs that previous attempts have delivered to their locators."""
        self._reused = ReusedFiles(folder, digests)
        self.linked = self._reused.linked

    def begin(self) -> int:
        """Link the whole files into the working directory; return how many binaries are done."""
        previous = self._find()
        if previous is None:
            return 0
        try:
            for file in previous.files:
                take = self._reused.copy if previous.is_twin else self._reused.link
                take(to_path(file["path"]), file["name"])
        except OSError as error:
            for file in previous.files:
                remove(self._reused.path(file["name"]))
            shown = "%s: %s" % (previous.who, error.strerror)
            if self._launch["accept"] is not None:
                raise Failed("stage-out", "can't reuse files of " + shown)
            return self._report_start(
                previous._replace(through=0, why="can't reuse files of " + shown)
            )
        self._files = [
            {**file, "path": to_text(self._reused.path(file["name"]))} for file in previous.files
        ]
        for number, binary in enumerate(self._binaries[: previous.through], 1):
            if self._launch["accept"] is None:
                self._note_supplied(number)
            late_outputs.restore(
                self._launch, binary, [file for file in previous.files if file["binary"] == number]
            )
            self._declare(binary)
        self._through = previous.through
        if previous.is_twin and previous.through:
            self._keep_record(previous.through)
        self.stored = list(previous.stored)
        return self._report_start(previous)

    def _find(self) -> "Reusable | None":
        """Find reusable work of previous attempts; raise Failed for unusable accepted outputs."""
        accept = self._launch["accept"]
        if accept is not None and self._previous is None:
            raise Failed("missing-output", "the accepted attempt has no files on this node")
        if self._previous is None:
            return None
        return self._previous.best() if accept is None else self._previous.accepted(accept)

    def _report_start(self, found: Reusable) -> int:
        """Send a remark on where the chain begins and why; return how many binaries are done."""
        why = found.why
        if found.through:
            which = "binary 1" if found.through == 1 else "binaries 1 to %d" % found.through
            why = "the outputs of %s are intact, as %s left them" % (which, found.who)
            is_part = found.why and found.through < len(self._binaries)
            why += "; %s" % found.why if is_part else ""
        began = found.through + 1
        where = "at binary %d" % began if began <= len(self._binaries) else "after its last binary"
        self.began = {"began": began, "began_why": one_line(why)}
        self._report.remark("began %s: %s" % (where, why))
        return found.through

    def _note_supplied(self, number: int) -> None:
        """Record the digest of a binary and its inputs, before it begins."""
        self._supplied[number] = supplied.fingerprint(self._launch, number, self._work)

    def prepare(self, number: int, binary: Binary) -> "Dict[bytes, bytes]":
        """Prepare for a binary; return the variables that name its event files, if it has any."""
        if self._is_of_use or binary["events"] is not None:
            self._note_supplied(number)
        if binary["events"] is None:
            return {}
        events = Events(self._folder, number, binary["events"])
        parts = self._previous.parts(number) if self._previous is not None else []
        names = [self._link_part(events, position, part) for position, part in enumerate(parts, 1)]
        events.write(parts, names, self._supplied[number])
        self._events[number] = events
        return events.environment()

    def _link_part(self, events: Events, position: int, part: Part) -> str:
        name = "%s.part%d" % (events.part, position)
        self._known.add(to_path(name))
        remove(self._reused.path(name))
        self._reused.link(part.path, name)
        return name

    def judge_events(self, number: int, who: str) -> None:
        """Raise Failed if a binary has omitted some of its events."""
        if number in self._events:
            self._events[number].judge(who)

    def add(self, number: int, binary: Binary) -> None:
        """Record that a binary is verified; the next attempt may begin after it."""
        if not self._is_of_use or self._through != number - 1:
            return
        self._declare(binary)
        try:
            undeclared = undeclared_file(self._work, self._known)
        except OSError as error:
            undeclared = to_path("a folder that can't be read (%s)" % error.strerror)
        if undeclared:
            shown = one_line(to_text(undeclared))
            self._why = "binary %d left `%s`, an undeclared file" % (number, shown)
            return
        changed = stage.changed_copy(self._work, self._launch["inputs"])
        if changed:
            self._why = "binary %d changed its own copy of `%s`" % (number, one_line(changed))
            return
        self._through = number
        if number < len(self._binaries) and not self._note(number, binary):
            self._through = number - 1

    def _declare(self, binary: Binary) -> None:
        self._known |= {os.path.normpath(to_path(out["name"])) for out in binary["outputs"]}
        if binary["events"] is not None:
            self._known.add(os.path.normpath(to_path(binary["events"]["part"])))

    def _note(self, number: int, binary: Binary) -> bool:
        """Record the work on the node, in case the wrapper dies."""
        try:
            self._files += [self._describe(number, output) for output in binary["outputs"]]
        except (OSError, Failed):
            return False
        return self._keep_record(number)

    def _keep_record(self, through: int) -> bool:
        """Record the files of the first binaries, for later attempts; return whether it worked."""
        try:
            if self._files:
                self._write({**self._record(through), "files": self._files})
        except OSError:
            return False
        return True

    def _write(self, record: Retained) -> None:
        path = self._folder.file(RECORD)
        write(path + b".aside", json_text.encode(record).encode("ascii"))
        os.rename(path + b".aside", path)

    def _record(self, through: int) -> Retained:
        supplied = [self._supplied.get(number, "") for number in range(1, through + 1)]
        return {**NOTHING, "through": through, "why": self._why, "supplied": supplied, "files": [],
                "parts": []}  # fmt: skip

    def _describe(self, number: int, output: "Dict[str, Any]") -> "Dict[str, Any]":
        name = output["name"]
        true = outputs.as_file(self._work, name, self._inputs, self.digests.pause_point)[0]
        size, checksum = self.digests.of(true)
        file = {"name": name, "path": to_text(true), "size": size, "checksum": checksum}
        return {**file, "binary": number, "late": output.get("pattern")}

    def whole(
        self, retained_outputs: "List[Dict[str, Any]]", stored: "List[Dict[str, str]]"
    ) -> "Dict[str, Any]":
        """Return that all binaries are done and their outputs are kept, so that the next attempt
        only has to deliver the rest."""
        numbers = {
            output["name"]: number
            for number, binary in enumerate(self._binaries, 1)
            for output in binary["outputs"]
        }
        files = [
            {**file, "binary": numbers[file["name"]], "late": file.get("late")}
            for file in retained_outputs
        ]
        record = self._record(len(self._binaries))
        return {"retained": {**record, "why": "", "files": files, "stored": stored, "whole": True}}

    def note_whole(self, retained_outputs: "List[Dict[str, Any]]") -> None:
        """Record on the node that all binaries are done, in case the wrapper dies."""
        try:
            self._write(self.whole(retained_outputs, self.stored)["retained"])
        except OSError:
            pass

    def salvage(self, is_to_leave: bool) -> "Dict[str, Any]":
        """Retain finished work for the next attempt; return the fields of the end message.

        With `is_to_leave` the outputs of a failed binary are retained too, for a person.
        """
        if not (self._is_of_use or self._events):
            return {}
        record = self._record(self._through)
        record["through"] = 0
        for number in range(1, self._through + 1):
            binary = self._binaries[number - 1]
            files = [self._move(number, output) for output in binary["outputs"]]
            whole = [file for file in files if file is not None]
            if len(whole) < len(files):
                record["why"] = "a file of binary %d has changed" % number
                break
            record["files"] += whole
            record["through"] = number
        for number in sorted(self._events):
            if number > record["through"]:
                record["parts"] += self._salvage_part(self._events[number])
        if is_to_leave:
            record["left"] = leave(
                self._folder, self._launch, record["through"], self._inputs, self.digests
            )
        return {"retained": record} if record["files"] or record["parts"] or record["left"] else {}

    def _move(self, number: int, output: "Dict[str, Any]") -> "Dict[str, Any] | None":
        """Move an output into the cache, unless it has changed since its binary ended."""
        name = output["name"]
        known = [file for file in self._files if (file["binary"], file["name"]) == (number, name)]
        try:
            found = self._describe(number, output)
            if known and known[0]["checksum"] != found["checksum"]:
                return None
            [retained_output] = outputs.keep(
                self._folder, [name], self._inputs, self.digests,
                self.linked,
            )  # fmt: skip
        except (OSError, Failed):
            return None
        return {**retained_output, "binary": number, "late": output.get("pattern")}

    def _salvage_part(self, events: Events) -> "List[Dict[str, Any]]":
        done = events.done()
        moved = self._move(events.number, {"name": events.part}) if done else None
        fields = {"done": done, "supplied": self._supplied[events.number]}
        return [{**moved, **fields}] if moved is not None else []

    def done_events(self) -> "Dict[str, Any]":
        """Return the finished events of each binary, for the end message."""
        done = [
            {"binary": number, "done": [list(pair) for pair in events.done()]}
            for number, events in sorted(self._events.items())
        ]
        return {"events": done} if done else {}
