"""The recording of a first production: a valid asciicast that shows what d0ctl prints today."""

import json
import re
import xml.etree.ElementTree as ET

from tests.screens import cast
from tests.support.site import Site

TEXT = cast.FILE.read_text()
VARYING = re.compile(
    r"(\d+ \w{3} )?\d\d:\d\d(:\d\d)?"  # moments
    r"|\d[\d.,]*( \w*s| min( \d+ s)?| h)\b"  # durations
    r"|\S+@\S+"  # the person and the machine
    r"|/\S+"  # paths
    r"|[█▒─]+"
)


def lasting(lines: list[str]) -> set[str]:
    """What the same commands print at any time for all users, without progress.

    Nor what is said of a changed file, which is broken where its path ends.
    """
    return {
        " ".join(VARYING.sub("", line).split())
        for line in lines
        if not re.search(
            r"\d/\d done,|^results in|  emmy  |has changed since|keeps their results", line
        )
    }


def test_the_recording_is_an_asciicast_of_version_2() -> None:
    header, *events = map(json.loads, TEXT.splitlines())

    assert (header["version"], header["width"], header["height"]) == (2, cast.COLUMNS, cast.ROWS)
    assert {kind for _, kind, _ in events} == {"o"}
    times = [at for at, _, _ in events]
    assert times == sorted(times) and 10 < times[-1] < 60


def test_the_picture_is_made_of_the_recording() -> None:
    picture = cast.FILE.with_suffix(".svg").read_text()

    ET.fromstring(picture)
    assert picture == cast.svg(cast.read(TEXT))


def test_the_recording_shows_what_the_commands_print_today(newcomer: Site) -> None:
    environment = newcomer.environment | {
        "PATH": f"{cast.PROGRAMS}:{newcomer.environment['PATH']}", "TERM": "xterm-256color",
    }  # fmt: skip

    today = cast.record(newcomer.jobs, environment)

    shown = lasting(cast.lines_of(cast.read(TEXT)))
    assert len(shown) > 20
    assert shown - lasting(cast.lines_of(today)) == set()
