"""Explanations, and the texts that several of them share."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from d0ctl.model import STATUS_OF, Counts, Node, NodeCapacity, Phase, Status
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.show.drawing.remark_texts import drain_note, remark, until
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.catalogue import room_of
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.views.shapes import FailureView, JobSummary, PackageRow
from d0ctl.units import count, duration, listed, moment, size

if TYPE_CHECKING:
    from d0ctl.store.views.activity import NodeUse
    from d0ctl.store.views.job_files.eta import Straggler
    from d0ctl.store.views.left_out import Shortfall
    from d0ctl.store.views.shapes.of_package import AttemptView

MOST = 5
"""How many files, nodes or packages an explanation names; the rest is counted."""

LONG_S = 0.05
"""From this time on, that of each file of a link is worth a mention."""

MOST_STRAGGLERS = 3
"""How many stragglers a card names; it counts the rest."""

MOST_LACKING, MOST_READ = 5, 20
"""How many packages that lack inputs are named, and how many are read for a page."""

NOT_PRODUCED = "its input is produced only after a retry"


class Explanation(Struct):
    """An answer in one sentence, the facts behind it, the end of stderr, and commands.

    `details` holds the same facts for scripts: times in seconds, null if unknown. `listed` has the
    facts about launched packages, which a card lists, too; `retries` the facts and commands about
    a retry, `drops` those about lines that can be dropped, and `edit` the command after which a
    node can take a package. `reason` is the answer without its subject and state, for sentences
    about more than that; empty if it has no such part.
    """

    path: str
    status: str
    answer: str
    phase: str | None = None
    facts: list[str] = field(default_factory=list)
    stderr: str | None = None
    commands: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    retries: list[str] = field(default_factory=list)
    drops: list[tuple[str, str]] = field(default_factory=list)
    edit: str = ""
    reason: str = ""

    def add(self, text: str, commands: list[str]) -> None:
        """Add a text: the first is the answer, each later one a fact."""
        if self.answer:
            self.facts.append(text)
        else:
            self.answer = text
        self.commands += commands

    def take(self, other: "Explanation") -> None:
        """Add the facts and commands of another one."""
        self.facts += other.facts
        self.commands += other.commands
        self.retries += other.retries


class GroupPart(Struct, frozen=True):
    """A job or a part of it: its title, its counts, and how to find packages in it."""

    title: str
    path: str
    counts: Counts
    job: JobSummary
    sample: Callable[[Iterable[Phase], int], list[PackageRow]]
    failures: Callable[[int], list[FailureView]]
    explain: Callable[..., "Explanation"]
    """How a package of it is explained, by its path, for others that are blocked like it by id."""
    acknowledged: int = 0

    def in_phase(self, phase: str) -> str:
        """Return a selector of its packages in a phase."""
        return f"{self.path}{'' if self.path == self.job.name else '/*'}:{phase}"


def for_time(phase: str, node: str | None, began: float | None, now: float) -> str:
    """Describe a launched package: its state, its node, and the age of its attempt."""
    if began is None:
        return f"is {phase} on `{node}`"
    age = duration(now - began)
    if phase == Phase.RUNNING:
        return f"has been running on `{node}` for {age}"
    return f"is {phase} on `{node}`; it began {age} ago"


def line_name(name: str) -> str:
    """Return the name of a line in brackets, e.g. ` (seed=7)`; empty if it is a number."""
    return "" if name.isdigit() else f" ({name})"


def held_job(job: JobSummary, now: float) -> str:
    """Return who holds a job, since when and why."""
    why = f": {remark(job.hold_note)}" if job.hold_note else ""
    since = moment(job.hold_since, now)
    return f"job `{job.name}` has been held by {job.hold_actor} since {since}{why}"


def paused_job(job: JobSummary, now: float) -> str:
    """Return who paused a job, since when and why."""
    why = f": {job.pause_note}" if job.pause_note else ""
    since = f"{moment(job.pause_since, now)}{until(job.pause_until, now)}"
    return f"job `{job.name}` has been paused by {job.pause_actor} since {since}{why}"


def kept_back(job: JobSummary, now: float) -> tuple[str, str] | None:
    """Return why no package of a job may start, and the command that allows it; else None."""
    if job.hold:
        return held_job(job, now), f"d0ctl release {job.name}"
    if job.pause:
        return paused_job(job, now), job.resume
    if job.finish:
        since = moment(job.finish_since, now)
        text = f"job `{job.name}` is being finished: requested by {job.finish_actor} at {since}"
        return text, f"d0ctl history {job.name}"
    return None


def runs_with(short: "Shortfall") -> str:
    """Say with how many of its inputs a package ran, runs or will run, if it is retried."""
    status = STATUS_OF[Phase(short.phase)] if short.has_run else Status.CANCELED
    verb = {Status.LAUNCHED: "runs", Status.SUCCESSFUL: "ran", Status.FAILED: "ran",
            Status.CANCELED: "would run"}.get(status, "will run")  # fmt: skip
    return f"{verb} with {short.sentence()}"


def shortfalls(job: str, short: "Sequence[Shortfall]") -> list[str]:
    """Say which packages of a job ran or will run without files that were dropped or not made."""
    lines = [f"{each.path} {runs_with(each)}" for each in short[:MOST_LACKING]]
    if (more := len(short) - MOST_LACKING) > 0:
        at_least = "at least " if len(short) == MOST_READ else ""
        others = count(more, "more package lacks", "more packages lack")
        lines.append(f"{at_least}{others} inputs, too: d0ctl status {job} --json")
    return lines


def count_lacking(job: str, short: "Sequence[Shortfall]") -> str:
    """Count the packages of a job that have succeeded without some inputs, of `short` ones."""
    own = [each for each in short if each.path.startswith(f"{job}/") and each.phase == Phase.DONE]
    at_least = "at least " if len(short) == MOST_READ else ""
    return f", {at_least}{count(len(own))} without some inputs" if own else ""


def retry_canceled(part: str) -> str:
    """Return the command that retries the canceled packages of a job or a part of it."""
    return f"d0ctl retry '{part}:canceled'"


def with_rest(row: NodeCapacity, now: float) -> NodeRoom:
    """Return a node as the scheduler sees it, with the seconds left of its allocation."""
    return room_of(row, left_s=None if row.ends is None else row.ends - now)


class Objection(Struct, frozen=True):
    """Why a node can't take a package, after its name or those of `many`; `until` ends a pause."""

    text: str
    many: str
    until: float | None = None


def objection(row: NodeCapacity, requirement: Requirement, now: float) -> Objection | None:
    """Return why a node can't take a package, other than being full; None if it can."""
    if row.state == "down":
        since = moment(row.since, now)
        return Objection(
            f"has been down since {since}: {row.last_error or 'no answer'}", "are down"
        )
    if row.drained:
        note = f": {drain_note(row.drain_note)}" if row.drain_note else ""
        return Objection(f"is drained{note}", "are drained")
    is_known = row.state == "up"
    if (is_known or requirement.nodes or requirement.exclude_nodes) and (
        unfit := misfit(requirement, with_rest(row, now))
    ):
        return ruled_out(unfit)
    return None if is_known else Objection("is not in contact yet", "are not in contact yet")


def ruled_out(why: str) -> Objection:
    """Return that a node is unfit for a package."""
    return Objection(f"is ruled out: {why}", f"are ruled out: {why}")


def usage(store: Store, row: NodeCapacity) -> str:
    """Return how much of a node is in use, and by which jobs."""
    from d0ctl.store.views import activity  # late: most pages explain no node

    jobs = [f"{count(taker['n'], 'package')} of `{taker['name']}`"
            for taker in registry.jobs_on(store, row.id, MOST)]  # fmt: skip
    taken = f": {listed(jobs)}" if jobs else ""
    use = activity.node_use(store).get(row.id, activity.NodeUse())
    used = slots(use, row.cpus, " slots in use")
    return f"node `{row.name}` has {used}{taken}"


def slots(use: "NodeUse", cpus: int, noun: str = "") -> str:
    """Say how many slots of a node run packages, in how many they are suspended, and how many
    packages there wait for a slot, or for inputs: `4/4, 1 suspended, 2 next, 1 staging`; of a node
    that does not answer, how many are on it.
    """
    waiting = (
        (use.ahead, "next"), (use.staging, "staging"), (use.unreachable, "unreachable"),
    )  # fmt: skip
    more = [f"{count(number)} {word}" for number, word in waiting if number]
    stopped = [f"{use.suspended:g} suspended"] if use.suspended else []
    return ", ".join([f"{use.used:g}/{cpus}{noun}", *stopped, *more])


def transfer_text(name: str, tries: int, last_error: str | None) -> str:
    """Say that a file is being copied, with the tries that failed so far."""
    problem = f", {count(tries, 'try', 'tries')} so far: {last_error}" if last_error else ""
    return f"file `{name}` is being copied{problem}"


def speed(rate: float, file_s: float) -> str:
    """Say how fast files come: their bytes, and the time of each besides, if that is long."""
    each = f" and {duration(file_s)} per file" if file_s >= LONG_S else ""
    return f"{size(rate)}/s{each}"


def named(rows: Sequence[NodeCapacity], last: str = "and") -> str:
    """Name nodes in a sentence."""
    return listed((f"`{row.name}`" for row in rows), last)


def straggler(package: "Straggler", now: float) -> str:
    """Say how long a straggler has been running, and how long was expected."""
    return (
        f"it is a straggler: it has been running on `{package.node}` for "
        f"{duration(package.ran(now))}; {duration(package.expected)} were expected, "
        f"at most {duration(package.high)}"
    )


def stragglers(packages: "Sequence[Straggler]", now: float) -> list[str]:
    """Name the first stragglers, and count the rest."""
    sentences = [
        f"straggler: `{package.path}` has been running on `{package.node}` for "
        f"{duration(package.ran(now))}; at most {duration(package.high)} were expected"
        for package in packages[:MOST_STRAGGLERS]
    ]
    more = len(packages) - MOST_STRAGGLERS
    return [*sentences, f"and {count(more, 'straggler')} more"] if more > 0 else sentences


def full_disk(row: Node) -> str:
    """Say that the disk of a node is nearly full; empty if it is not."""
    space = registry.full_disk(row)
    return scarce_disk(space) if space is not None else ""


def scarce_disk(space: registry.DiskSpace) -> str:
    """Say how much of a disk is free, and whether its node takes no packages for that reason."""
    free = f"{size(space.free)} of {size(space.total)} free"
    if space.reserve is None:
        return f"its disk is nearly full: {free}"
    return f"takes no packages: {free} on its disk, less than its reserve of {size(space.reserve)}"


def gone_for_good(node: str, *, is_used: bool = False) -> str:
    """Return what to type if a node will not come back; `is_used` if it has packages."""
    if is_used:
        return f"d0ctl node remove {node} --lost   # if it is gone for good: they may run elsewhere"
    return f"d0ctl node remove {node}   # if it is gone for good: what is needed is made again"


def unreadable_log(store: Store, node: str) -> str | None:
    """Say why logs on a node can't be read: it was removed, or is down; None if they can."""
    row = registry.find(store, node)
    if row is None:
        return f"its log can't be read: node `{node}` was removed"
    if row.state == "down" and any_driver(store):
        return f"its log can't be read while `{node}` is down"
    return None


def log_commands(store: Store, path: str, tries: "Sequence[AttemptView]") -> list[str]:
    """Return what shows the last log of a package or binary; nothing if it can't be read."""
    is_readable = tries and not unreadable_log(store, tries[-1].node_name)
    return [f"d0ctl logs {path}"] if is_readable else []
