"""The drop-box: a Maildir in which the messages of wrappers arrive."""

import heapq
import itertools
import os
import re
import stat
import threading
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct, field

from d0ctl import fast_json
from d0ctl.errors import D0Error
from d0ctl.rejected import KEPT_S, Rejected, token_fault
from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol import message

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Message

MOST_FILES = 1_000
"""The most files that are read in one turn."""

MOST_MESSAGES = 1_000
"""After this many messages no further file is read: the transaction must stay short."""

LARGEST = message.LONGEST_TEXT
LARGEST_BATCH = 4 * LARGEST
"""A larger file or batch, in bytes, is refused unread."""

LEFT_BEHIND_S = 86400.0
"""The age in seconds at which an unfinished file counts as abandoned."""

BATCH = ".batch"
"""The suffix of a file with many messages of a node, written by its courier."""

EVENT = ".event"
"""The suffix of a file with an event of another system."""

LARGEST_EVENT = 8_192
MOST_EVENTS = 100
"""A larger event, in bytes, is refused unread; after so many no further file is read."""


_ATTEMPT = re.compile(r'"attempt": ?([1-9][0-9]{0,18})\b')
_TOKEN = re.compile(r'"token": ?"([0-9a-f]{64})"')
_END = re.compile(r'"kind": ?"(?:end|part)"')
"""Patterns that find the attempt in an end message that can't be parsed."""


class ReceivedMessages(Struct):
    """Messages that are well-formed and signed, and the files in which they arrived."""

    messages: "list[Message]" = field(default_factory=list)
    senders: list[str | None] = field(default_factory=list)
    """The node that sent each message; None if it came from this machine."""
    files: list[str] = field(default_factory=list)
    events: list[tuple[str, str]] = field(default_factory=list)
    """The files with events of other systems, and their texts."""
    refused: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    """Attempts whose signed end message can't be parsed: why not, and which node sent it."""
    has_more: bool = False
    """Whether files were left for the next turn."""


def _node(name: str) -> str | None:
    """Return the node whose courier wrote a file; None for this machine."""
    return name.rsplit(".", 4)[0] if name.endswith(BATCH) else None


def _sender(name: str) -> str:
    """Return the attempt or the node that a file is from; all others count as one sender."""
    if node := _node(name):
        return node
    return name.partition(".")[0] if spool.is_name(os.fsencode(name)) else ""


def _read(name: str, folder: int) -> str:
    """Return the text of a regular file; never wait for a pipe or device."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with os.fdopen(os.open(name, flags, dir_fd=folder), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a regular file")
        most = LARGEST_BATCH if name.endswith(BATCH) else LARGEST
        most = LARGEST_EVENT if name.endswith(EVENT) else most
        data = file.read(status.st_size + 1) if status.st_size <= most else b""
        if len(data) > status.st_size:  # it grows
            data += file.read(max(0, most - len(data)) + 1)
        if max(status.st_size, len(data)) > most:
            raise ValueError(f"the file is larger than {most} bytes")
        return data.decode()


def _sender_of_end(text: str, token: Callable[[int], str]) -> int | None:
    """Return the attempt that signed an end message that can't be parsed; None without one."""
    attempt, signature = _ATTEMPT.search(text), _TOKEN.search(text)
    if attempt is None or signature is None or not _END.search(text):
        return None
    number = int(attempt[1])
    return number if signature[1] == token(number) else None


class DropBox:
    """The drop-box of a home. Several processes may read it; applying twice changes nothing."""

    def __init__(self, folder: Path, tokens: Callable[[], Callable[[int], str]]) -> None:
        self.folder = folder
        self.new = folder / "new"
        self._tokens = tokens
        self._numbers = itertools.count()
        self._last_sender = ""
        self._rejected = Rejected(folder / "rejected")
        self._delivered: dict[str, list[Path]] = {}

    def deliver(self, node: str, texts: Sequence[str]) -> None:
        """Write messages of a node as one file; they are on the disk when this returns.

        Raises D0Error if they can't be written: the node keeps them then.
        """
        name = f"{node}.{time.time_ns()}.{os.getpid()}.{next(self._numbers)}{BATCH}"
        aside = self.folder / "tmp" / name
        try:
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(fast_json.encode(text) + b"\n" for text in texts)
                file.flush()
                os.fsync(descriptor)
            aside.rename(self.new / name)
            self._delivered.setdefault(node, []).append(self.new / name)
        except BaseException as error:
            aside.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise D0Error(f"`{self.folder}` takes no message: {error.strerror}") from error
            raise
        with self._open_new() as folder:
            os.fsync(folder)

    def collect(self, most: int = MOST_FILES) -> ReceivedMessages:
        """Read the files of the drop-box; invalid ones go to `rejected/`."""
        with os.scandir(self.new) as entries:
            found = self._in_turn([entry.name for entry in entries], most)
        received = self.read(found)
        received.has_more = received.has_more or len(found) == most
        return received

    def _in_turn(self, names: list[str], most: int) -> list[str]:
        """Choose `most` of the files, one of each sender in turn, starting after the last sender.

        So a sender that floods the folder delays the others by at most one file per round.
        """
        if len(names) <= most:
            return sorted(names)
        of: dict[str, list[str]] = defaultdict(list)
        for name in names:
            of[_sender(name)].append(name)
        senders = sorted(of)
        first = bisect_right(senders, self._last_sender)
        due = (senders[first:] + senders[:first])[:most]
        files = [heapq.nsmallest(most, of[sender]) for sender in due]
        rounds = itertools.chain.from_iterable(itertools.zip_longest(*files))
        found = list(itertools.islice((name for name in rounds if name is not None), most))
        self._last_sender = _sender(found[-1])
        return found

    def read(self, found: Sequence[str]) -> ReceivedMessages:
        """Read the files of these names in order, until there are enough messages."""
        received = ReceivedMessages()
        # Asked once, as it reads a file. A new key signs no attempt whose file was found before.
        token = self._tokens()
        with self._open_new() as folder:
            for name in found:
                if len(received.messages) >= MOST_MESSAGES or len(received.events) >= MOST_EVENTS:
                    received.has_more = True
                    break
                try:
                    content = _read(name, folder)
                except FileNotFoundError:
                    continue
                except (ValueError, OSError) as error:
                    self._rejected.move(self.new / name, str(error))
                    continue
                if name.endswith(EVENT):
                    received.events.append((name, content))
                    continue
                received.files.append(name)
                for text in self._texts(name, content):
                    self._take(received, name, text, token)
        self._rejected.write_count()
        return received

    @contextmanager
    def _open_new(self) -> Iterator[int]:
        descriptor = os.open(self.new, os.O_RDONLY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _texts(self, name: str, content: str) -> Iterator[str]:
        if not name.endswith(BATCH):
            yield content
            return
        for line in content.splitlines():
            try:
                yield fast_json.decode_text(line)
            except ValueError:
                self._rejected.keep(name, line, "the line of the batch is torn")

    def _take(
        self, received: ReceivedMessages, name: str, text: str, token: Callable[[int], str]
    ) -> None:
        """Add the messages of one text, which are all of one attempt."""
        try:
            messages = message.parse(text, fast_json.decode_bounded)
            first = messages[0]
            if not (wanted := token(first["attempt"])):  # it ended when its key was lost
                return
            if first["token"] != wanted:
                raise ValueError(token_fault(first["attempt"]))
        except ValueError as error:
            self._rejected.keep(name, text, str(error))
            if attempt := _sender_of_end(text, token):
                received.refused[attempt] = str(error), _node(name)
        else:
            received.messages.extend(cast("list[Message]", messages))
            received.senders += [_node(name)] * len(messages)

    def clear(self, files: Iterable[str]) -> None:
        """Remove files whose messages have been applied and committed."""
        with self._open_new() as folder:
            for name in files:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)

    def reject_text(self, name: str, text: str, reason: str) -> None:
        """Keep a message that can't be applied, with the reason beside it."""
        self._rejected.keep(name, text, reason)
        self._rejected.write_count()

    def unread(self, node: str) -> int:
        """Return how many files that were delivered for a node have not been applied yet."""
        waiting = self._delivered.get(node, [])
        self._delivered[node] = [path for path in waiting if path.exists()]
        return len(self._delivered[node])

    def sweep(self) -> None:
        """Remove old files: unfinished ones of killed processes, and rejected messages."""
        for name, age_s in (("tmp", LEFT_BEHIND_S), ("rejected", KEPT_S)):
            for path in (self.folder / name).iterdir():
                with suppress(FileNotFoundError, IsADirectoryError):
                    if path.lstat().st_mtime < time.time() - age_s:
                        path.unlink()

    @contextmanager
    def watched(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call `wake` whenever a file arrives; if watching fails, the regular rescan finds it."""
        from watchdog.events import FileCreatedEvent, FileMovedEvent, FileSystemEventHandler
        from watchdog.observers import Observer

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: object) -> None:
                wake()

        observer = Observer()
        observer.schedule(Handler(), str(self.new), event_filter=[FileCreatedEvent, FileMovedEvent])
        started = threading.Event()
        with suppress(OSError):
            observer.start()
            started.set()
        try:
            yield
        finally:
            if started.is_set():
                observer.stop()
                observer.join()
