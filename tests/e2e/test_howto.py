"""The answers of docs/howto.md, typed in their order as a reader would."""

import re
from pathlib import Path

from tests.e2e.test_tutorial import type_it
from tests.support.site import Site

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "howto.md").read_text()

FAILS = "d0ctl run toy.yaml"
"""The command that ends with 1, because a package fails."""


def test_all_answers_work_in_their_order(newcomer: Site) -> None:
    for kind, names in {
        "sh": ["sim.sh"],
        "yaml": ["toy.yaml", "table.yaml", "each.yaml", "retries.yaml", "own.yaml"],
    }.items():
        texts = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        for text, name in zip(texts, names, strict=True):
            newcomer.write(text, name)
    commands = re.findall(r"^    \$ (.*)$", PAGE, re.MULTILINE)

    typed = [(command, type_it(newcomer, command)) for command in commands]

    assert len(typed) > 40
    assert [f"{command}: {done}" for command, done in typed if done.code and command != FAILS] == []
    answers = dict(typed)
    assert answers[FAILS].code == 1
    assert "no cut for seed 3 in cuts.txt" in answers["d0ctl logs toy --failed"].out
    assert "no cut for seed 3 in cuts.txt" in answers["d0ctl logs toy/1/3/1"].out
    assert "toy/1/3/1" in answers["d0ctl why toy/2"].out
    cuts = {1: 50, 2: 50, 3: 60, 4: 55}
    merged = (newcomer.jobs / "out" / "all.txt").read_text().splitlines()
    assert len(merged) == sum(100 - cut for cut in cuts.values())
    assert (newcomer.home.root / "results" / "own" / "largest.txt").read_text() == "5\n"
    again = (newcomer.home.root / "results" / "toy2" / "all.txt").read_text().splitlines()
    assert "3 of 3 packages done" in answers["d0ctl status each/count"].out
    assert "4 packages out of date" in answers["d0ctl update toy"].out
    assert len(again) == sum(201 - cuts[seed] for seed in (1, 2))


def test_there_are_enough_questions() -> None:
    assert len(re.findall(r"^### \.\.\. .*\?$", PAGE, re.MULTILINE)) >= 30


def test_no_job_has_the_name_of_one_of_the_tutorial() -> None:
    def jobs(page: str) -> set[str]:
        return set(re.findall(r"(?:^job: |--as )(\w+)", page, re.MULTILINE))

    assert not jobs(PAGE) & jobs((DOCS / "tutorial.md").read_text())
