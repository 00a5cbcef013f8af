"""The drop-box: a Maildir in which messages arrive, and the only importer of the file watcher."""

import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from d0ctl_wrapper import message

MOST_FILES = 2_000
"""How many files one look at the drop-box takes along."""

LARGEST = 512 * 1024 * 1024
"""A file beyond this many bytes is refused unread."""

BATCH = ".batch"
"""The ending of a file in which a courier put many messages of its node."""


@dataclass(slots=True)
class Letters:
    """What one look found: messages that are well-formed and signed, and the files they came in."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


class DropBox:
    """The drop-box of a home. Several processes may read it; applying twice changes nothing."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self.folder = folder
        self.new = folder / "new"
        self._key = key
        self._numbers = itertools.count()

    def deliver(self, node: str, texts: Sequence[str]) -> None:
        """Put messages of a node in, as one file; they are on the disk when this returns."""
        name = f"{node}.{time.time_ns()}.{os.getpid()}.{next(self._numbers)}{BATCH}"
        aside = self.folder / "tmp" / name
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            for text in texts:
                file.write(json.dumps(text) + "\n")
            file.flush()
            os.fsync(descriptor)
        aside.rename(self.new / name)
        folder = os.open(self.new, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def collect(self, most: int = MOST_FILES) -> Letters:
        """Read what lies there; what can't be a message goes to `rejected/`."""
        letters = Letters()
        with os.scandir(self.new) as entries:
            found = sorted(entry.name for entry in itertools.islice(entries, most))
        for name in found:
            path = self.new / name
            try:
                if path.stat().st_size > LARGEST:
                    raise ValueError(f"the file is larger than {LARGEST} bytes")
                content = path.read_text()
            except FileNotFoundError:
                continue
            except (ValueError, OSError) as error:
                self.reject(path, str(error))
                continue
            letters.files.append(path)
            for text in self._texts(path, content):
                self._take(letters, path, text)
        return letters

    def _texts(self, path: Path, content: str) -> Iterator[str]:
        if not path.name.endswith(BATCH):
            yield content
            return
        for line in content.splitlines():
            try:
                text = json.loads(line)
            except ValueError:
                text = None
            if isinstance(text, str):
                yield text
            else:
                self.reject_text(path.name, line, "the line of the batch is torn")

    def _take(self, letters: Letters, path: Path, text: str) -> None:
        try:
            messages = message.parse(text)
            for entry in messages:
                if entry["token"] != message.token(self._key, entry["attempt"]):
                    raise ValueError(f"the token of attempt {entry['attempt']} is wrong")
        except ValueError as error:
            self.reject_text(path.name, text, str(error))
        else:
            letters.messages.extend(messages)

    def clear(self, files: Iterable[Path]) -> None:
        """Take out what has been applied and committed."""
        for path in files:
            with suppress(FileNotFoundError):
                path.unlink()

    def reject(self, path: Path, reason: str) -> None:
        """Move a whole file to `rejected/`, with the reason beside it."""
        target = self.folder / "rejected" / path.name
        with suppress(FileNotFoundError):
            path.rename(target)
            target.with_name(f"{path.name}.reason").write_text(f"{reason}\n")

    def reject_text(self, name: str, text: str, reason: str) -> None:
        """Keep a message that can't be applied, with the reason beside it."""
        target = self.folder / "rejected" / f"{name}.{time.time_ns()}"
        target.write_text(text)
        target.with_name(f"{target.name}.reason").write_text(f"{reason}\n")

    @contextmanager
    def watched(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call `wake` whenever something arrives; where watching fails, a rescan has to do."""
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
