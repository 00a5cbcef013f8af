"""When a line is worth dropping, and how a dropped one comes back."""

import shlex
from collections import Counter
from collections.abc import Sequence
from shlex import quote

from d0ctl.model import Phase
from d0ctl.select import parse
from d0ctl.select.condense import condense
from d0ctl.show.why.common import MOST, Explanation
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import restore_line
from d0ctl.store.views import browse, names, selection
from d0ctl.store.views.left_out import MOST_LINES, REMOVED
from d0ctl.units import count, listed, moment


def is_of_use(store: Store, package: str) -> bool:
    """Return whether other lines of its stage remain if the line of a package is dropped."""
    return _lines(store, package) > 1


def _lines(store: Store, path: str) -> int:
    """Return how many lines the stage of a path has."""
    job, stage, *_ = path.split("/")
    return names.lines(store, job, int(stage))


def suggest(
    store: Store, explanation: Explanation, packages: Sequence[tuple[str, str]], *, is_whole: bool
) -> None:
    """Add the command that drops the lines of packages, of which none will make its files: their
    paths and phases; not `is_whole` if there may be more of them.
    """
    lines = list(dict.fromkeys(path.rpartition("/")[0] for path, _ in packages))
    stages = Counter(line.rpartition("/")[0] for line in lines)
    if not lines or any(_lines(store, stage) <= number for stage, number in stages.items()):
        return
    dropped = [str(selector) for selector in condense(lines)]
    if not is_whole or len(dropped) > MOST:
        states = ",".join(sorted({phase for _, phase in packages}))
        dropped = [f"{stage}/*:{states}" for stage in stages]
    is_one = dropped == lines[:1]
    are = f"line `{lines[0]}`" if is_one else f"lines {listed(f'`{d}`' for d in dropped)}"
    them = "it" if is_one else "them"
    fact = f"{are} can be dropped: packages that can run without {them} do so"
    command = shlex.join(["d0ctl", "kill-line", *dropped, "--drop-outputs"])
    explanation.facts.append(fact)
    explanation.commands.append(command)
    explanation.drops.append((fact, command))


def add_restoring(store: Store, explanation: Explanation, line_id: int, now: float) -> None:
    """Add the commands that restore a line, or those because of which it was dropped."""
    lines = restore_line.lines_to_restore(store, line_id)
    if all(line.id != line_id for line in lines):
        restored = "; it is restored with the line that makes it" if lines else ""
        explanation.facts.append(f"an input that it needs was dropped{restored}")
    elif len(lines) > 1:
        explanation.facts.append("an input that it needs was dropped, too, and comes back with it")
    ending = {line.path: n for line in lines[:MOST] if (n := _killing(store, line.path, now))}
    for path, number in ending.items():
        are = count(number, "package is", "packages are")
        explanation.facts.append(f"{are} still being killed in `{path}`: restore it after that")
    if ending:
        return
    paths = [line.path for line in lines]
    parts = paths if len(paths) <= MOST else [str(part) for part in condense(paths)]
    if len(lines) > 1 and len(parts) <= MOST and not any(line.is_removed for line in lines):
        some = lines[:MOST_LINES]
        without = any(restore_line.line_launched_without(store, line.id) for line in some)
        command = ["d0ctl", "restore-line", *parts, *["--again"] * without]
        explanation.commands.append(shlex.join(command))
        return
    for line in lines[:MOST]:
        add(store, explanation, line.id, line.path, line.named, now)


def _killing(store: Store, line: str, now: float) -> int:
    return lifecycle.phases(selection.choose(store, parse(line), now=now)).get(Phase.KILLING, 0)


def add(
    store: Store, explanation: Explanation, line_id: int, path: str, named: int, now: float
) -> None:
    """Add the command that restores a line; if another is needed, why, and what to do first."""
    if named == REMOVED:
        explanation.facts.append("`update` removed the line: the job file does not have it")
        restoring = f"to restore `{path}`, put it back there"
        explanation.facts.append(restoring)
        explanation.retries.append(restoring)
        command = shlex.join(["d0ctl", "update", path.partition("/")[0]])
        if command not in explanation.commands:
            explanation.commands.append(command)
        return
    _add_lacking(store, explanation, path)
    reader = restore_line.line_launched_without(store, line_id)
    if reader is None:
        explanation.commands.append(f"d0ctl restore-line {path}")
        return
    at = f" at {moment(reader['launched'], now)}" if reader["launched"] is not None else ""
    without = f"`{reader['path']}` was launched without its files{at}"
    if reader["phase"] == Phase.DONE:
        is_own = reader["path"].partition("/")[0] == path.partition("/")[0]
        then = "runs it again with them" if is_own else "restores the line, and leaves that package"
        again = f"{without}: --again {then}"
        explanation.facts.append(again)
        explanation.retries.append(again)
        explanation.commands.append(f"d0ctl restore-line {path} --again")
    else:
        explanation.facts.append(f"{without}, so it can't be restored before that has ended")


def _add_lacking(store: Store, explanation: Explanation, path: str) -> None:
    """Say that an update has taken a job file without a line that was dropped before."""
    from d0ctl.store.jobs.correction import corrected_spec  # late: few lines are dropped

    name, _, number = path.split("/")
    job = browse.job(store, name)
    stage = browse.stage(store, job, parse(path))
    line = browse.line(store, job, stage, int(number))
    if line.dropped is not None and corrected_spec.lacks_line(
        store, job, stage, line.seq, line.dropped
    ):
        explanation.facts.append(
            f"the job file does not have `{path}`, so `from` leaves its files out: "
            f"put it back there, then `d0ctl update {quote(name)}`"
        )
