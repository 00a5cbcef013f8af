"""Commands that d0ctl prints act on the home on which the command that printed them acted."""

import re
import shlex
from pathlib import Path

import pytest

from d0ctl.cli.session import settings
from d0ctl.cli.terminal.output import at_home
from tests.cli.conftest import Type

OTHER = "other home"


@pytest.fixture(autouse=True)
def other(d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second home, named by a relative path, beside that of the environment."""
    monkeypatch.chdir(tmp_path)
    for words in ((), ("--home", OTHER)):
        d0ctl(*words, "node", "add", "farm01", "--local", "--same-machine")


def printed(text: str) -> list[str]:
    """The commands in an output."""
    return [line.strip(" $`") for line in re.findall(r"d0ctl [^:\n`]*", text)]


def test_an_undo_is_for_the_home_that_was_changed(d0ctl: Type) -> None:
    answer = d0ctl("--home", OTHER, "node", "drain", "farm01").output

    (undo,) = printed(answer)
    assert undo == f"d0ctl --home '{OTHER}' node resume farm01"
    assert d0ctl(*shlex.split(undo)[1:]).exit_code == 0
    assert "drained" not in d0ctl("node", "list", "--home", OTHER).stdout


@pytest.mark.parametrize(
    "words",
    [
        ["why"],
        ["why", "farm01"],
        ["status", "nothing"],
        ["doctor"],
        ["software", "list"],
        ["throttle", "list"],
        ["archives"],
        ["status", "--archive", "old"],
    ],
)
def test_each_printed_command_is_for_the_home_that_was_read(d0ctl: Type, words: list[str]) -> None:
    d0ctl("node", "drain", "farm01", "--home", OTHER)
    commands = printed(d0ctl(*words, "--home", OTHER).output)

    assert all(command.startswith(f"d0ctl --home '{OTHER}' ") for command in commands), commands


def test_a_printed_command_for_another_home_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "home", Path("second"))
    stop = "d0ctl --home /data/share/d0ctl daemon stop"

    assert at_home(f"{stop}, or `d0ctl doctor`") == f"{stop}, or `d0ctl --home second doctor`"


def test_a_home_of_the_environment_is_not_repeated(d0ctl: Type) -> None:
    assert "--home" not in d0ctl("node", "drain", "farm01").output
