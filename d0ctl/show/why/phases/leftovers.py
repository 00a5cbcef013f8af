"""How many packages of a job or a part of it are held, cooling off, blocked or dropped, and why."""

from collections.abc import Mapping
from shlex import quote

from d0ctl.model import Counts, Group, Phase
from d0ctl.policy.remarks import Remark
from d0ctl.show.why.common import MOST, NOT_PRODUCED, Explanation, GroupPart, retry_canceled
from d0ctl.show.why.group_failures import MOST_BLOCKED
from d0ctl.show.why.phases.recovery import barred_all
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, left_out
from d0ctl.units import count, listed

NO_MAKER = "a retry would run without these inputs"
"""What speaks against a retry of packages whose inputs nothing makes any more."""


def add(store: Store, part: GroupPart, explanation: Explanation) -> None:
    """Add how many packages are held, cooling off, blocked or dropped, and who canceled some."""
    counts = part.counts
    for phase, description in (("held", "held"), ("cooloff", "cooling off")):
        if counts.get(phase):
            explanation.facts.append(
                f"{count(counts[phase], 'package is', 'packages are')} {description}"
            )
    if counts.get("held", 0) > 1:
        _command_all_held(store, part, explanation)
    answered = any(command.startswith(("d0ctl release ", "d0ctl resume "))
                   for command in explanation.commands)  # fmt: skip
    if counts.get("held") and not answered:
        explanation.commands += [f"d0ctl why {row.path}" for row in part.sample([Phase.HELD], 1)]
    if part.job.blocked and counts.get("waiting"):
        explanation.facts.append(_blocked(store, part, counts["waiting"]))
        _add_required(store, part, explanation)
        _add_drops(part, explanation)
        _canceled(part.job.name, part.job.counts, explanation)
    elif explanation.status != Group.CANCELED:  # whose answer says it
        _canceled(part.path, counts, explanation)
    if counts.get("canceled"):
        rows = list(part.sample([Phase.CANCELED], MOST))
        facts = [part.explain(row.path).answer for row in rows[:1]]
        explanation.facts += [fact for fact in facts if fact not in explanation.facts]
        is_lost = any(row.note == Remark.MAKER_REMOVED for row in rows[:1])
        if barred := NO_MAKER if is_lost else barred_all(store, [row.path for row in rows]):
            explanation.facts.append(barred)
            retry = retry_canceled(part.path)
            explanation.commands[:] = [each for each in explanation.commands if each != retry]
    if dropped := counts.get("dropped"):
        rows = list(part.sample([Phase.DROPPED], MOST))
        paths = [f"`{row.path}`" for row in rows]
        paths += [f"{count(dropped - len(paths))} more"] if dropped > len(paths) else []
        packages = count(dropped, "package is", "packages are")
        explanation.facts.append(f"{packages} dropped: {listed(paths)}")
        notes = [row.note for row in rows]
        explanation.facts += [part.explain(row.path).answer for number, row in enumerate(rows)
                              if row.note not in notes[:number]]  # fmt: skip
        explanation.commands += [f"d0ctl why {row.path}" for row in rows[:1]]


def _add_required(store: Store, part: GroupPart, explanation: Explanation) -> None:
    """Add how much is missing of what stages with blocked packages require of those they read."""
    stages = {stage.seq: stage for stage in browse.stages(store, part.job)}
    for stage in stages.values():
        is_within = part.path == part.job.name or part.path.split("/")[1] == str(stage.seq)
        if stage.require >= 1 or not is_within:
            continue
        from d0ctl.show.why.phases import waiting  # late: few stages require a fraction

        for row in browse.in_stage(store, stage.id, None, [Phase.WAITING], 1):
            first, *_ = [*waiting.prerequisites_of(store, row.id), None]
            text = first and waiting.required(stages, row.path, first)
            if text and text not in explanation.facts:
                explanation.facts.append(text)


def _add_drops(part: GroupPart, explanation: Explanation) -> None:
    """Add the command that drops the lines whose files blocked packages wait for."""
    if not part.counts.get(Phase.FAILED):
        return  # the answer is about a blocked package, and has it
    rows = part.sample([Phase.WAITING], MOST_BLOCKED)
    for row in rows[:1]:
        for fact, command in part.explain(row.path, *(other.id for other in rows[1:])).drops:
            if command not in explanation.commands:
                explanation.facts.append(fact)
                explanation.commands.append(command)


def add_ended_maker(part: GroupPart, explanation: Explanation) -> None:
    """Add a waiting package whose input is made only after a retry, while others still move.

    Its maker was canceled, or has failed in another job.
    """
    for row in part.sample([Phase.WAITING], MOST):
        waiting = part.explain(row.path)
        if any(
            _ended_elsewhere(maker, part.job.name) for maker in waiting.details.get("waits_for", ())
        ):
            if waiting.answer not in explanation.answer:
                explanation.facts.append(waiting.answer)
            explanation.commands.append(f"d0ctl why {row.path}")
            return


def _ended_elsewhere(maker: Mapping[str, str | None], job: str) -> bool:
    """Return whether a maker was canceled, or failed in another job than this."""
    is_own = (maker["maker"] or "").partition("/")[0] == job
    return maker["phase"] == "canceled" or (maker["phase"] == "failed" and not is_own)


def _canceled(path: str, counts: Counts, explanation: Explanation) -> None:
    """Add how many packages of a job or a part of it are canceled, and the retry of these."""
    if canceled := counts.get("canceled", 0):
        are = count(canceled, "package is", "packages are")
        explanation.facts.append(f"{are} canceled in `{path}`")
        if (retry := retry_canceled(path)) not in explanation.commands:
            explanation.commands.append(retry)


def no_input(store: Store, job: int) -> str:
    """Say why a package of a blocked job gets no input."""
    if left_out.waits_for_dropped(store, job):
        return "it needs a dropped file, or one of a package that does"
    return NOT_PRODUCED


def _command_all_held(store: Store, part: GroupPart, explanation: Explanation) -> None:
    """Have the commands for one held package change all of them that are held like it."""
    rows = part.sample([Phase.HELD], MOST)
    target = f"{part.path}:held"
    instead = {f"d0ctl {verb} {row.path}": f"d0ctl {verb} {quote(target)}"
               for verb in ("release", "resume") for row in rows}  # fmt: skip
    edits = {row.path: command for row in rows for command in explanation.commands
             if command.startswith(f"d0ctl edit {row.path} ")}  # fmt: skip
    if edits:
        from d0ctl.show.why.advice import alike, for_alike  # late: few packages need more

        for row in rows:
            if row.path in edits:
                which = alike(target, str(row.reason))
                same = [other.path for other in rows if other.reason == row.reason]
                more = for_alike(store, which, same).more
                instead[edits[row.path]] = f"d0ctl edit {which} {more}"
    explanation.commands[:] = dict.fromkeys(
        instead.get(command, command) for command in explanation.commands
    )


def _blocked(store: Store, part: GroupPart, waiting: int) -> str:
    """Say that packages wait for files that will never be made."""
    has_dropped = left_out.waits_for_dropped(store, part.job.id)
    if waiting == 1:
        why = "it needs a dropped file" if has_dropped else NOT_PRODUCED
        return f"1 package is blocked: {why}"
    why = "they need dropped files, or those of packages that do" if has_dropped else (
        "their inputs are produced only after a retry")  # fmt: skip
    return f"{count(waiting)} packages are blocked: {why}"
