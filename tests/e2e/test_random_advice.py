"""Random commands of a researcher: each command that d0ctl advises then would be accepted."""

import random
import re
import shlex
from collections.abc import Callable, Iterator

import pytest

from tests.support.examples import first
from tests.support.site import Site

READING = frozenset({"eta", "history", "logs", "report", "results", "status", "why"})
CHANGING = frozenset({
    "acknowledge", "edit", "finish", "hold", "kill", "kill-line", "pause", "release",
    "restore-line", "resume", "retry", "set-status", "update",
})  # fmt: skip
"""The verbs that are typed if they are advised: the latter with --dry-run."""

IN_QUOTES = re.compile(r"`(d0ctl [^`]+)`", re.DOTALL)
BY_ITSELF = re.compile(r"(?:: |^\s*|\$ )(d0ctl [a-z][^`]*)$")
LATER = re.compile(r"once (?:these have changed|that has ended|it has ended):")
"""Advice for a later time, which is not typed at once."""

PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|\.\.\.|--follow")
NOTHING = re.compile(r"nothing to change|^nothing to|^no ")


def advised(text: str) -> Iterator[list[str]]:
    """Yield the words of the commands in a text, without d0ctl."""
    lines = [line for line in text.splitlines() if not LATER.search(line)]
    commands = [" ".join(found.split()) for found in IN_QUOTES.findall("\n".join(lines))]
    for line in lines:
        if found := BY_ITSELF.search(line):
            commands += re.split(r"\s{2,}", re.sub(r"\s#.*", "", found[1]).strip())
    for command in dict.fromkeys(commands):
        words = shlex.split(command)[1:]
        if words and words[0] in READING | CHANGING and not PLACEHOLDER.search(command):
            yield words


class Researcher:
    """A user who edits scripts and a job file, and types commands, by chance."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site, self.chance = site, random.Random(seed)
        self.typed: list[str] = []
        self.seeds, self.energy, self.version = 3, 10, 0
        self.failing = {2}
        self.write()

    def write(self) -> None:
        """Write the script and the job file as they are meant now."""
        script = self.site.jobs / "gen.sh"
        cases = "|".join(map(str, sorted(self.failing))) or "none"
        script.write_text(f"#!/bin/sh\ncase $1 in {cases}) exit 3;; esac\n"
                          f"echo {self.version} $1 $2 > g$1.txt\n")  # fmt: skip
        script.chmod(0o755)
        loop = f"      - for: {{n: {{range: [1, {self.seeds}]}}}}\n        "
        self.site.write(
            f"job: prod\nparameters: {{energy: {self.energy}}}\nstages:\n"
            f"  - name: gen\n    lines:\n{loop}run: ./gen.sh {{n}} {{energy}}\n"
            "        inputs: gen.sh\n        outputs: g{n}.txt\n"
            f"  - name: sel\n    lines:\n{loop}run: sort g{{n}}.txt > s{{n}}.txt\n"
            "        inputs: g{n}.txt\n        outputs: s{n}.txt\n"
            "  - name: merge\n    lines:\n      - run: cat {inputs} > all.txt\n"
            "        inputs: {from: sel}\n        outputs: all.txt\n"
        )

    def type(self, *words: str) -> None:
        """Type a command, which may be refused, and check what it advises."""
        done = self.site.d0ctl(*words)
        self.typed.append(f"d0ctl {shlex.join(words)} -> {done.code}")
        self.check(" ".join(words), done.out + done.err)

    def look(self) -> None:
        """Look at everything, once nothing runs, and check what is advised."""
        self.site.d0ctl("wait", "prod", "--timeout", "20s")
        for words in (["status"], ["status", "prod"], ["why", "prod"], ["report", "failures"],
                      ["eta", "prod"], ["results", "prod"], ["update", "prod", "--dry-run"],
                      ["why", self.package()], ["why", self.line()], ["why", "prod:all.txt"],
                      ["why", f"prod:s{self.chance.randint(1, self.seeds)}.txt"]):  # fmt: skip
            done = self.site.d0ctl(*words)
            self.check(" ".join(words), done.out + done.err)

    def check(self, origin: str, text: str) -> None:
        """Check that what a text advises would be accepted, and change something."""
        for words in advised(text):
            is_change = words[0] in CHANGING
            done = self.site.d0ctl(*words, *["--dry-run"] * is_change)
            if done.code:  # what has just begun to run may be in its way
                self.site.d0ctl("wait", "prod", "--timeout", "20s")
                done = self.site.d0ctl(*words, *["--dry-run"] * is_change)
            story = "\n".join([*self.typed, f"{origin}:", text, shlex.join(words), str(done)])
            assert done.code in ({0} if is_change else {0, 1}), story
            assert not (is_change and NOTHING.search(done.out)), story

    def package(self) -> str:
        """One of the packages."""
        return self.chance.choice(sorted(self.site.phases()))

    def line(self) -> str:
        """The line of one of them."""
        return self.package().rpartition("/")[0]

    def part(self) -> str:
        """A part of the job, or all of it."""
        return self.chance.choice(["prod", "prod:failed", self.line(), self.package()])

    def edit(self) -> None:
        """Change the script or the job file."""
        what = self.chance.choice(["script", "cause", "mended", "lines", "energy"])
        if what == "script":
            self.version += 1
        elif what in ("cause", "mended"):
            self.failing = {self.chance.randint(1, 4)} if what == "cause" else set()
        elif what == "lines":
            self.seeds = self.chance.choice([2, 3, 4])
        else:
            self.energy += 1
        self.write()
        self.typed.append(f"edit: {what}")

    def step(self) -> None:
        """Do something by chance, and look."""
        again = self.chance.choice([[], ["--again"], ["--accept"]])
        steps: list[Callable[[], None]] = [
            self.edit, self.edit,
            lambda: self.type("retry", self.part(), "--yes"),
            lambda: self.type("retry", "prod:canceled", "--yes"),
            lambda: self.type("retry", self.part(), "--set", "energy=7", "--yes"),
            lambda: self.type("update", "prod", *again, "--yes"),
            lambda: self.type("update", "prod", "--set", "energy=5", *again, "--yes"),
            lambda: self.type("update", "prod", "--previous", "--yes"),
            lambda: self.type("kill-line", self.line(), "--drop-outputs", "--yes"),
            lambda: self.type("restore-line", "prod/*/*", "--again", "--yes"),
            lambda: self.type("set-status", self.part(), "unscheduled", "--yes"),
            lambda: self.type("kill", self.part(), "--yes"),
            lambda: self.type("acknowledge", "prod:failed", "--yes"),
            lambda: self.type("hold", "prod", "--yes"),
            lambda: self.type("release", "prod", "--yes"),
        ]  # fmt: skip
        self.chance.choice(steps)()
        self.look()


@pytest.mark.parametrize("seed", first(1, range(1, 25)))
def test_what_is_advised_after_random_commands_would_be_accepted(
    real_site: Site, seed: int
) -> None:
    real_site.start_daemon()
    researcher = Researcher(real_site, seed)
    researcher.type("submit", "job.yaml")
    researcher.look()
    for _ in range(10):
        researcher.step()
    assert real_site.faults() == {}
