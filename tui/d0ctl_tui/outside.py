"""Other programs on the terminal of the dashboard: a shell on a node, a pager, an editor."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from textual.app import App, SuspendNotSupported

from d0ctl.config import Home
from d0ctl.errors import D0Error, Refused
from d0ctl.model import Address
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.units import size
from d0ctl_tui.app_events import CommandClicked, ThreadResult
from d0ctl_tui.read import logs
from d0ctl_tui.read.logs import Log

MOST_COPIED = 64 << 20
"""How many bytes of a log on another machine are copied, the last ones."""

PIECE = 1 << 20

PROGRAMS = {"pager": (("PAGER",), "less"), "editor": (("VISUAL", "EDITOR"), "vi")}
"""The variables that name a program, and the program if none does."""

SSH_FAILED = 255
"""The exit status of ssh if it did not connect or was cut off."""


class Outside:
    """What the dashboard does outside of its screens, as part of the app."""

    home: Home
    read_only: bool

    @property
    def _app(self) -> App[Any]:
        assert isinstance(self, App)
        return self

    def show_notice(self, message: str, role: str = "warn") -> None:
        """Show a notice in the last line, until the next key."""
        raise NotImplementedError

    def end_notice(self) -> None:
        """Show no notice any more."""
        raise NotImplementedError

    def copy(self, text: str) -> None:
        """Copy a text, through the terminal; a command with the home, if that was chosen."""
        text = for_home(text, self.home)
        self._app.copy_to_clipboard(text)
        self.show_notice(f"copied: {text}", "good")

    def on_command_clicked(self, message: CommandClicked) -> None:
        """Copy the command."""
        self.copy(message.command)

    def log_of(self, package: str, *, quiet: bool = False) -> Log | None:
        """Return the log of a package; None if there is none, which is said unless `quiet`."""
        try:
            with open_store(self.home, read_only=True) as store, database_errors(self.home):
                return logs.find(store, package)
        except D0Error as error:
            if not quiet:
                self.show_notice(str(error))
        return None

    def open_shell(self, address: Address, folder: str) -> None:
        """Give the terminal to a shell on a node, in a folder."""
        if not self._is_refused():
            self._show_problem(_shell(self._app, address, self.home.known_hosts, folder))

    def read_log(self, log: Log, stream: str | None, program: str) -> None:
        """Give a stream of a log, the latest if it is None, to the pager or the editor."""
        if self._is_refused():
            log.close()
            return
        if not log.is_near:
            self.show_notice(f"copying the log from {log.address.name} ...", "plain")
        self._app.run_worker(partial(self._fetch, log, stream, program), thread=True,
                             exclusive=True, group="outside")  # fmt: skip

    def save_log(self, log: Log, stream: str, path: Path) -> None:
        """Write a stream of a log to a new file on this machine."""
        if self.read_only:
            self.show_notice("this dashboard is read-only and writes no files")
            log.close()
            return
        self.show_notice(f"saving {path} ...", "plain")
        self._app.run_worker(partial(self._save, log, stream, path), thread=True, group="saving")

    def _save(self, log: Log, stream: str, path: Path) -> None:
        """In a thread: write the file, or nothing if that fails."""
        try:
            with path.open("xb") as file:
                try:
                    written = _copy(log, stream, file)
                except BaseException:
                    path.unlink()
                    raise
        except (D0Error, OSError) as error:
            then = partial(self.show_notice, f"the log can't be saved: {error}")
        else:
            then = partial(self.show_notice, f"saved {size(written)} as {path}", "good")
        finally:
            log.close()
        self._app.post_message(ThreadResult(then))

    def _is_refused(self) -> bool:
        """Return whether no program may be started, and say so."""
        if self.read_only:
            self.show_notice("this dashboard is read-only and starts no other programs")
        return self.read_only

    def _fetch(self, log: Log, stream: str | None, program: str) -> None:
        """In a thread: bring the log to this machine, and have it shown."""
        try:
            if stream is None:
                number, name = log.latest() or (1, "out")
                stream = f"{number}.{name}"
            fetched = Fetched(log, stream)
        except (D0Error, OSError) as error:
            then = partial(self.show_notice, f"the log can't be read: {error}")
        else:
            then = partial(self._read_with, fetched, program)
        finally:
            log.close()
        self._app.post_message(ThreadResult(then))

    def _read_with(self, fetched: "Fetched", program: str) -> None:
        self.end_notice()
        if not fetched.path.exists():
            self.show_notice("nothing was printed")
        else:
            self._show_problem(_run(self._app, [*_program(program), fetched.path]))
        fetched.close()

    def _show_problem(self, problem: str) -> None:
        if problem:
            self.show_notice(problem)


def for_home(text: str, home: Home) -> str:
    """Return a text whose commands find the home from any shell, if another one was chosen."""
    if not home.is_chosen:
        return text
    front = f"d0ctl --home {shlex.quote(str(home.root))} "
    return re.sub("(?:^|(?<=; )|(?<=&& ))d0ctl (?!--home )", lambda _: front, text)


def _shell(app: App[Any], address: Address, known_hosts: Path, folder: str) -> str:
    """Open a shell on a node, in a folder; return why that failed, or an empty text."""
    from d0ctl.nodes.visits.login_shell import opened

    try:
        with opened(address, known_hosts, folder) as call:
            broken = {} if not address.destination else {SSH_FAILED: (
                f"the connection to `{address.name}` failed: "
                f"`d0ctl node check {address.name}` says why"
            )}  # fmt: skip
            return _run(app, call.arguments, call.folder, broken)
    except (D0Error, OSError) as error:
        return str(error)


def _program(kind: str) -> list[str]:
    """Return the pager or the editor of the user, with its options."""
    variables, otherwise = PROGRAMS[kind]
    found = next((program for name in variables if (program := os.environ.get(name))), otherwise)
    try:
        return shlex.split(found) or [otherwise]
    except ValueError:
        return [found]


def _run(
    app: App[Any],
    arguments: Sequence[str | Path],
    folder: Path | None = None,
    problems: Mapping[int, str] = {},
) -> str:
    """Give the terminal to a program until it ends; return why that failed, or an empty text.

    `problems` says what an exit status means: the program's own words are on the other screen.
    """
    problem = ""
    before = signal.getsignal(signal.SIGINT)
    try:
        with app.suspend():
            # ctrl+c is for the program, which does not inherit a handler
            signal.signal(signal.SIGINT, lambda number, frame: None)
            try:
                ended = subprocess.run(arguments, cwd=folder, check=False)
                problem = problems.get(ended.returncode, "")
            except OSError as error:  # here: `suspend` does not come back from an exception
                problem = f"`{arguments[0]}` can't be started: {error.strerror}"
            finally:
                signal.signal(signal.SIGINT, before)
    except SuspendNotSupported:
        problem = "this terminal can't be given to another program"
    return problem


class Fetched:
    """A stream of a log as a file on this machine: itself, or a copy until `close`."""

    def __init__(self, log: Log, name: str) -> None:
        self._copy = "" if log.is_near else tempfile.mkdtemp(prefix="d0ctl-")
        self.path = Path(self._copy or log.folder, name)
        if self._copy:
            try:
                with self.path.open("wb") as copy:
                    _copy(log, name, copy, MOST_COPIED)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Remove the copy."""
        if self._copy:
            shutil.rmtree(self._copy, ignore_errors=True)


def new_file(text: str) -> Path:
    """Return the path of a file that does not exist yet, in a folder that does. Raises Refused."""
    path = Path(text.strip()).expanduser().absolute()
    if not path.parent.is_dir():
        raise Refused(f"there is no folder `{path.parent}`")
    if os.path.lexists(path):
        raise Refused(f"`{path}` exists: choose another name")
    return path


def _copy(log: Log, name: str, copy: BinaryIO, most: int | None = None) -> int:
    """Copy a stream, or the end of it; return how many bytes. Raises NodeUnreachable."""
    end = log.size(name)
    first = at = 0 if most is None else max(0, end - most)
    while at < end and (piece := log.read(name, at, min(PIECE, end - at))):
        copy.write(piece)
        at += len(piece)
    return at - first
