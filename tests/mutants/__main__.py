"""Plant each bug in a copy of the sources, run its tests, and print which were caught."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.planted import PLANTED, Mutant

ROOT = Path(__file__).resolve().parents[2]

SOURCES = ("wrapper", "tui", "sql")
"""The source roots below the top, from which the tests import."""

TIMEOUT_S = 600
"""Tests that take longer hang, so the bug was noticed."""


class Copy:
    """A copy of all files under version control, in which bugs are planted one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
        for name in filter(None, names.stdout.decode().split("\0")):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        self._sound: set[tuple[str, ...]] = set()

    def is_caught(self, mutant: Mutant) -> bool:
        """Whether a test fails with the bug in place, and none without it.

        Raises ValueError for a bug that does not fit the sources, or tests that fail anyway.
        """
        path = self.folder / mutant.file
        sound = path.read_text()
        if sound.count(mutant.old) != 1:
            raise ValueError(f"{mutant.file} has {mutant.old!r} {sound.count(mutant.old)} times")
        if mutant.tests not in self._sound:
            if self._fails(mutant.tests):
                raise ValueError(f"{' '.join(mutant.tests)} fail without a bug")
            self._sound.add(mutant.tests)
        path.write_text(sound.replace(mutant.old, mutant.new))
        try:
            return self._fails(mutant.tests)
        finally:
            path.write_text(sound)

    def _fails(self, tests: tuple[str, ...]) -> bool:
        roots = [self.folder, *(self.folder / name for name in SOURCES)]
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        environment = os.environ | {"PYTHONPATH": ":".join(map(str, roots))}
        try:
            done = subprocess.run(
                [*command, *tests], cwd=self.folder, env=environment, timeout=TIMEOUT_S,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (0, 1):
            raise ValueError(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}")
        return done.returncode == 1


def main() -> None:
    """Print a line for each bug, and the score by folder."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="Only bugs whose file or name has this in it.")
    options = parser.parse_args()
    chosen = [one for one in PLANTED if options.only in f"{one.file} {one.name}"]
    with tempfile.TemporaryDirectory(prefix="d0ctl-mutants-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(options.workers):
            copies.put(Copy(Path(folder, str(number))))

        def judge(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                verdict = "caught" if copy.is_caught(mutant) else "SURVIVED"
            except ValueError as error:
                verdict = f"stale: {error}"
            finally:
                copies.put(copy)
            print(f"{verdict:<9} {mutant.file}: {mutant.name}", flush=True)
            return verdict

        with ThreadPoolExecutor(options.workers) as pool:
            verdicts = Counter(verdict.partition(":")[0] for verdict in pool.map(judge, chosen))
    judged = verdicts["caught"] + verdicts["SURVIVED"]
    print(f"{verdicts['caught']} of {judged} caught"
          + (f" ({verdicts['caught'] / judged:.0%})" if judged else ""))  # fmt: skip
    if verdicts["stale"]:
        sys.exit(f"{verdicts['stale']} planted bugs do not fit the sources any more")


if __name__ == "__main__":
    main()
