"""Files in the drop-box that should not be there, or not any more."""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from d0ctl.doctor.finding import Finding, repaired_at_start
from d0ctl.dropbox import LEFT_BEHIND_S
from d0ctl.rejected import DISCARDED, KEPT_S, TOKEN_ADVICE, discarded, is_token_fault
from d0ctl.units import clean, count, duration, moment, size

BOXES = ("tmp", "new", "cur", "rejected")
"""The folders of the drop-box."""

UNREAD_S = 60.0
"""Messages that are unread for longer are reported; a daemon needs a moment."""


Entry = tuple[Path, float, int]
"""A file with its age in seconds, and its kind."""


def leftovers(folder: Path, *, is_driven: bool) -> Iterator[Finding]:
    """Check the folders of the drop-box."""
    for name in BOXES:
        if not (folder / name).is_dir():
            yield Finding("drop-box", str(folder / name), "is missing", f"mkdir {folder / name}")
            return
    yield from _unfinished(folder / "tmp")
    yield from _foreign(folder, [entry for entry in _files(folder) if entry[0].name not in BOXES])
    yield from _foreign(folder / "cur", _files(folder / "cur"))
    yield from _unread(folder / "new", is_driven)
    yield from _rejected(folder / "rejected")


def _unfinished(folder: Path) -> Iterator[Finding]:
    old = [path for path, age, _ in _files(folder) if age > LEFT_BEHIND_S]
    if old:
        detail = f"{count(len(old), 'unfinished file')}, such as `{old[0].name}`"
        yield repaired_at_start("drop-box", str(folder), detail)


def _foreign(folder: Path, found: Sequence[Entry]) -> Iterator[Finding]:
    if not found:
        return
    first = _shown(found[0][0].name)
    detail = f"{count(len(found), 'file')} that d0ctl does not read, such as `{first}`"
    advice = "mv it to new/ if it is a message of a node, else elsewhere"
    yield Finding("drop-box", str(folder), detail, advice)


def _unread(folder: Path, is_driven: bool) -> Iterator[Finding]:
    files = _files(folder)
    odd = [path for path, _, mode in files if not stat.S_ISREG(mode)]
    if odd:
        detail = f"{count(len(odd), 'entry', 'entries')} that can't be a message"
        yield repaired_at_start("drop-box", f"{folder}/{_shown(odd[0].name)}", detail)
    old = [age for _, age, mode in files if stat.S_ISREG(mode) and age > UNREAD_S]
    if old:
        detail = f"{count(len(old), 'file')} of messages unread, one for {max(old):.0f} s"
        if is_driven:
            advice = f"look into {folder.parent.parent / 'logs' / 'daemon.log'}"
            yield Finding("drop-box", str(folder), detail, advice)
        else:
            yield repaired_at_start("drop-box", str(folder), detail)


def _rejected(folder: Path) -> Iterator[Finding]:
    others = (".reason", DISCARDED)
    rejected = [
        entry for entry in _files(folder)
        if not entry[0].name.endswith(others) and entry[1] < KEPT_S
    ]  # fmt: skip
    if rejected:
        path, age, _ = max(rejected, key=lambda entry: entry[1])
        try:
            reason = path.with_name(f"{path.name}.reason").read_text(errors="replace").strip()
        except OSError:
            reason = "no reason given"
        detail = f"{count(len(rejected), 'message')} that could not be applied, the oldest "
        detail += f"{duration(age)} ago: `{_shown(path.name)}`: {clean(reason)}"
        advice = TOKEN_ADVICE if is_token_fault(reason) else f"cat {folder}/*.reason"
        yield Finding("drop-box", str(folder), detail, f"{advice}; then rm {folder}/*")
    lost = discarded(folder)
    if lost.count and lost.last > time.time() - KEPT_S:
        detail = f"discarded {count(lost.count, 'further message')} ({size(lost.bytes)}) that "
        detail += f"could not be applied, the last one {moment(lost.last, time.time())}: "
        detail += clean(lost.reason)
        advice = f"look into {folder.parent.parent / 'logs' / 'daemon.log'}"
        yield Finding("drop-box", str(folder / DISCARDED), detail, advice)


def _files(folder: Path) -> list[Entry]:
    """Return the files in a folder, with age and kind; those that vanish meanwhile are skipped."""
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            files.append((Path(entry.path), time.time() - status.st_mtime, status.st_mode))
    return sorted(files)


def _shown(name: str) -> str:
    return os.fsencode(name).decode(errors="backslashreplace")
