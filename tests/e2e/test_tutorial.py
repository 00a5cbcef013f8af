"""The tutorial, typed in its order as a reader would."""

import re
from pathlib import Path

from tests.e2e.terminal import in_shell, terminal
from tests.support.site import Site
from tests.support.site.commands import Done

TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()

FAILS = "d0ctl run mc.yaml"
"""The command that ends with 1, because a package fails."""


def type_it(site: Site, command: str) -> Done:
    """Type one command in the reader's folder; in the dashboard press keys of the tutorial."""
    if command == "d0ctl tui":
        with terminal(site, "tui") as screen:
            for key, shown in {"\x1b[B": "mc2", "?": "one line down", "q": "mc2"}.items():
                screen.type(key)
                screen.expect(shown)
            screen.type("q")
            return Done(screen.end(), screen.text, "")
    return in_shell(site, command)


def test_all_commands_of_the_tutorial_do_what_it_says(newcomer: Site) -> None:
    for kind, names in {"sh": ["sim.sh"], "yaml": ["mc.yaml", "big.yaml"]}.items():
        texts = re.findall(rf"^```{kind}\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
        for text, name in zip(texts, names, strict=True):
            newcomer.write(text, name)
    commands = re.findall(r"^    \$ (.*)$", TUTORIAL, re.MULTILINE)

    typed = [(command, type_it(newcomer, command)) for command in commands]

    assert len(typed) > 14
    codes = {command: done.code for command, done in typed}
    assert {command for command, code in codes.items() if code} == {FAILS}, typed
    answers = dict(typed)
    assert "no cut for seed 3 in cuts.txt" in answers["d0ctl why mc/1/3/1"].out
    assert "no cut for seed 3 in cuts.txt" in answers["d0ctl logs mc/1/3/1"].out
    assert "1 blocked" in answers["d0ctl status mc"].out
    assert "2/3  part=3  10 files of `sim`" in answers["d0ctl validate big.yaml --list"].out
    groups = [newcomer.home.root / "results" / "big" / f"merged-{part}.txt" for part in (1, 2, 3)]
    lines = [len(path.read_text().splitlines()) for path in groups]
    assert lines == [sum(range(1, 21)), sum(range(21, 41)), sum(range(41, 51))]
    cuts = {1: 50, 2: 50, 3: 60, 4: 55}
    for job in ("mc", "mc2"):
        merged = (newcomer.home.root / "results" / job / "all.txt").read_text().splitlines()
        assert len(merged) == sum(
            (e * 37 + seed * 11) % 91 > cut for seed, cut in cuts.items() for e in range(1, 101)
        )
