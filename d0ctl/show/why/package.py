"""Why a package is in its phase; each phase has its function."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.forecast import estimates
from d0ctl.show.why.common import Explanation, log_commands, runs_with
from d0ctl.show.why.stopped_job import in_quotes
from d0ctl.show.why.subject import Subject
from d0ctl.sitefile.defaults import PAUSE_GRACE_S
from d0ctl.store.connection import Store
from d0ctl.store.lifecycle import PackageRequest
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import drives
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.job_files import eta as views_eta
from d0ctl.store.views.left_out import could_read_absent, shortfall
from d0ctl.store.views.shapes.of_package import BinaryView, PackageView
from d0ctl.units import count, duration, iso, moment, percent, size

if TYPE_CHECKING:
    from d0ctl.store.views.shapes.node_choice import NodeChoiceView

SHARED_S = 1.0
"""If nodes were compared longer before a package got one, it was for another package."""

RETRIED = frozenset({Phase.FAILED, Phase.CANCELED, Phase.COOLOFF})
"""The phases in which a person retries a package."""

REQUESTS: Mapping[str, str] = {
    PackageRequest.PAUSE: "it was asked to pause; if it does not do so by itself within "
    f"{PAUSE_GRACE_S:g} s, it is stopped, unless its last binary has ended",
    PackageRequest.RESUME: "it was asked to continue, and has not answered yet",
}
"""What a request of a person for a package on a node means until its wrapper confirms it."""


def package(store: Store, view: PackageView, now: float, beside: Sequence[int] = ()) -> Explanation:
    """Explain the phase of a package, for others `beside` it, too, that are blocked like it."""
    job = browse.job(store, view.job)
    explanation = Explanation(view.path, view.status, "", phase=view.phase)
    subject = Subject(store, view, job, explanation, now, beside)
    _of_phase(Phase(view.phase))(subject)
    if view.phase == Phase.WAITING:
        from d0ctl.show.why.phases import fits_nowhere  # late: others say it, or have a node

        fits_nowhere.of_package(subject)
    if view.node is not None or view.status in (Status.SUCCESSFUL, Status.FAILED):
        _chosen_node(store, view, explanation, now)
    known = views_eta.package_times(store, view.id, now=now)
    if known is not None and (wait := explanation.details.get("next_launch")):
        known = known.later(wait)
    times = estimates.of_package(view.path, known, now)
    if times and _may_begin(explanation) and drives(store, job.id):
        explanation.facts.append(times)
    if view.phase != Phase.KILLING:
        _expected_sizes(store, view, explanation)
    if where := one_package.destination(store, view.id):
        explanation.facts.append(f"its task merges at `{where[0]}`: {where[1]}")
    if view.request and not _says_itself(view):
        explanation.facts += _requested(store, view, now)
    if short := shortfall(store, view.id, view.path, view.phase):
        explanation.facts.append(f"it {runs_with(short)}")
        if view.phase == Phase.DONE and could_read_absent(store, view.id):
            explanation.facts.append("it had begun before these were made: its stage is `final`")
            explanation.commands.insert(0, f"d0ctl set-status {view.path} unscheduled")
    if "d0ctl daemon start" in explanation.commands:
        from d0ctl.show.why.production import advise_no_daemon  # late: mostly, one runs

        advise_no_daemon(store, explanation, now)
    return explanation


def _requested(store: Store, view: PackageView, now: float) -> list[str]:
    """Say what it was asked to do; a retry, until it is launched, by whom and why."""
    if view.request == PackageRequest.PAUSE and view.phase == Phase.SUSPENDED:
        return [f"it was paused, too: `d0ctl resume {view.path}` lets it continue after that"]
    if view.phase == Phase.UNREACHABLE and view.request in REQUESTS:
        to = "pause" if view.request == PackageRequest.PAUSE else "continue"
        return [f"it was asked to {to}, and does so once `{view.node}` can be reached again"]
    if view.request != PackageRequest.RESUBMIT:
        return [REQUESTS.get(view.request or "", f"a request: {view.request}")]
    for event in reversed(one_package.events(store, view.id)):
        if event.old in RETRIED and event.new in (Phase.READY, Phase.WAITING):
            by = f" by {event.actor}" if event.actor else ""
            why = f": {remark(event.note)}" if event.note else ""
            return [f"retried{by}, {moment(event.at, now)}{why}"]
    return []  # `_remade` says why a successful one runs again


def _may_begin(explanation: Explanation) -> bool:
    """Return whether its start can be estimated: a node can take it, and none it needs is down."""
    nodes = explanation.details.get("nodes")
    is_ruled_out = nodes is not None and all(node["against"] for node in nodes)
    unknown = {"nodes_down", "stays_full"} & explanation.details.keys()
    return not is_ruled_out and not unknown


def _says_itself(view: PackageView) -> bool:
    """Return whether the phase says what became of a request: a hold has the same reason."""
    is_refused = view.request not in frozenset(PackageRequest)
    is_asked = view.phase == Phase.STARTING and view.request == PackageRequest.PAUSE
    return is_asked or view.phase == Phase.KILLING or (view.phase == Phase.HELD and is_refused)


def _chosen_node(store: Store, view: PackageView, explanation: Explanation, now: float) -> None:
    """Say why its node was chosen."""
    if (choice := one_package.node_choice(store, view.id)) is not None:
        if choice.rule != "only" or choice.fits > 1 or len(registry.nodes(store)) > 1:
            explanation.facts.append(chosen_node(choice, now))
        explanation.details["node_choice"] = choice_document(choice)


def chosen_node(choice: "NodeChoiceView", now: float, *, subject: str = "it") -> str:
    """Say why packages were sent to a node, and when that was decided."""
    decided = f"decided at {moment(choice.at, now)}"
    if choice.mine is not None and choice.at - choice.compared > SHARED_S:
        decided += f", by the numbers of {moment(choice.compared, now)}, for a package like it"
    return f"{subject} went to `{choice.node}`: {_chosen_because(choice)} ({decided})"


def _chosen_because(choice: "NodeChoiceView") -> str:
    rival, rule = choice.rival, choice.rule
    mine, theirs = choice.mine or 0.0, choice.theirs or 0.0
    if rule == "only":
        if (others := choice.fits - 1) < 1:
            avoided = (choice.avoided or "").split()
            if choice.node in avoided:  # as no other could take it
                avoided = [name for name in avoided[:1] if name != choice.node]
            avoids = f", and it avoids {in_quotes(avoided)}" if avoided else ""
            return f"no other could take it then{avoids}"
        if others == 1:
            return "the other node that meets its request could not take it then"
        return f"none of the {count(others, 'other node')} that meet its request could take it then"
    if rule == "outputs":
        return "it has its outputs, which are only to be delivered"
    if rule == "early":
        return f"it was to wait there for inputs, of which the node had {size(int(mine))}"
    return {
        "preferred": lambda: f"the broker preferred it ({mine:g}, `{rival}` {theirs:g})",
        "earliest": lambda: f"it would end there in {duration(mine)}, on `{rival}` in"
                            f" {duration(theirs)}",
        "starts": lambda: f"it had a free CPU, `{rival}` had none",
        # files of unknown size, as those of a lost attempt, count as one byte each
        "inputs": lambda: f"it had {size(int(mine)) if mine > 9 else 'some'} of its files (inputs,"
                          f" or those of an earlier attempt), `{rival}` {size(int(theirs))}",
        "free": lambda: f"more of its CPUs were left ({percent(mine)}, of `{rival}`"
                        f" {percent(theirs)})",
        "alike": lambda: f"`{rival}` would have been as good",
    }[rule]()  # fmt: skip


def choice_document(choice: "NodeChoiceView") -> dict[str, Any]:
    """Return the same for scripts."""
    return asdict(choice) | {"at": iso(choice.at), "compared": iso(choice.compared)}


def _expected_sizes(store: Store, package: PackageView, explanation: Explanation) -> None:
    """Say how much memory and disk it is expected to use; not less than it has used before."""
    sizes = views_eta.sizes_of_package(store, package.id)
    used = max((each.rss or 0 for each in one_package.attempts(store, package.id)), default=0)
    if sizes.memory and sizes.memory.high < used:
        sizes = replace(sizes, memory=None)
    if text := estimates.sizes(sizes):
        explanation.facts.append(f"it is expected to take {text}")
        explanation.details["sizes"] = {
            "memory": sizes.memory and [sizes.memory.low, sizes.memory.middle, sizes.memory.high],
            "output": sizes.output and [sizes.output.low, sizes.output.middle, sizes.output.high],
            "work": sizes.work and [sizes.work.low, sizes.work.middle, sizes.work.high],
        }  # fmt: skip


def binary(store: Store, view: PackageView, number: int, now: float) -> Explanation:
    """Explain how a binary of a package ended. Raises NotFound."""
    binary = one_package.binary(store, view, number)
    whole = package(store, view, now)
    name = f"binary {number} ({binary.name}) of `{view.path}`"
    answer = f"{name} {_outcome(binary, view, now)}"
    logs = log_commands(store, f"{view.path}/{number}", one_package.attempts(store, view.id))
    return replace(whole, path=f"{view.path}/{number}", answer=answer,
                   facts=[whole.answer, *whole.facts],
                   commands=[*whole.commands, *logs])  # fmt: skip


def _outcome(binary: BinaryView, package: PackageView, now: float) -> str:
    """Say how a binary ended in the last attempt that ran it."""
    if binary.attempt is None:
        return (
            "has not run yet" if package.status != Status.SUCCESSFUL else "has no record of a run"
        )
    tried = f"in attempt {binary.attempt}"
    if binary.ended is None:
        is_live = package.status == Status.LAUNCHED and binary.attempt == package.attempts
        return f"{'is running' if is_live else 'did not end'} {tried}"
    when = f"{tried}, at {moment(binary.ended, now)}"
    if binary.reason:
        return f"failed with {binary.reason} {when}"
    if binary.signal is not None:
        return f"was ended by signal {binary.signal} {when}"
    return f"ended with exit code {binary.exit_code} {when}"


def _of_phase(phase: Phase) -> Callable[[Subject], None]:
    """Return the function of a phase; only its module is imported, as imports take longest."""
    status = STATUS_OF[phase]
    if phase is Phase.WAITING:
        from d0ctl.show.why.phases.waiting import waiting

        return waiting
    if status in (Status.UNSCHEDULED, Status.SCHEDULED):
        from d0ctl.show.why.phases import unscheduled

        return {
            Phase.READY: unscheduled.ready,
            Phase.COOLOFF: unscheduled.cooloff,
            Phase.HELD: unscheduled.held,
            Phase.ASSIGNED: unscheduled.assigned,
        }[phase]
    if status is Status.LAUNCHED:
        from d0ctl.show.why.phases import launched

        return {
            Phase.KILLING: launched.killing,
            Phase.UNREACHABLE: launched.unreachable,
            Phase.TRANSFERRING: launched.transferring,
        }.get(phase, launched.live)
    if phase is Phase.DONE:
        from d0ctl.show.why.phases.successful import done

        return done
    from d0ctl.show.why.phases import ended

    return ended.failed if phase is Phase.FAILED else ended.canceled
