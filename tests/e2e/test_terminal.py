"""What a package prints is shown, and does nothing to anyone's terminal."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.terminal import terminal
from tests.support.site import Site

EVIL = (
    rb"\033]0;OWNED\007\033[2J\033[31;5mblink\033[0m\033[?1049h\033[6n\033Pq\033\\"
    rb"\302\2332J\2332J\r\bback\016shift\033]52;c;b3duZWQ=\007\342\200\256rtl\177"
).decode("latin-1")

JOB = f"""\
job: evil
title: "title \\e]0;OWNED\\a \\e[2J"
stages:
  - lines:
      - run: |
          printf '{EVIL} out\\n'
          printf 'before\\n{EVIL} last words\\n' >&2
          exit 3
"""

OURS = re.compile(r"\x1b\[(?:[0-9];?)*m|\x1b\[[KH]|\x1b\[[0-9]*[AJ]")
"""The sequences that d0ctl itself may send: colours, and what redraws a line."""

FORBIDDEN = [
    *("\x1b]", "\x1bP", "\x1b[2J", "\x1b[?", "\x1b[6n", "\x1b[31;5m"),
    *("\x07", "\x08", "\x0e", "\x7f", "\x9b", "\u202e", "OWNED\x07"),
]


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with a failed package that has printed what terminals obey."""
    site = Site(tmp_path_factory.mktemp("evil") / "site")
    try:
        done = site.d0ctl("run", site.write(JOB))
        assert done.code == 1, done
        yield site
    finally:
        site.close()


VERBS = [
    *(("status",), ("status", "evil"), ("status", "evil/1"), ("status", "evil/1/1/1")),
    *(("history", "evil"), ("history", "evil/1/1/1")),
    *(("why", "evil"), ("why", "evil/1/1/1"), ("logs", "evil/1/1/1")),
]


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_no_escape_of_a_package_reaches_a_terminal(evil: Site, words: tuple[str, ...]) -> None:
    with terminal(evil, *words) as screen:
        assert screen.end() == 0
        shown = screen.text

    assert [one for one in FORBIDDEN if one in shown] == []
    rest = OURS.sub("", shown).replace("\r\n", "\n").replace("\n", "")
    assert rest.isprintable(), repr(rest)
    if words[-1] == "evil/1/1/1" and words[0] != "history":
        assert "last words" in shown


def test_logs_into_a_pipe_are_byte_for_byte(evil: Site) -> None:
    answer = evil.d0ctl_bytes("logs", "evil/1/1/1").stdout

    assert b"\x1b]0;OWNED\x07" in answer
    assert b"\xe2\x80\xaertl\x7f" in answer


def test_documents_hold_no_control_characters(evil: Site) -> None:
    for words in (("status", "evil/1/1/1"), ("history", "evil"), ("why", "evil/1/1/1")):
        text = evil.ok(*words, "--json")
        assert text.replace("\n", "").isprintable()


def test_progress_of_run_shows_a_failure_harmlessly(evil: Site, tmp_path: Path) -> None:
    with terminal(evil, "run", "evil") as screen:
        assert screen.end() == 1
        shown = screen.text

    assert [one for one in FORBIDDEN if one in shown] == []
