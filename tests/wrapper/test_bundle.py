"""The bundle of modules from which jobs of packages start."""

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from d0ctl.nodes import ship
from d0ctl_wrapper.bundle import bundle_maker, bundle_path
from d0ctl_wrapper.bundle.late import NAMES
from d0ctl_wrapper.bundle.simplify import simplify

SOURCE = '''
import re
import hashlib
import signal
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Callable, Iterator, List, NamedTuple, Optional

Step = Callable[[int], int]
LINE = re.compile(r"(?i)a+")


class Point(NamedTuple):
    """A point."""

    x: int
    y: "Optional[int]" = 2

    def sum(self) -> int:
        total: int = self.x + (self.y or 0)
        return total


@contextmanager
def twice(found: "List[int]", step: Step) -> Iterator[int]:
    found.append(step(1))
    yield 1
    found.append(step(2))


def digest(data: bytes) -> str:
    later: str
    later = hashlib.sha256(data).hexdigest()
    return later


def is_alike(name: str) -> bool:
    return fnmatchcase(name, "a*") and LINE.match(name) is not None and re.search("b", name) is None


def kill() -> int:
    return signal.SIGKILL
'''


def module(source: str) -> ModuleType:
    """A simplified module."""
    found = ModuleType("found")
    vars(found).update(NAMES)
    exec(compile(simplify(source), "found", "exec", optimize=2), vars(found))
    return found


@pytest.fixture
def archive(tmp_path: Path) -> str:
    """The archive of all modules, where a job finds it."""
    path = tmp_path / "wrapper.pyz"
    path.write_bytes(ship.archive())
    return str(path)


def start(archive: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Start the bundle in a python of its own."""
    text = f"""\
import marshal, sys
exec(*marshal.loads(open({bundle_path.of(archive)!r}, "rb").read()))
{words[0]}
"""
    command = [sys.executable, "-I", "-S", "-c", text, archive]
    return subprocess.run(command, text=True, capture_output=True)


def test_a_simplified_module_does_the_same() -> None:
    found, steps = module(SOURCE), list[int]()

    assert found.Point(1).sum() == 3
    with found.twice(steps, lambda number: number * 10) as value:
        assert value == 1
    assert steps == [10, 20]
    assert found.digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert [found.is_alike(name) for name in ("aa", "ab", "ba", "Aa")] == [
        True,
        False,
        False,
        False,
    ]
    assert found.kill() == 9


def test_a_record_is_as_a_named_tuple() -> None:
    class Named(NamedTuple):
        """The model."""

        x: int
        y: int | None = 2

    record = module(SOURCE).Point
    makes: list[Any] = [Named, record]
    for make in makes:
        assert make(1) == make(x=1) == (1, 2)
        assert make(1, y=3)._replace(x=4) == (4, 3)
        assert make(1)._asdict() == {"x": 1, "y": 2}
        assert repr(make(1)).endswith("(x=1, y=2)")
        for wrong in ({}, {"x": 1, "z": 1}):
            with pytest.raises((TypeError, KeyError)):
                make(**wrong)
        with pytest.raises(TypeError):
            make(1, 2, 3)


def test_a_job_imports_few_modules_of_the_standard_library(archive: str) -> None:
    bundle_maker.make(archive)

    done = start(archive, "print(*sorted(sys.modules))")

    loaded = set(done.stdout.split())
    assert "d0ctl_wrapper.attempt.task" in loaded, done.stderr
    assert not loaded & {
        "typing",
        "re",
        "enum",
        "json",
        "hashlib",
        "ctypes",
        "collections",
        "signal",
    }


def test_a_late_module_comes_from_the_archive(archive: str) -> None:
    bundle_maker.make(archive)

    done = start(archive, "import d0ctl_wrapper.relay.main as found; print(found.__file__)")

    assert done.stdout.strip() == f"{archive}/d0ctl_wrapper/relay/main.pyc", done.stderr


def test_a_bundle_is_made_once_and_whole(archive: str) -> None:
    aside = Path(bundle_path.of(archive) + ".aside")
    aside.touch()
    bundle_maker.make(archive)
    made = Path(bundle_path.of(archive))
    assert not made.exists()  # another job makes it

    long_ago = time.time() - 2 * bundle_maker.ABANDONED_S
    os.utime(aside, (long_ago, long_ago))
    bundle_maker.make(archive)
    bundle_maker.make(archive)

    assert not aside.exists()
    before = made.stat().st_mtime_ns
    bundle_maker.make(archive)
    assert made.stat().st_mtime_ns == before


def test_a_bundle_that_does_not_load_is_not_used(archive: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pyz"
    with zipfile.ZipFile(archive) as whole, zipfile.ZipFile(broken, "w") as copy:
        for name in whole.namelist():
            if name.endswith(".py"):
                end = b"\nraise ImportError" if name.endswith("attempt/task.py") else b""
                copy.writestr(name, whole.read(name) + end)

    bundle_maker.make(str(broken))

    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["broken.pyz", "wrapper.pyz"]
