"""Packages that can't run as a job file has them, because they need files of dropped lines."""

from collections.abc import Sequence, Set

from d0ctl.jobfile.spec import JobSpec
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.store.jobs.correction.pairing.new_lines import NewLine, NewStage
from d0ctl.store.views.job_files.forecast import needed

BEGUN = frozenset({Status.LAUNCHED, Status.SUCCESSFUL})


def mark(stages: Sequence[NewStage], spec: JobSpec, elsewhere: Set[str]) -> None:
    """Mark in its line the first package that is dropped for lack of inputs: it has not begun, and
    needs files of dropped packages, or of such ones; those after it are dropped with it.

    If that is the first package of a line that an earlier job file lacked, the line stays dropped.
    Only lines that come back are dropped for files from `elsewhere`, of other jobs.
    """
    gone = {name for stage in stages for line in stage.lines for name in _dropped(line)}
    if not gone and not elsewhere:
        return
    pairs = [(line, of) for stage, each in zip(stages, spec.stages, strict=True)
             for _, line, of in stage.pairs(each) if not line.stays_dropped]  # fmt: skip
    is_more = True
    while is_more:
        is_more = False
        for line, of in pairs:
            for number, package in enumerate(of.packages):
                if line.is_lost(number):
                    break
                lacked = gone | elsewhere if line.is_back else gone
                if _may_start(line, number) and needed(package, lacked) is not None:
                    line.lost, is_more = number, True
                    gone.update(name for each in line.definitions[number:] for name in each.makes)
    for line, _ in pairs:
        if line.is_lost(0) and line.old is not None and line.is_back:
            line.old.is_left = False


def _dropped(line: NewLine) -> set[str]:
    """Return the files of its packages that stay dropped."""
    if line.is_back:
        return set()
    there = map(line.standing, range(len(line.definitions)))
    return {name for package, of in zip(there, line.definitions, strict=True)
            if line.stays_dropped or (package and package.phase == Phase.DROPPED)
            for name in of.makes}  # fmt: skip


def _may_start(line: NewLine, number: int) -> bool:
    package = line.standing(number)
    if package is None:
        return True
    is_out = package.phase == Phase.DROPPED and not line.is_back
    return not is_out and STATUS_OF[package.phase] not in BEGUN
