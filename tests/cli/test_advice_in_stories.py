"""What people do with jobs in any order: no command that is advised then is refused."""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from d0ctl.store.nodes import placement
from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.cli.test_advice import drive, refusal
from tests.support.rows import read
from tests.support.site import Site

STORIES = int(os.environ.get("EXAMPLES", "4"))
SEEDS = sorted({*range(STORIES), 21, 32, 59})

MADE = """\
job: made
max-failures: {failures}
stages:
  - {{name: gen, lines: [{{for: {{n: {seeds}}}, run: "{gen}", outputs: "g{{n}}"}}]}}
  - name: sim
    lines:
      - {{for: {{n: {seeds}}}, run: sim, memory: 300MB, inputs: "g{{n}}", outputs: "s{{n}}"}}
  - name: all
    require: {require}
    lines: [{{for: {{e: {merges}}}, run: all, inputs: {{from: sim}}, outputs: "all{{e}}"}}]
  - {{name: plot, lines: [{{run: plot, inputs: {{from: all}}, outputs: plot}}]}}
"""
READS = """\
job: reads
stages:
  - {lines: [{run: count, inputs: {from: made/sim}, outputs: n}]}
  - {lines: [{run: page, inputs: n, outputs: page}]}
"""

FAILURES: tuple[dict[str, Any], ...] = (
    {},
    {"reason": "out-of-memory", "rss": 403_000_000},
    {"reason": "wall-time"},
    {"reason": "missing-output"},
    {"reason": "stage-in"},
)

VERBS = """\
kill PART; kill-line LINE --drop-outputs; kill-line LINE --drop-outputs; restore-line LINE;
restore-line LINE --again; retry PART; retry PART --memory 1GB; acknowledge PART; hold PART;
release PART; pause PART; resume PART; priority PART 60; limit JOB --max-running 1; finish PART;
set-status PART unscheduled; edit PART --cpus 2; update made; update made --again; update reads;
update made --accept; update reads --again; update made --previous; archive JOB; remove JOB
""".replace("\n", " ").split("; ")

ASKED = "why PART; why LINE; why JOB; status JOB; status LINE; history JOB; eta JOB"
WRONG = (
    "kill PART; retry PART; release PART; resume PART; restore-line LINE; submit FILE; remove JOB"
)
PROSE = ("d0ctl since", "d0ctl left")


class Story:
    """A person, the nodes and a daemon, by chance."""

    def __init__(self, site: Site, d0ctl: Type, folder: Path, seed: int) -> None:
        self.site, self.d0ctl, self.chance, self.merges = site, d0ctl, Random(seed), 1 + seed % 2
        self.file, self.told, self.seeds = folder / "made.yaml", list[str](), 3
        drive(site)
        site.up()
        (reads := folder / "reads.yaml").write_text(READS)
        self.write()
        for path in (self.file, reads):
            self.type(f"submit {path}")

    def write(self) -> None:
        """Change the job file."""
        pick = self.chance.choice
        self.seeds += self.merges > 1 and pick((0, 1)) and self.seeds < 5
        self.file.write_text(MADE.format(
            failures=pick((2, 20)), gen=pick(("gen", "gen -v")), require=pick(("50%", "100%")),
            seeds=[*range(1, self.seeds + 1)], merges=[*range(self.merges)],
        ))  # fmt: skip

    def words(self, form: str) -> str:
        """A command on a part of a job."""
        path = self.chance.choice([*self.site.phases()] or ["made/1/1/1"])
        job, stage, line, _ = path.split("/")
        part = self.chance.choice((path, path, f"{job}/{stage}/{line}", f"{job}/{stage}", job))
        return (form.replace("PART", part).replace("LINE", f"{job}/{stage}/{line}")
                .replace("JOB", job).replace("FILE", str(self.file)))  # fmt: skip

    def type(self, command: str) -> None:
        """Type a command, which may be refused."""
        self.told.append(f"{command}: {self.d0ctl(*command.split()).exit_code}")

    def run(self) -> None:
        """Let a package begin and perhaps end, if its job is not stopped."""
        stopped = {name for name, *why in read(self.site.store, "job", "name", "hold", "pause")
                   if any(why)}  # fmt: skip
        ready = [path for path, phase in self.site.phases().items()
                 if phase == "ready" and path.partition("/")[0] not in stopped]  # fmt: skip
        if ready:
            path, number = self.chance.choice(ready), self.chance.random()
            self.told.append(f"{path} runs: {number}")
            self.site.launch(path)
            if number < 0.7:
                self.site.end(path)
            elif number < 0.95:
                failure = {"reason": "exit-code", "exit_code": 3, **self.chance.choice(FAILURES)}
                self.site.end(path, "failed", detail="it failed", binary=1, **failure)
        with self.site.store.writing():
            placement.advance(self.site.store, now=1e9)

    def refused(self) -> list[str]:
        """What is advised now, and refused."""
        asked = [self.words(form) for form in ASKED.split("; ")]
        wrong = [f"{self.words(form)} --dry-run" for form in WRONG.split("; ")]
        asked += [words for words in wrong if self.d0ctl(*words.split()).exit_code]
        advised = {text: words for words in asked for text in suggested(self.d0ctl, *words.split())}
        advised = {text: words for text, words in advised.items() if not text.startswith(PROSE)}
        return [f"{words}: {why}" for text, words in advised.items()
                if (why := refusal(self.d0ctl, text)) and not self.leads_on(text, why)]  # fmt: skip

    def leads_on(self, text: str, why: str) -> bool:
        """Whether an update with a changed file is refused, but not what its refusal advises; or
        what is advised for later, or has to wait for a package.
        """
        if f"once it has ended: {text}\n" in why:
            return True
        hint = "d0ctl update made --again"
        is_update = text.startswith("d0ctl update made") and "--again" not in text
        if is_update and "\nwait until " in why:
            return True
        return is_update and f"{hint}   #" in why and refusal(self.d0ctl, hint) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_no_command_that_is_advised_is_refused(
    site: Site, d0ctl: Type, tmp_path: Path, seed: int
) -> None:
    story = Story(site, d0ctl, tmp_path, seed)
    for number in range(24):
        story.run()
        if number % 3 == 2:
            story.write()
            story.type(story.words(story.chance.choice(VERBS)))
        if number % 12 == 11:
            assert story.refused() == [], "\n".join(story.told)


def test_no_refused_retry_is_advised_after_an_update_that_may_give_no_more_memory(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{lines: [{run: a, memory: 300MB}, {run: b}]}]\n"
    (file := tmp_path / "mc.yaml").write_text(text)
    assert d0ctl("submit", str(file)).exit_code == 0
    site.fail("mc/1/1/1", reason="out-of-memory", rss=403_000_000)
    file.write_text(text.replace("run: b", "run: c"))

    said = d0ctl("why", "mc/1/1/1").stdout

    assert "as it was submitted: `d0ctl update mc`\n" in said and "retry 'mc:failed'" not in said
    assert d0ctl("update", "mc").exit_code == 0
    assert d0ctl("retry", "mc:failed").exit_code == 4
