"""What a piece of code does to the disk, in its order: syncs, renames and removals."""

import ctypes
import os
import re
import signal
import subprocess
import sys
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support import Missing, debian_program

KINDS = {"fsync": "fsync", "fdatasync": "fsync"} | {
    f"{kind}{form}": kind for kind in ("rename", "unlink") for form in ("", "at", "at2")
}
"""The kind of step that a system call is."""

WORDS = ("-f", "-y", "-s", "4096")
"""All threads, with the paths of open files, and names uncut."""

CALL = re.compile(r"(\w+)\((.*)\) += 0")
OPEN = re.compile(r"\d+<(.*)>")
NAMED = re.compile(r'(?:\w+<([^>]*)>, )?("(?:[^"\\]|\\.)*")')

PR_SET_PTRACER, ANYBODY = 0x59616D61, -1
"""Lets a child trace its parent where the kernel allows only the reverse (Yama)."""


def find_strace() -> Path:
    """The system's strace, or one unpacked from Debian's package."""
    return debian_program("strace", "strace")


@contextmanager
def journal() -> Iterator[list[tuple[str, Path]]]:
    """Note each fsync, rename (by its new name) and unlink of this process, as strace sees them.

    The list is filled at the end.
    """
    steps: list[tuple[str, Path]] = []
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(ANYBODY), 0, 0, 0)
    with TemporaryDirectory() as folder:
        log = Path(folder, "log")
        calls = "trace=" + ",".join(f"?{name}" for name in KINDS)
        strace = subprocess.Popen(
            [find_strace(), *WORDS, "-e", calls, "-o", log, "-p", str(os.getpid())],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert strace.stderr is not None
        with strace, strace.stderr as said:
            answer = said.readline()
            assert " attached" in answer, f"strace can't trace this process: {answer}{said.read()}"
            try:
                yield steps
            finally:
                strace.send_signal(signal.SIGINT)
                strace.wait()
        steps += steps_in(log.read_text())


def steps_in(log: str) -> Iterator[tuple[str, Path]]:
    """The steps that strace wrote down, without those that failed."""
    begun: dict[str, str] = {}
    for line in log.splitlines():
        thread, text = line.split(maxsplit=1)
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix(" <unfinished ...>")
            continue
        if text.startswith("<... "):
            text = begun.pop(thread) + text.partition(" resumed>")[2]
        if call := CALL.match(text):
            name, words = call.groups()
            yield KINDS[name], path_in(words)


def path_in(words: str) -> Path:
    """The path of a call's open file, or else the last one that it names."""
    if opened := OPEN.fullmatch(words):
        return Path(opened[1])
    folder, name = NAMED.findall(words)[-1]
    return Path(folder, os.fsdecode(literal_eval(f"b{name}")))


def assert_settled(steps: list[tuple[str, Path]], target: Path) -> None:
    """Check that a file was synced before it got its name, and its folder afterwards."""
    named = steps.index(("rename", target))
    assert any(step == "fsync" and not path.is_dir() for step, path in steps[:named]), (
        f"{target} got its name before its content was on the disk: {steps}"
    )
    assert ("fsync", target.parent) in steps[named:], (
        f"the name of {target} was not synced: {steps}"
    )


def main() -> None:
    """Print where strace is, or the line that says what to install."""
    try:
        print(find_strace())
    except Missing as missing:
        sys.exit(f"d0ctl: {missing}")


if __name__ == "__main__":
    main()
