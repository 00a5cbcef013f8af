"""The work that every schedule disturbs: its job, what must come of it, and its journal."""

from collections import Counter
from pathlib import Path

JOB = "storm"
STEP = Path(__file__).with_name("step.sh")

BAD = f"{JOB}/1/6/1"
"""The package that fails for good; its line is dropped by hand, and the merge goes on."""

BAD_LINE = f"{JOB}/1/6"

PACKAGES = 11

RULE = "{tries: 60, delay: 0.2s, elsewhere: no}"

TEXT = """\
job: {job}
policy:
  exit-code: {rule}
  signal: {rule}
  stage-in: {rule}
  stage-out: {rule}
  missing-input: {rule}
  missing-output: {rule}
  disk-full: {rule}
  launch-failed: {rule}
  platform-failure: {restarts}
  lost: {restarts}
  hook: {rule}
  never: {{tries: no}}
stages:
  - name: chain
    lines:
      - for: {{n: [1, 2, 3]}}
        packages:
          - run: {good} 0.1 {{n}}.raw
            outputs: "{{n}}.raw"
          - binaries:
              - run: {good} 0.05 {{n}}.hit {{inputs}}
                inputs: "{{n}}.raw"
                outputs: "{{n}}.hit"
              - run: {good} 0.05 {{n}}.reco {{inputs}}
                inputs: "{{n}}.hit"
                outputs: "{{n}}.reco"
      - for: {{n: [4, 5]}}
        run: {flaky} 0.1 {{n}}.reco
        outputs: "{{n}}.reco"
      - packages:
          - run: {bad} 0.1 6.reco
            outputs: 6.reco
            policy: {{exit-code: {{tries: 0}}}}
  - name: merge
    lines:
      - run: {good} 0.1 all {{inputs}}
        inputs: {{from: chain}}
        outputs: [{{file: all, result: true}}]
      - run: {good} 0.05 end {{inputs}}
        inputs: all
        outputs: end
"""


def text(journal: Path, locks: Path) -> str:
    """The job file, for a journal and a folder of locks."""
    deeds = {deed: f"bash {STEP} {deed} {journal} {locks}" for deed in ("good", "flaky", "bad")}
    return TEXT.format(job=JOB, rule=RULE, restarts="{tries: 60}", **deeds)


class Journal:
    """What the binaries noted: `start`, `end`, `fail` and `double`, package, attempt, output."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def notes(self, word: str) -> list[tuple[str, int, str]]:
        """Package, attempt and output of the lines that begin with a word."""
        lines = (line.split() for line in self.path.read_text().splitlines())
        return [(one[1], int(one[2]), one[3]) for one in lines if one[0] == word]

    def length(self) -> int:
        """How many lines there are."""
        return self.path.read_bytes().count(b"\n")

    def runs(self) -> Counter[tuple[str, int, str]]:
        """How often each attempt has run each binary."""
        return Counter(self.notes("start"))
