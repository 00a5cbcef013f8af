"""The spool of message files on their way to the control host."""

import os
import re
import time
from typing import Callable, Collection, List

from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.host import long_logs
from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.protocol import paths as files
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths

RETRY_FOR_S = 86400.0
"""The seconds for which a wrapper tries to write its end message on a full disk."""

_NAME = re.compile(rb"[0-9]{1,19}\.[0-9]{1,9}\Z")


def is_name(name: bytes) -> bool:
    """Return whether a file of this name can be a message."""
    return _NAME.match(name) is not None


def write(paths: NodePaths, name: bytes, text: bytes) -> None:
    """Put a message file into the spool, by a rename so that nobody reads half of it."""
    aside = paths.spool + b"/tmp/" + name
    files.write(aside, text)
    os.rename(aside, paths.spool + b"/new/" + name)


def write_end(folder: AttemptFolder, name: bytes, text: bytes) -> None:
    """Record the end of an attempt in its folder, then put it into the spool; try for a day.

    On a full disk, long logs are shortened and the working directory is removed, or nothing might
    ever make space.
    """
    end = folder.file(b"end")

    def record() -> None:
        try:
            files.write(end + b".aside", text)
        except OSError as error:
            if error.errno in FULL:
                long_logs.shorten(folder)
                files.remove(folder.work)
            raise
        os.rename(end + b".aside", end)

    _repeat_until_done(record)
    _repeat_until_done(lambda: send_end(folder, name))


def send_end(folder: AttemptFolder, name: bytes) -> None:
    """Put the recorded end of an attempt into the spool, by a hard link where one is possible."""
    end = folder.file(b"end")
    try:
        os.link(end, folder.node.spool + b"/new/" + name)
    except FileExistsError:
        pass
    except OSError:
        with open(end, "rb") as file:
            write(folder.node, name, file.read())


def wake_relay(paths: NodePaths) -> None:
    """Wake the relay, if there is one."""
    try:
        fifo = os.open(paths.wake, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        os.write(fifo, b"!")
    except OSError:
        pass
    os.close(fifo)


def waiting(paths: NodePaths) -> "List[bytes]":
    """List the message files in the spool, those of an attempt in their order."""
    names = [name for name in os.listdir(paths.spool + b"/new") if is_name(name)]
    return sorted(names, key=lambda name: [int(part) for part in name.split(b".")])


def sweep(paths: NodePaths, running: "Collection[int]") -> None:
    """Remove half-written files of wrappers that were killed."""
    for name in os.listdir(paths.spool + b"/tmp"):
        if is_name(name) and int(name.split(b".")[0]) not in running:
            os.unlink(paths.spool + b"/tmp/" + name)


def read(paths: NodePaths, name: bytes) -> "str | None":
    """Read one message file; None if it is gone.

    A file that is too long is returned with one character too many.
    """
    try:
        with open(paths.spool + b"/new/" + name, "rb") as file:
            return file.read(message.LONGEST_TEXT + 1).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def delete(paths: NodePaths, name: bytes) -> None:
    """Delete a message file that the control host has."""
    try:
        os.unlink(paths.spool + b"/new/" + name)
    except FileNotFoundError:
        pass


def _repeat_until_done(action: "Callable[[], None]") -> None:
    """Repeat an action that a full disk may refuse, until it succeeds."""
    give_up = time.monotonic() + RETRY_FOR_S
    pause = 0.05
    while True:
        try:
            return action()
        except FileNotFoundError:
            raise
        except OSError:
            if time.monotonic() > give_up:
                raise
        time.sleep(pause)
        pause = min(pause * 2, 30.0)
