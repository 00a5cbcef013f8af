"""What only happens on a terminal: questions, colours, watching."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.live import live
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, wait_until

PROGRAM = Path(sys.executable).with_name("d0ctl")


def on_a_terminal(*words: str, answer: str = "", **environment: str) -> tuple[int, str]:
    """Type a command on a terminal; its exit code and its output."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [PROGRAM, *words], stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"TERM": "xterm"} | environment,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, answer.encode())
    seen = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return running.wait(PATIENCE_S), seen.decode()


def test_a_person_can_decline_a_kill(site: Site) -> None:
    site.submit(production())

    code, seen = on_a_terminal("kill", "prod/1/1/1", answer="n\n")

    assert code == 1
    assert "would kill 1 package" in seen
    assert "do that? [y/N]" in seen
    assert "nothing was done" in seen
    assert site.phase("prod/1/1/1") == "ready"


def test_the_question_of_site_apply_shows_the_values_that_would_change(site: Site) -> None:
    site.up(cpus=4)
    file = site.store.home.root / "some.yaml"
    file.write_text("nodes: {localhost: {cpus: 3}}\ndefaults: {nice: 2}\n")

    code, seen = on_a_terminal("site", "apply", str(file), answer="n\n")

    assert code == 1
    assert "~ node localhost: cpus none -> 3" in seen and "defaults: nice 2" in seen


def test_a_person_can_confirm_a_kill(site: Site) -> None:
    site.submit(production())

    assert on_a_terminal("kill", "prod/1/1/1", answer="y\n")[0] == 0
    assert on_a_terminal("kill", "prod/1/2/1", "--yes")[0] == 0
    assert [site.phase(f"prod/1/{n}/1") for n in (1, 2)] == ["canceled", "canceled"]


def test_colours_are_for_terminals_that_want_them(site: Site) -> None:
    site.submit(production())

    assert "\x1b[1mprod\x1b[0m" in on_a_terminal("status", "prod")[1]
    assert "\x1b" not in on_a_terminal("status", "prod", NO_COLOR="1")[1]
    assert "\x1b" not in on_a_terminal("status", "prod", TERM="dumb")[1]


def test_a_log_is_made_harmless_for_a_terminal(site: Site, tmp_path: Path) -> None:
    site.submit(production())
    site.up(base=str(tmp_path))
    site.finish("prod/1/1/1")
    folder = tmp_path / "attempts" / "1"
    folder.mkdir(parents=True)
    (folder / "1.out").write_bytes(b"\x1b[2Jgone\n")

    assert "\\x1b[2Jgone" in on_a_terminal("logs", "prod/1/1/1")[1]


def count_of(path: Path, word: str) -> Callable[[], int]:
    """How often a word stands in a file."""
    return lambda: path.read_text().count(word)


def test_watch_redraws_only_after_a_change(
    site: Site, d0ctl: Type, home: Home, tmp_path: Path
) -> None:
    site.submit(production())
    screen = tmp_path / "screen"
    drawn = count_of(screen, "A production")
    with screen.open("w") as output:
        watching = subprocess.Popen([PROGRAM, "status", "prod", "--watch"], stdout=output)
    try:
        wait_until(lambda: drawn() == 1)
        d0ctl("hold", "prod")
        wait_until(lambda: drawn() == 2)
        d0ctl("status")
        d0ctl("release", "prod")
        wait_until(lambda: drawn() == 3)
    finally:
        watching.terminate()
        watching.wait(PATIENCE_S)
    assert document(d0ctl("status", "prod", "--json").stdout)["held"] is None


END = "\x04"
"""The key that ends the input."""


@pytest.mark.parametrize(
    ("words", "shown", "said"),
    [(("wait", "prod"), "run prod`\r\n", "run prod`\r\n\r\n"),
     (("kill", "prod"), "do that?", "[y/N] \r\nnothing was done\r\n"),
     (("init",), "which pattern", "]: \r\nnothing was done\r\n")],
    ids=["wait", "kill", "init"],
)  # fmt: skip
def test_an_interrupted_command_ends_its_line(
    site: Site, words: tuple[str, ...], shown: str, said: str
) -> None:
    site.submit(production())

    with live(*words, columns=200) as screen:
        screen.expect(shown)
        screen.process.send_signal(signal.SIGINT)

        assert screen.end() == 130
        assert screen.raw.endswith(said)


@pytest.mark.parametrize(("words", "shown"), [(("kill", "prod"), "do that?"), (("init",), "]:")])
def test_no_answer_ends_a_question_with_the_same_words(
    site: Site, words: tuple[str, ...], shown: str
) -> None:
    site.submit(production())

    with live(*words) as screen:
        screen.expect(shown)
        screen.press(END)

        assert screen.end() == 1
        assert screen.raw.endswith(" \r\nnothing was done\r\n")


def test_a_plan_that_was_confirmed_is_not_printed_again(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("defaults: {nice: 1}\n")

    code, seen = on_a_terminal("site", "apply", str(file), answer="y\n")

    assert code == 0
    assert seen.count("+ setting defaults: nice 1") == 1
    assert seen.rstrip().endswith("1 added")
