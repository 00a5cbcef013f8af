"""Plant each bug in a copy of the sources, run its tests, and print which were caught."""

import argparse
import os
import re
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

HANGS = "hangs"


class Copy:
    """A copy of all files under version control, in which bugs are planted one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
        for name in filter(None, names.stdout.decode().split("\0")):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)

    def is_caught(self, mutant: Mutant) -> bool:
        """Whether a test fails with the bug in place that passes without it.

        Raises ValueError for a bug that does not fit the sources, or a test that fails anyway.
        """
        path = self.folder / mutant.file
        sound = path.read_text()
        if sound.count(mutant.old) != 1:
            raise ValueError(f"{mutant.file} has {mutant.old!r} {sound.count(mutant.old)} times")
        path.write_text(sound.replace(mutant.old, mutant.new))
        try:
            failed = self._failure(mutant.tests)
        finally:
            path.write_text(sound)
        if failed is None or failed == HANGS:
            return failed == HANGS
        if self._failure((failed,)):
            raise ValueError(f"{failed} fails without a bug")
        return True

    def _failure(self, tests: tuple[str, ...]) -> str | None:
        """The first test that fails, or the file of it that can't be read; None where none does."""
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
            return HANGS
        if done.returncode == 0:
            return None
        found = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
        if not found:
            raise ValueError(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}")
        return str(found[-1])


def judged_in(output: str) -> set[str]:
    """The bugs that the output of an earlier run calls caught or survived."""
    return set(re.findall(r"^(?:caught|SURVIVED) +(.*)$", output, re.MULTILINE))


def main() -> None:
    """Print a line for each bug, and the score by folder."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="Only bugs whose file or name has this in it.")
    parser.add_argument("--seen", type=Path, help="Not the bugs that this earlier output judged.")
    options = parser.parse_args()
    seen = judged_in(options.seen.read_text()) if options.seen else set()
    names = {one: f"{one.file}: {one.name}" for one in PLANTED}
    chosen = [one for one in PLANTED if options.only in names[one] and names[one] not in seen]
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
            print(f"{verdict:<9} {names[mutant]}", flush=True)
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
