"""The work that every schedule disturbs: its job, what must come of it, and its journal."""

from collections import Counter
from pathlib import Path

JOB = "storm"
STEP = Path(__file__).with_name("step.sh")

BAD = f"{JOB}/1/6/1"
"""The package that fails for good; its line is dropped by hand, and the merge goes on."""

BAD_LINE = f"{JOB}/1/6"

PACKAGES = 12

BASE = "base"
"""A file that lies beside the job file, and is brought to the nodes."""

STORED = "stored"
"""A folder of the world outside, to which one output goes."""

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
          - run: {good} 0.1 {{n}}.raw {{inputs}}
            inputs: {base}
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
        outputs: [{{file: end, locator: {stored}/end, result: true}}]
      - early-start: yes
        run: {early} 0 gathered-early
        inputs: {{from: chain}}
        outputs: gathered-early
"""

DEEDS = ("good", "flaky", "bad", "early")


def write(folder: Path) -> Path:
    """Write the job file and what lies beside it, for a journal and locks in the same folder."""
    deeds = {deed: f"bash {STEP} {deed} {folder}/journal {folder}/locks" for deed in DEEDS}
    folder.joinpath(BASE).write_text("base\n")
    text = TEXT.format(
        job=JOB, rule=RULE, restarts="{tries: 60}", base=BASE, stored=folder / STORED, **deeds
    )
    path = folder / "storm.yaml"
    path.write_text(text)
    return path


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

    def held(self) -> str:
        """Who had the lock when a binary found it taken."""
        path = self.path.with_name(f"{self.path.name}.held")
        return path.read_text() if path.exists() else ""

    def runs(self) -> Counter[tuple[str, int, str]]:
        """How often each attempt has run each binary."""
        return Counter(self.notes("start"))
