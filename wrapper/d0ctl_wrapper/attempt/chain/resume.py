"""The only place that begins in the middle of a chain, and sees to it that the next one can.

D0 Job Definition, section 5: a restart begins at the first binary whose outputs are not whole.
What a binary leaves and does not declare is not kept, so a restart begins with that binary.
"""

import errno
import os
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.chain import late_outputs
from d0ctl_wrapper.attempt.deliver import outputs
from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.events import Events, Part
from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.stage import inputs as stage
from d0ctl_wrapper.attempt.stage import supplied
from d0ctl_wrapper.attempt.stage.previous import NOTHING, RECORD, Former, Found
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol import shape
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, inside, remove, to_path, to_text, write
from d0ctl_wrapper.protocol.retained import Kept
from d0ctl_wrapper.protocol.text import one_line

Binary = Dict[str, Any]


class Resume:
    """How much of the chain is done, by this attempt and those before it."""

    def __init__(
        self, folder: AttemptFolder, launch: Launch, boot_id: str, report: Report, digests: Digests
    ) -> None:
        self.digests = digests
        self._folder = folder
        self._launch = launch
        self._report = report
        self._work = folder.work
        self._binaries: "List[Binary]" = launch["binaries"]
        self._inputs = {entry["name"] for entry in launch["inputs"]}
        self._is_of_use = any(binary["outputs"] for binary in self._binaries)
        self._former = Former(folder, launch, boot_id, self.digests) if launch["previous"] else None
        self._known = {to_path(name) for name in self._inputs}
        self._files: "List[Dict[str, Any]]" = []
        self._events: "Dict[int, Events]" = {}
        self._given: "Dict[int, str]" = {}
        self._through = 0
        self._why = ""
        self.told: "Dict[str, Any]" = {}
        self.stored: "List[Dict[str, str]]" = []
        """Which outputs former attempts have taken to their locators."""
        self.linked: "Dict[outputs.Inode, int]" = {}
        """How many names the files have that come from caches of former attempts."""

    def begin(self) -> int:
        """Bring what is whole into the working directory; give how many binaries are done."""
        found = self._find()
        if found is None:
            return 0
        try:
            for file in found.files:
                self._link(to_path(file["path"]), file["name"])
        except OSError as error:
            for file in found.files:
                remove(self._place(file["name"]))
            shown = "attempt %d: %s" % (found.number, error.strerror)
            if self._launch["accept"] is not None:
                raise Failed("stage-out", "nothing can be taken from " + shown)
            return self._tell(found._replace(through=0, why="nothing can be taken from " + shown))
        self._files = [{**file, "path": to_text(self._place(file["name"]))} for file in found.files]
        for number, binary in enumerate(self._binaries[: found.through], 1):
            if self._launch["accept"] is None:
                self._take_in(number)
            late_outputs.restore(
                self._launch, binary, [one for one in found.files if one["binary"] == number]
            )
            self._declare(binary)
        self._through = found.through
        self.stored = list(found.stored)
        return self._tell(found)

    def _find(self) -> "Found | None":
        """Find what can be used of former attempts; raise Failed if what a person accepts can't."""
        accept = self._launch["accept"]
        if accept is not None and self._former is None:
            raise Failed("missing-output", "nothing of the accepted attempt is on this node")
        if self._former is None:
            return None
        return self._former.best() if accept is None else self._former.accepted(accept)

    def _place(self, name: str) -> bytes:
        """Give the path of a file of the working directory; raise OSError if it leads out."""
        try:
            return inside(self._work, name)
        except ValueError as error:
            raise OSError(errno.EXDEV, str(error))

    def _link(self, path: bytes, name: str) -> None:
        """Bring a file into the working directory, without a copy of its bytes."""
        target = self._place(name)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        try:
            os.link(path, target)
        except FileExistsError:
            raise
        except OSError:
            os.rename(path, target)
        status = os.stat(target)
        os.chmod(target, status.st_mode & 0o700 | 0o600)  # a later binary may go on with it
        self.linked[status.st_dev, status.st_ino] = status.st_nlink

    def _tell(self, found: Found) -> int:
        """Say where the chain begins, and why there."""
        why = found.why
        if found.through:
            which = "binary 1 is" if found.through == 1 else "binaries 1 to %d are" % found.through
            why = "the outputs of %s whole, as attempt %d left them" % (which, found.number)
            why += "; %s" % found.why if found.through < len(self._binaries) else ""
        began = found.through + 1
        where = "at binary %d" % began if began <= len(self._binaries) else "after its last binary"
        self.told = {"began": began, "began_why": one_line(why)}
        self._report.remark("began %s: %s" % (where, why))
        return found.through

    def _take_in(self, number: int) -> None:
        """Take note of what a binary is given, before it begins."""
        self._given[number] = supplied.fingerprint(self._launch, number, self._work)

    def prepare(self, number: int, binary: Binary) -> "Dict[bytes, bytes]":
        """Prepare for a binary; give the variables that name its events, if it has any."""
        if self._is_of_use or binary["events"] is not None:
            self._take_in(number)
        if binary["events"] is None:
            return {}
        events = Events(self._folder, number, binary["events"])
        parts = self._former.parts(number) if self._former is not None else []
        names = [self._link_part(events, place, part) for place, part in enumerate(parts, 1)]
        events.give(parts, names, self._given[number])
        self._events[number] = events
        return events.environment()

    def _link_part(self, events: Events, place: int, part: Part) -> str:
        name = "%s.part%d" % (events.part, place)
        self._known.add(to_path(name))
        remove(self._place(name))
        self._link(part.path, name)
        return name

    def judge_events(self, number: int, who: str) -> None:
        """Raise Failed when a binary has left out some of its events."""
        if number in self._events:
            self._events[number].judge(who)

    def add(self, number: int, binary: Binary) -> None:
        """Take note that a binary is done and verified; the next attempt may begin after it."""
        if not self._is_of_use or self._through != number - 1:
            return
        self._declare(binary)
        try:
            stray = self._stray(self._work, b"")
        except OSError as error:
            stray = to_path("a folder that cannot be read (%s)" % error.strerror)
        if stray:
            shown = one_line(to_text(stray))
            self._why = "binary %d left `%s`, which it does not declare" % (number, shown)
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

    def _stray(self, folder: bytes, prefix: bytes) -> bytes:
        """Find a file that nobody declared; empty when there is none."""
        with os.scandir(folder) as entries:
            for entry in entries:
                name = prefix + entry.name
                if name in self._known:
                    continue
                is_above = any(known.startswith(name + b"/") for known in self._known)
                if not (is_above and entry.is_dir(follow_symlinks=False)):
                    return name
                stray = self._stray(entry.path, name + b"/")
                if stray:
                    return stray
        return b""

    def _note(self, number: int, binary: Binary) -> bool:
        """Record on the node what there is, for the case that nobody can tell of it any more."""
        try:
            self._files += [self._describe(number, output) for output in binary["outputs"]]
            if self._files:
                self._write({**self._record(number), "files": self._files})
        except (OSError, Failed):
            return False
        return True

    def _write(self, record: Kept) -> None:
        path = self._folder.file(RECORD)
        write(path + b".aside", shape.encode(record).encode("ascii"))
        os.rename(path + b".aside", path)

    def _record(self, through: int) -> Kept:
        told = [self._given.get(number, "") for number in range(1, through + 1)]
        return {**NOTHING, "through": through, "why": self._why, "supplied": told, "files": [],
                "parts": []}  # fmt: skip

    def _describe(self, number: int, output: "Dict[str, Any]") -> "Dict[str, Any]":
        name = output["name"]
        true = outputs.find(self._work, name, self._inputs)[0]
        size, checksum = self.digests.of(true)
        file = {"name": name, "path": to_text(true), "size": size, "checksum": checksum}
        return {**file, "binary": number, "late": output.get("pattern")}

    def whole(
        self, kept: "List[Dict[str, Any]]", stored: "List[Dict[str, str]]"
    ) -> "Dict[str, Any]":
        """Say that all binaries are done and their outputs are kept: only the rest of their way
        is left to the next attempt."""
        numbers = {
            output["name"]: number
            for number, binary in enumerate(self._binaries, 1)
            for output in binary["outputs"]
        }
        files = [{**one, "binary": numbers[one["name"]], "late": one.get("late")} for one in kept]
        record = self._record(len(self._binaries))
        return {"retained": {**record, "why": "", "files": files, "stored": stored, "whole": True}}

    def note_whole(self, kept: "List[Dict[str, Any]]") -> None:
        """Record on the node that all is done, for the case that nobody can say so any more."""
        try:
            self._write(self.whole(kept, self.stored)["retained"])
        except OSError:
            pass

    def salvage(self, is_to_leave: bool) -> "Dict[str, Any]":
        """Keep what is done for the next attempt; give what the end message says of it.

        With `is_to_leave` the outputs of a binary that failed are kept too, for a person.
        """
        if not (self._is_of_use or self._events):
            return {}
        kept = self._record(self._through)
        kept["through"] = 0
        for number in range(1, self._through + 1):
            binary = self._binaries[number - 1]
            files = [self._move(number, output) for output in binary["outputs"]]
            whole = [file for file in files if file is not None]
            if len(whole) < len(files):
                kept["why"] = "a file of binary %d was not whole any more" % number
                break
            kept["files"] += whole
            kept["through"] = number
        for number in sorted(self._events):
            if number > kept["through"]:
                kept["parts"] += self._salvage_part(self._events[number])
        if is_to_leave:
            kept["left"] = self._leave(kept["through"])
        return {"retained": kept} if kept["files"] or kept["parts"] or kept["left"] else {}

    def _leave(self, through: int) -> "List[Dict[str, Any]]":
        """Move the outputs that there are of the binaries after `through` into the cache."""
        wanted = []
        for number, binary in enumerate(self._binaries[through:], through + 1):
            try:
                late_outputs.settle(self._work, self._launch, binary, is_partial=True)
            except Failed:
                continue
            wanted += [(number, output) for output in binary["outputs"]]
        left = []
        for number, output in wanted:
            file = outputs.leave(self._folder, output["name"], self._inputs)
            if file is not None:
                left.append({**file, "binary": number, "late": output.get("pattern")})
        return left

    def _move(self, number: int, output: "Dict[str, Any]") -> "Dict[str, Any] | None":
        """Move an output into the cache, if it still is what it was when its binary ended."""
        name = output["name"]
        known = [file for file in self._files if (file["binary"], file["name"]) == (number, name)]
        try:
            found = self._describe(number, output)
            if known and known[0]["checksum"] != found["checksum"]:
                return None
            [kept] = outputs.keep(
                self._folder, [name], self._inputs, self.digests,
                self.linked,
            )  # fmt: skip
        except (OSError, Failed):
            return None
        return {**kept, "binary": number, "late": output.get("pattern")}

    def _salvage_part(self, events: Events) -> "List[Dict[str, Any]]":
        done = events.done()
        moved = self._move(events.number, {"name": events.part}) if done else None
        told = {"done": done, "supplied": self._given[events.number]}
        return [{**moved, **told}] if moved is not None else []

    def done_events(self) -> "Dict[str, Any]":
        """Give what the end message says of events: which were done, by which binary."""
        done = [
            {"binary": number, "done": [list(one) for one in events.done()]}
            for number, events in sorted(self._events.items())
        ]
        return {"events": done} if done else {}
