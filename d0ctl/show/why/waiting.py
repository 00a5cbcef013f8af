"""What a waiting package waits for: the least hopeful first, and what is behind it all."""

from dataclasses import dataclass

from d0ctl.show.why.common import MOST, Explanation
from d0ctl.show.why.subject import Case, job_hold
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, dependencies
from d0ctl.store.views.dependencies import MissingInput
from d0ctl.units import count

MOST_LOOKED_AT = 200
"""How many missing files are looked at for the most telling ones."""


MOST_FOLLOWED = 60
"""How many packages are asked what they wait for, up the chain."""


@dataclass(frozen=True, slots=True)
class Want:
    """Something a package waits for, made by whom, in which phase it is, and how often used."""

    words: str
    maker: str | None
    phase: str | None
    package: int | None
    uses: int = 1
    file: str | None = None

    @property
    def origin(self) -> str:
        """What it hangs on, without the way there."""
        return f"`{self.maker}`, which is {self.phase}" if self.maker else self.words

    @property
    def hope(self) -> int:
        """The less, the less likely it comes by itself."""
        if self.phase in (None, "failed", "canceled", "dropped"):
            return 0
        return 1 if self.phase in ("held", "cooloff", "unreachable") else 2


def waiting(case: Case) -> None:
    """Explain a package that waits for files, or for the one before it in its line."""
    told, one = case.told, case.package
    wants = wants_of(case.store, one.id)
    if not wants:
        told.answer = f"{case.name} waits for one of its many files"
        return
    told.details["waits_for"] = [
        {"file": want.file, "maker": want.maker, "phase": want.phase} for want in wants
    ]
    is_blocked = browse.is_package_blocked(case.store, case.job, one)
    verb = "is blocked: it waits" if is_blocked else "waits"
    told.answer = f"{case.name} {verb} for {wants[0].words}"
    told.facts += [f"it waits for {want.words}" for want in wants[1:MOST]]
    if (more := one.missing - sum(want.uses for want in wants[:MOST])) > 0:
        told.facts.append(f"and for {count(more, 'more file')}")
    _first_of_many(case)
    job_hold(case)
    _required(case, wants[0])
    root = wants[0] if wants[0].phase != "waiting" else _root(case.store, wants)
    if root is not None and root is not wants[0]:
        told.facts.append(f"in the end it hangs on {root.origin}")
    ways_out(told, root or wants[0])


def _first_of_many(case: Case) -> None:
    row = dependencies.input_list(case.store, case.package.id)
    if row is not None and row["early"] and row["awaited"] > 1:
        told = f"it starts with the first of {row['awaited']} inputs, and gets the others later"
        case.told.facts.append(told)


def _required(case: Case, want: Want) -> None:
    """How far the stage that makes it is from what this one requires of it."""
    stages = {stage.seq: stage for stage in browse.stages(case.store, case.job)}
    required = stages[case.package.stage].require
    maker = (want.maker or "").split("/")
    if required >= 1 or len(maker) != 4 or maker[0] != case.job.name:
        return
    made_by = stages[int(maker[1])]
    total = sum(made_by.counts.values()) - made_by.counts.get("dropped", 0)
    done = made_by.counts.get("done", 0)
    case.told.facts.append(
        f"stage `{case.package.stage_name}` requires {required:.0%}: {done} of"
        f" {count(total, 'package')} of stage `{made_by.name}` are successful so far"
    )


def wants_of(store: Store, package: int, limit: int = MOST_LOOKED_AT) -> list[Want]:
    """What a package waits for, the least hopeful first."""
    wants = []
    before = dependencies.before_in_line(store, package)
    if before is not None and before["phase"] not in ("done", "transferring"):
        words = f"package `{before['path']}` before it in its line, which is {before['phase']}"
        wants.append(Want(words, before["path"], before["phase"], before["id"]))
    for file in dependencies.missing_inputs(store, package, limit):
        wants.append(Want(_file_waited_for(file), file.maker_path, file.maker_phase, file.maker,
                          file.uses, file.name))  # fmt: skip
    return sorted(wants, key=lambda want: want.hope)


def _root(store: Store, wants: list[Want]) -> Want | None:
    """What is behind it all: up the chain from waiting makers, as far as a bounded search goes."""
    queue = [want.package for want in wants]
    seen: set[int] = set()
    best: Want | None = None
    while queue and len(seen) < MOST_FOLLOWED:
        package = queue.pop(0)
        if package is None or package in seen:
            continue
        seen.add(package)
        for want in wants_of(store, package, MOST):
            if want.hope == 0:
                return want
            if want.phase == "waiting":
                queue.append(want.package)
            elif best is None or want.hope < best.hope:
                best = want
    return best


def ways_out(told: Explanation, want: Want) -> None:
    """What to type about what is waited for."""
    if want.maker is None:
        return
    told.commands.append(f"d0ctl why {want.maker}")
    if want.hope == 0:
        line = want.maker.rpartition("/")[0]
        told.facts.append(f"line `{line}` can be dropped: what can do without it goes on")
        told.commands.append(f"d0ctl kill-line {line} --drop-outputs")


def _file_waited_for(file: MissingInput) -> str:
    if file.maker_path is None:
        return f"file `{file.name}`, which nothing makes any more"
    dropped = " and whose output is dropped" if file.file_dropped else ""
    return f"file `{file.name}` of `{file.maker_path}`, which is {file.maker_phase}{dropped}"
