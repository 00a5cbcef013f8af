"""Another user of this machine, and a disk of one's own: for tests that need root."""

import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

STRANGER = 65534
"""The user id of another user, who owns nothing."""

NAMELESS = 12345
"""The id of a user who is not in the list of users, as in containers."""

ROOT = Path(__file__).resolve().parents[2]

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs root, to act as another user and to mount a disk"
)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter; those of pytest are for one user alone."""
    folder = Path(tempfile.mkdtemp(prefix="d0ctl-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def mounted(folder: Path, size: str = "64m") -> Iterator[Path]:
    """A small disk at a folder."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def make_read_only(folder: Path) -> None:
    """Let nothing be written any more to the disk at a folder."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


def python_for_all() -> str:
    """A python that other users may run: ours, else the one of the system of the same version."""
    ours = Path(sys.executable).resolve()
    if all(parent.stat().st_mode & 0o001 for parent in ours.parents):
        return str(ours)
    found = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/local/bin:/usr/bin")
    assert found, "no python that another user may run"
    return found


EACH = """
import json, sys
from typer.testing import CliRunner
from d0ctl.cli.app import app
results = (CliRunner().invoke(app, words) for words in json.loads(sys.argv[1]))
print(json.dumps([[result.exit_code, result.stderr] for result in results]))
"""


def d0ctl_as(user: int, home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Type a command as a user."""
    return python_as(user, home, "-m", "d0ctl", *words)


def d0ctl_each_as(user: int, home: Path, commands: list[list[str]]) -> list[tuple[int, str]]:
    """Type commands as a user, in one process; exit code and errors of each."""
    done = python_as(user, home, "-c", EACH, json.dumps(commands))
    return [(code, errors) for code, errors in json.loads(done.stdout)]


def python_as(user: int, home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Start python as a user who names this home."""
    sources = [str(ROOT / name) for name in ("", "tui", "wrapper", "sql")]
    environment = {
        "D0CTL_HOME": str(home),
        "HOME": str(home.parent),
        "PATH": os.defpath,
        "PYTHONPATH": ":".join([*sources, *site.getsitepackages()]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [python_for_all(), *words],
        env=environment, cwd=home.parent, user=user, group=user, extra_groups=[],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
