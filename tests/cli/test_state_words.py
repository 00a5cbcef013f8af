"""The words and names on screens: a finished package is successful on each; selectors also take its
phase, `done`."""

import re

import pytest

from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.site import Site

SCREENS = [
    "status prod", "status prod/1", "status prod/1/1", "status prod/1/1/1", "status prod/1/1/2",
    "status prod/2/1/1", "status prod/1/*", "why prod/1/1/1", "why prod/1/1",
    "why prod:sim-1", "history prod/1/1/1", "kill prod/1/1/1", "hold prod/1/1",
    "kill-line prod/1/1 --drop-outputs --dry-run", "set-status prod/1/1/1 unscheduled --dry-run",
    "retry prod/1/1/1 --dry-run", "results prod", "report timeline prod",
]  # fmt: skip


@pytest.mark.parametrize("words", SCREENS)
def test_no_screen_calls_a_package_done(site: Site, d0ctl: Type, words: str) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")

    result = d0ctl(*words.split())

    text = result.stdout + result.stderr
    assert text
    counted = re.sub(r"of \d+ packages? done", "", text)
    assert "done" not in re.findall(r"[\w-]+", counted)


def test_selectors_take_both_words(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")

    def paths(selector: str) -> list[str]:
        answer = document(d0ctl("status", selector, "--json").stdout)
        return [package["path"] for package in answer["packages"]]

    assert paths("prod/*/*/*:successful") == paths("prod/*/*/*:done") == ["prod/1/1/1"]


def test_json_has_the_phase_as_well(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")

    answer = document(d0ctl("status", "prod/1/1/1", "--json").stdout)

    assert (answer["status"], answer["phase"]) == ("successful", "done")


def test_a_part_that_has_begun_has_the_state_of_its_package_nearest_to_running(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))

    def state(path: str) -> tuple[str, str]:
        """The word on the screen, and the status for scripts."""
        answer = document(d0ctl("status", path, "--json").stdout)
        screen = d0ctl("status", path).stdout
        return re.findall(r"^. ([\w-]+) ·", screen, re.MULTILINE)[0], answer["status"]

    fresh = state("prod/1")
    site.finish("prod/1/1/1")
    begun = [state(path) for path in ("prod/1", "prod/1/1", "prod/1/2")]
    d0ctl("hold", "prod/1")
    held = state("prod/1")

    assert fresh == ("submitted", "submitted")
    assert begun == [("ready", "submitted"), ("ready", "submitted"), ("submitted", "submitted")]
    assert held == ("held", "submitted")


def test_the_lines_beyond_the_first_ones_are_listed_with_their_names(
    site: Site, d0ctl: Type
) -> None:
    names = [f"mass={number}" for number in range(100, 150)]
    site.submit(job(("sim", [line(package(), name=name) for name in names])))

    first = d0ctl("status", "prod/1").stdout
    more = re.search(r"and 10 more: d0ctl (status prod/1/41-50)$", first, re.MULTILINE)
    assert more is not None, first
    rest = d0ctl(*more[1].split()).stdout

    assert [name for name in names if name in first] == names[:40]
    assert re.findall(r"prod/1/\d+/1 +(mass=\d+) ", rest) == names[40:]
