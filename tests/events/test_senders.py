"""How events are sent: by the command, and as the documentation shows it."""

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.daemon.desk import Desk
from tests.events.sending import take
from tests.support.rows import read, value

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
PROGRAM = Path(sys.executable).with_name("d0ctl")


def example(language: str) -> str:
    """The example in a language."""
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return str(found)


@pytest.mark.parametrize(
    ("language", "words"),
    [("python", [sys.executable, "-c"]), ("sh", ["sh", "-c"])],
)
def test_the_examples_of_the_documentation_send_events(
    desk: Desk, language: str, words: list[str]
) -> None:
    more = ["sh"] if language == "sh" else []
    subprocess.run([*words, example(language), *more, str(desk.home.event_key),
                    str(desk.dropbox.folder), "nagios", "node-down", "localhost"],
                   check=True)  # fmt: skip

    assert take(desk) == []

    assert value(desk.store, "node", "drained") == 1
    assert read(desk.store, "action", "actor", "note")[-1] == ("nagios", "event node-down")


def run(desk: Desk, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, "--home", desk.home.root, *words], capture_output=True,
                          text=True, check=False)  # fmt: skip


def test_the_command_makes_a_key_and_sends_an_event(desk: Desk) -> None:
    desk.home.event_key.unlink()
    assert run(desk, "event", "send", "node-down", "localhost").returncode == 3

    assert run(desk, "event", "key").stdout == f"{desk.home.event_key}\n"
    assert stat.S_IMODE(desk.home.event_key.stat().st_mode) == 0o600
    assert run(desk, "event", "key").returncode == 4
    assert run(desk, "event", "send", "node-gone", "localhost").returncode == 2
    sent = run(desk, "event", "send", "node-down", "localhost", "--sender", "nagios",
               "--reason", "a fan")  # fmt: skip

    assert (sent.returncode, sent.stdout, sent.stderr) == (0, "", "")
    assert take(desk) == []
    assert read(desk.store, "action", "actor", "note")[-1] == ("nagios", "a fan")


def test_an_event_is_written_into_another_folder_to_be_carried_on(
    desk: Desk, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    sent = run(desk, "event", "send", "node-down", "localhost", "--key", desk.home.event_key,
               "--dir", folder)  # fmt: skip

    [path] = folder.iterdir()
    assert sent.stdout == f"{path}\n"
    path.rename(desk.dropbox.new / path.name)
    assert take(desk) == []
    assert value(desk.store, "node", "drained") == 1
