"""Completion in the real shells: installed, then TAB is pressed in bash, zsh and fish."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support import Missing, install
from tests.support.building import production
from tests.support.site import Site
from tests.support.waiting import wait_until

FOLDER = Path(sys.executable).parent
SHELLS = ("bash", "zsh", "fish")
_ESCAPES = re.compile(r"\x1b(\[[?>=\d;:]*[a-zA-Z]|[()][0-9A-Z]|[=>78]|\][^\x07\x1b]*(\x07|\x1b\\))")


def program(shell: str) -> str:
    """The shell of this machine, which CI installs; without it the test is reported as not run."""
    if not shutil.which(shell):
        try:
            install((shell,), f"{shell} is missing: apt-get install {shell}")
        except Missing as error:
            pytest.skip(str(error))
    return str(shutil.which(shell))


@pytest.fixture
def account(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user with two jobs; the shells read nothing else."""
    site.submit(production())
    site.submit(production("other", lines=30))
    home = tmp_path / "account"
    home.mkdir()
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return home


class Prompt:
    """A shell at a terminal."""

    def __init__(self, shell: str, account: Path) -> None:
        setsid = shutil.which("setsid")
        assert setsid, "setsid is part of util-linux"
        self.descriptor, theirs = pty.openpty()
        termios.tcsetwinsize(self.descriptor, (40, 160))
        self.process = subprocess.Popen(
            [setsid, "--ctty", program(shell), "-i"],
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=account,
            env=os.environ | {"TERM": "xterm", "PATH": f"{FOLDER}:{os.environ['PATH']}",
                              "PS1": "READY> ", "LC_ALL": "C.UTF-8", "fish_greeting": ""},
        )  # fmt: skip
        os.close(theirs)
        self._seen = b""

    @property
    def text(self) -> str:
        """All that has come, without escapes."""
        while select.select([self.descriptor], [], [], 0)[0]:
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                break
            if not data:
                break
            if b"\x1b[c" in data or b"\x1b[0c" in data:  # fish asks what the terminal is
                os.write(self.descriptor, b"\x1b[?62c")
            self._seen += data
        return _ESCAPES.sub("", self._seen.decode("utf-8", "replace"))

    def type(self, keys: str, expected: str) -> None:
        """Press keys, and return once the terminal has printed this after them."""
        before = len(self.text)
        os.write(self.descriptor, keys.encode())
        try:
            wait_until(lambda: expected in self.text[before:])
        except TimeoutError:
            raise TimeoutError(f"`{expected}` did not come, but: {self.text!r}") from None


@contextmanager
def prompt(shell: str, account: Path) -> Iterator[Prompt]:
    """Open a shell, and close it at the end."""
    one = Prompt(shell, account)
    try:
        one.type("echo be''gin\r", "begin\r")
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        os.close(one.descriptor)


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_in_the_real_shell_once_it_is_installed(
    shell: str, account: Path, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "account" / "mc.yaml").write_text("job: mc\nparameters: {energy: 7}\nstages: []\n")

    assert d0ctl("completion", "install", "--shell", shell).exit_code == 0

    with prompt(shell, account) as line:
        for typed, completed in (
            ("d0ctl sta", "status"), ("d0ctl status ot", "other"),
            ("d0ctl status other/1/2", "other/1/2"), ("d0ctl status prod/2/1", "prod/2/1/1"),
            ("d0ctl status oth", "other/2"), ("d0ctl template show mer", "merge"),
            ("d0ctl node drain local", "localhost"), ("d0ctl why local", "localhost"),
            ("d0ctl results prod:plo", "plot.png"), ("d0ctl wait prod --until fai", "failed"),
            ("d0ctl status --status unre", "unreachable"),
            ("d0ctl submit mc.yaml --set en", "energy="),
        ):  # fmt: skip
            if completed == "other/1/2":  # 2 and 20 to 29
                line.type(f"{typed}\t\t", "other/1/29")
            elif completed == "other/2":  # a part follows the name of a job without a space
                line.type(f"{typed}\t", "er")
                line.type("/\t\t", "other/2")
            elif completed == "prod/2/1/1":
                line.type(f"{typed}/\t", completed)
            else:
                missing = completed.removeprefix(re.split(r"[ :]", typed)[-1])
                line.type(f"{typed}\t", missing)
            line.type("\x15", "")  # forget the line
            line.type("echo on''ward\r", "onward\r")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_files_are_offered_where_a_value_may_be_one(shell: str, account: Path, d0ctl: Type) -> None:
    (account / "only.yaml").touch()
    d0ctl("completion", "install", "--shell", shell)

    with prompt(shell, account) as line:
        line.type("d0ctl validate on\t", "ly.yaml")
        line.type("\x15", "")
        line.type("d0ctl retry prod --memory on\t", "")
        line.type("\x15echo on''ward\r", "onward\r")

        assert line.text.count("ly.yaml") == 1


@pytest.mark.parametrize("shell", SHELLS)
def test_an_installation_can_be_repeated_and_undone(shell: str, account: Path, d0ctl: Type) -> None:
    startup = account / f".{shell}rc"
    startup.write_text("export mine=1\n")
    startup.chmod(0o640)

    first = d0ctl("completion", "install", "--shell", shell)
    installed = {path: path.read_text() for path in account.rglob("*") if path.is_file()}
    again = d0ctl("completion", "install", "--shell", shell)

    assert first.stdout.startswith("wrote `")
    assert again.stdout.startswith(f"completion for {shell} is already in `")
    assert {path: path.read_text() for path in account.rglob("*") if path.is_file()} == installed
    assert startup.read_text().startswith("export mine=1\n")
    assert d0ctl("completion", "uninstall", "--shell", shell).exit_code == 0
    assert [path for path in account.rglob("*") if path.is_file()] == [startup]
    assert (startup.read_text(), startup.stat().st_mode & 0o777) == ("export mine=1\n", 0o640)
    assert d0ctl("completion", "uninstall", "--shell", shell).exit_code == 3


def test_the_shell_is_that_of_the_user_and_others_are_refused(
    account: Path, d0ctl: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")

    assert (account / ".config").exists() is False
    assert "completions/d0ctl.fish" in d0ctl("completion", "install").stdout
    assert d0ctl("completion", "install", "--shell", "tcsh").exit_code == 2
