"""The files and packages that a waiting package needs, the least likely ones first."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import islice

from msgspec import Struct

from d0ctl.model import phase_word
from d0ctl.select.condense import by_state
from d0ctl.show.drawing.signs import in_state, phase_name
from d0ctl.show.why.common import MOST, Explanation, kept_back, retry_canceled
from d0ctl.show.why.phases import dropped_line, recovery
from d0ctl.show.why.subject import Subject, job_hold
from d0ctl.store.connection import Row, Store
from d0ctl.store.views import browse, dependencies
from d0ctl.store.views.dependencies import MissingInput
from d0ctl.store.views.shapes import StageSummary
from d0ctl.units import count, listed

MOST_READ = 200
"""How many missing files are read to find those that may never come."""

MOST_FOLLOWED = 60
"""How many packages up the chain are searched for the cause."""

NOT_LAUNCHED = ("waiting", "ready", "cooloff", "held")
"""The phases of packages that a hold of their job stops."""


class Prerequisite(Struct, frozen=True):
    """Something a package waits for: its maker, the maker's phase, and how often it is used."""

    text: str
    maker: str | None
    phase: str | None
    package: int | None
    uses: int = 1
    file: str | None = None

    @property
    def origin(self) -> str:
        """The cause at the end of the chain."""
        return f"`{self.maker}`, which is {in_state(self.phase)}" if self.maker else self.text

    @property
    def likelihood(self) -> int:
        """How likely it is to arrive without a person: 0 not, 1 perhaps, 2 yes."""
        if self.phase in (None, "failed", "canceled", "dropped"):
            return 0
        return 1 if self.phase in ("held", "cooloff", "unreachable") else 2


def waiting(subject: Subject) -> None:
    """Explain a package that waits for files, or for packages, lines or stages before it."""
    explanation, package = subject.explanation, subject.package
    prerequisites = prerequisites_of(subject.store, package.id, is_blocked=subject.job.blocked)
    if not prerequisites:
        explanation.answer = f"{subject.name} waits for one of its many files"
        return
    explanation.details["waits_for"] = [
        {"file": prerequisite.file, "maker": prerequisite.maker, "phase": prerequisite.phase}
        for prerequisite in prerequisites
    ]
    is_blocked = browse.is_package_blocked(subject.store, subject.job, package)
    verb = "is blocked: it waits" if is_blocked else "waits"
    first = prerequisites[0]
    explanation.answer = f"{subject.name} {verb} for {first.text}"
    explanation.facts += [
        f"it waits for {prerequisite.text}" for prerequisite in prerequisites[1:MOST]
    ]
    more = package.missing - sum(maker.uses for maker in prerequisites[:MOST])
    if more > 0:
        explanation.facts.append(f"and for {count(more, 'more file')}")
    _early(subject)
    job_hold(subject)
    _required(subject, first)
    causes, is_whole = _root_causes(subject.store, prerequisites)
    others, is_all = _causes_of_others(subject, causes)
    _held_makers(subject, [*prerequisites, *causes])
    if deeper := [cause for cause in causes if cause not in prerequisites[:MOST]]:
        other = "other " * (first.likelihood == 0)
        explanation.facts.append(_causes_text(deeper, other, is_whole=is_whole))
    if others:
        explanation.facts.append(f"other packages wait for {_names(others, is_whole=is_all)}")
    _retry_canceled(subject, [*causes, *others])
    cause = deeper[0] if deeper and first.likelihood else first
    suggest(subject.store, explanation, cause, [*causes, *others], is_whole=is_whole and is_all)
    if first.phase == "dropped":  # its own line can be dropped, too
        dropped_line.suggest(subject.store, explanation, [(package.path, "")], is_whole=True)


def _causes_of_others(
    subject: Subject, known: list[Prerequisite]
) -> tuple[list[Prerequisite], bool]:
    """Return what else blocks other packages beside it, and whether that is all."""
    needed = [each for package in subject.beside[:MOST_FOLLOWED]
              for each in prerequisites_of(subject.store, package, MOST_FOLLOWED)]  # fmt: skip
    if not needed:
        return [], True
    causes, is_whole = _root_causes(subject.store, needed)
    origins = {cause.origin for cause in known}
    others = [cause for cause in causes if not cause.likelihood and cause.origin not in origins]
    return others, is_whole and len(subject.beside) <= MOST_FOLLOWED


def _held_makers(subject: Subject, makers: list[Prerequisite]) -> None:
    """Say which other jobs make its files and start no packages."""
    names = [maker.maker.partition("/")[0] for maker in makers
             if maker.maker and maker.phase in NOT_LAUNCHED]  # fmt: skip
    others = (name for name in dict.fromkeys(names) if name != subject.job.name)
    for name in islice(others, MOST):
        job = browse.job(subject.store, name)
        if why := kept_back(job, subject.now):
            subject.fact(why[0])
            subject.command(f"d0ctl why {name}" if job.is_held_by_d0ctl else why[1])


def _retry_canceled(subject: Subject, causes: list[Prerequisite]) -> None:
    """Suggest the retry of the canceled packages that make its files: all of a job if several."""
    makers: dict[str, dict[str, int]] = {}
    for cause in causes:
        if cause.phase == "canceled" and cause.package and cause.maker:
            makers.setdefault(cause.maker.partition("/")[0], {})[cause.maker] = cause.package
    for job, packages in makers.items():
        others = subject.job.counts.get("canceled", 0) if job == subject.job.name else 0
        (path, package), *more = packages.items()
        if recovery.barred_all(subject.store, [*packages][:MOST]):
            subject.command(f"d0ctl why {path}")
        elif not more and others != 1:
            subject.command(f"d0ctl retry {retry_targets(subject.store, package, path)}")
        else:
            subject.command(retry_canceled(job))


def retry_targets(store: Store, package: int, path: str) -> str:
    """Return what to retry so that a canceled package can run: it, and those before it."""
    ended = [*dependencies.ended_before(store, [package]), (path, "canceled")]
    return shlex.join(by_state(ended, MOST))


def add_ended(subject: Subject) -> None:
    """Say without which failed and canceled packages a canceled one can't start."""
    ended = dependencies.ended_before(subject.store, [subject.package.id])
    if ended:
        named = [f"`{path}` ({phase})" for path, phase in ended[:MOST]]
        more = [f"{len(ended) - MOST:,} more"] if len(ended) > MOST else []
        subject.fact(f"it can't start without {listed([*named, *more])}")


def _early(subject: Subject) -> None:
    row = dependencies.input_list(subject.store, subject.package.id)
    if row is not None and row["early"] and row["awaited"] > 1:
        fact = f"it starts with the first of {row['awaited']} inputs and gets the others later"
        subject.explanation.facts.append(fact)


def _required(subject: Subject, prerequisite: Prerequisite) -> None:
    """Say how much of the stage that makes a file has succeeded, if a fraction is required."""
    stages = {stage.seq: stage for stage in browse.stages(subject.store, subject.job)}
    if text := required(stages, subject.package.path, prerequisite):
        subject.fact(text)


def required(
    stages: Mapping[int, StageSummary], package: str, prerequisite: Prerequisite
) -> str | None:
    """Return how much has succeeded of a stage of which a waiting package requires a fraction."""
    job, stage, *_ = package.split("/")
    reads, maker = stages[int(stage)], (prerequisite.maker or "").split("/")
    if reads.require >= 1 or len(maker) != 4 or maker[0] != job:
        return None
    made_by = stages[int(maker[1])]
    total = sum(made_by.counts.values()) - made_by.counts.get("dropped", 0)
    return (
        f"stage `{reads.name}` requires {reads.require:.0%}: {made_by.counts.get('done', 0)} of"
        f" {count(total, 'package')} of stage `{made_by.name}` are successful so far"
    )


def prerequisites_of(
    store: Store, package: int, limit: int = MOST_READ, *, is_blocked: bool = False
) -> list[Prerequisite]:
    """Return the prerequisites of a package, of a blocked job or not, the least likely first."""
    prerequisites = []
    before = dependencies.before_in_line(store, package)
    if before is not None and before["phase"] not in ("done", "transferring"):
        description = (
            f"package `{before['path']}` before it in its line, which is "
            f"{phase_name(before['phase'], blocked=is_blocked)}"
        )
        prerequisites.append(
            Prerequisite(description, before["path"], before["phase"], before["id"])
        )
    for row in dependencies.lines_before(store, package, limit):
        line = row["path"].rpartition("/")[0]
        name = "" if row["name"] == line.rpartition("/")[2] else f" ({row['name']})"
        state = phase_name(row["phase"], blocked=is_blocked)
        description = f"line `{line}`{name}, whose package `{row['path']}` is {state}"
        prerequisites.append(Prerequisite(description, row["path"], row["phase"], row["id"]))
    for row in dependencies.stages_before(store, package):
        prerequisites.append(_stage(store, row))
    for file in dependencies.missing_inputs(store, package, limit):
        prerequisites.append(
            Prerequisite(
                _file_text(file, is_blocked=is_blocked),
                file.maker_path,
                file.phase,
                file.maker,
                file.uses,
                file.name,
            )
        )
    return sorted(prerequisites, key=lambda prerequisite: prerequisite.likelihood)


def _stage(store: Store, row: Row) -> Prerequisite:
    """Return a stage that must succeed first, or the end of all others for a final stage."""
    if row["id"] is None:
        return Prerequisite("the end of all other stages, as it is `final`", None, "running", None)
    counts = browse.stage_counts(store, browse.job(store, row["job"]).id).get(row["id"], {})
    total = sum(counts.values()) - counts.get("dropped", 0)
    description = (
        f"stage `{row['name']}`, of which {counts.get('done', 0)} of {count(total, 'package')}"
        " are successful"
    )
    stuck = next((phase for phase in ("failed", "canceled") if counts.get(phase)), "running")
    return Prerequisite(description, f"{row['job']}/{row['seq']}", stuck, None)


def _root_causes(
    store: Store, prerequisites: list[Prerequisite]
) -> tuple[list[Prerequisite], bool]:
    """Return the causes up the chain of waiting makers, and whether the bounded search found all.

    Without one that needs a person, it is the least likely package that a waiting one waits for.
    """
    queue, seen = list(prerequisites), set[int]()
    causes: dict[str, Prerequisite] = {}
    others: list[Prerequisite] = []
    while queue and len(seen) < MOST_FOLLOWED:
        prerequisite = queue.pop(0)
        if prerequisite.likelihood == 0:
            causes.setdefault(prerequisite.origin, prerequisite)
        elif prerequisite.phase != "waiting":
            others.append(prerequisite)
        elif prerequisite.package is not None and prerequisite.package not in seen:
            seen.add(prerequisite.package)
            queue += prerequisites_of(store, prerequisite.package, MOST_FOLLOWED)
    if causes or prerequisites[0].phase != "waiting":
        return list(causes.values()), not queue
    deeper = [other for other in others if other not in prerequisites]
    return sorted(deeper, key=lambda other: other.likelihood)[:1], True


def _causes_text(causes: list[Prerequisite], others: str, *, is_whole: bool) -> str:
    """Name the first causes, and count the rest; they are the `others` if some have been named."""
    if len(causes) == 1 and is_whole:
        return f"the {others}cause is {causes[0].origin}"
    return f"the {others}causes are {_names(causes, is_whole=is_whole)}"


def _names(causes: list[Prerequisite], *, is_whole: bool) -> str:
    names = [f"`{cause.maker}` ({phase_word(cause.phase)})" if cause.maker else cause.text
             for cause in causes[:MOST]]  # fmt: skip
    more = max(0, len(causes) - MOST)
    if not is_whole:
        names.append(f"at least {count(more)} more" if more else "perhaps more")
    elif more:
        names.append(f"{count(more)} more")
    return listed(names)


def suggest(
    store: Store,
    explanation: Explanation,
    prerequisite: Prerequisite,
    causes: Sequence[Prerequisite] = (),
    *,
    is_whole: bool = True,
) -> None:
    """Suggest commands about a prerequisite, and about all causes, of which it may be one."""
    if prerequisite.maker is None:
        return
    explanation.commands.append(f"d0ctl why {prerequisite.maker}")
    if prerequisite.likelihood == 0 and prerequisite.maker.count("/") == 1:
        explanation.commands.append(f"d0ctl retry '{prerequisite.maker}/*:failed,canceled'")
    elif prerequisite.likelihood == 0:
        ended = [(cause.maker, cause.phase) for cause in causes or [prerequisite]
                 if cause.maker and cause.phase in ("failed", "canceled")
                 and cause.maker.count("/") > 1]  # fmt: skip
        dropped_line.suggest(store, explanation, ended, is_whole=is_whole)


def _file_text(file: MissingInput, *, is_blocked: bool) -> str:
    if file.maker_path is None:
        return f"file `{file.name}`, which no package makes any more"
    dropped = " and whose output is dropped" if file.file_dropped else ""
    state = f"{phase_name(file.maker_phase or '', blocked=is_blocked)}{dropped}"
    return f"file `{file.name}` of `{file.maker_path}`, which is {state}"
