"""Attack a daemon in all ways and print what it cost: `python -m tests.hostile`, `make hostile`."""

import signal
import tempfile
from pathlib import Path

from tests.hostile.relay import ENDLESS
from tests.hostile.trial import ATTACKS, Field, Figures, battlefield

HEAD = (
    "attack", "package", "its attempt", "home before", "at most", "after", "peak memory",
    "database before", "after",
)  # fmt: skip
ROW = "{:9} {:13} {:22} {:>11} {:>9} {:>9} {:>11} {:>15} {:>9}  {}"


def show(figures: Figures, worst: str) -> None:
    """Print one row of the table."""
    sizes = (
        figures.disk_before, figures.disk_most, figures.disk, figures.peak,
        figures.database_before, figures.database,
    )  # fmt: skip
    cells = [f"{size / 1e6:,.1f} MB" for size in sizes]
    print(ROW.format(figures.attack, figures.phase, figures.outcome, *cells, worst), flush=True)


def longest_answer(field: Field, job: str) -> str:
    """What the reading verbs of a job did."""
    found = [(len(done.out) + len(done.err), words, done) for words, done in field.verbs(job)]
    wrong = [words for _, words, done in found if "Traceback" in done.err]
    size, words, _ = max(found, key=lambda entry: entry[0])
    return f"TRACEBACK {wrong}" if wrong else f"{size:,} B ({words})"


def main() -> None:
    """Make all attacks, one after the other, on one daemon."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave no sshd behind
    print(ROW.format(*HEAD, "longest answer"))
    with tempfile.TemporaryDirectory(prefix="d0ctl-hostile-") as folder:
        with battlefield(Path(folder) / "site") as field:
            for attack in ATTACKS:
                show(field.trial(attack), longest_answer(field, attack))
            show(field.endless(), longest_answer(field, ENDLESS))


if __name__ == "__main__":
    main()
