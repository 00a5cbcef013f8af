"""Why a package is not launched: ready, cooling off, held, or assigned to a node."""

from d0ctl.model import Phase, Reason
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.why.common import MOST, kept_back, speed
from d0ctl.show.why.phases import recovery
from d0ctl.show.why.phases.free_slots import why_not_taken
from d0ctl.show.why.phases.node_pauses import has_room
from d0ctl.show.why.stopped_job import in_quotes
from d0ctl.show.why.subject import Subject, continue_job, job_hold, suggest_log
from d0ctl.store.files import links
from d0ctl.store.lifecycle import PackageRequest
from d0ctl.store.nodes.holder import drives
from d0ctl.store.nodes.registry import capacities
from d0ctl.store.views import dependencies, one_package
from d0ctl.store.views.shapes.of_package import AttemptView
from d0ctl.units import count, duration, iso, moment, size

FAILS_AGAIN = "released as it is, it would most likely fail again"


def ready(subject: Subject) -> None:
    """Explain a package that no node has taken yet."""
    explanation = subject.explanation
    if why := kept_back(subject.job, subject.now):
        explanation.reason = why[0]
        explanation.answer = f"{subject.name} is ready, but {explanation.reason}"
        continue_job(subject, why[1])
        return
    explanation.reason = why_not_taken(subject)
    explanation.answer = f"{subject.name} is ready, and {explanation.reason}"
    is_retry = subject.package.request == PackageRequest.RESUBMIT
    if not _remade(subject) and subject.package.note and not is_retry:
        subject.fact(f"it was put back: {remark(subject.package.note)}")
    _failed_before(subject)


def _failed_before(subject: Subject) -> None:
    """Say where and why its last attempt failed, if it did."""
    tries = one_package.attempts(subject.store, subject.package.id)
    if not tries or tries[-1].outcome not in ("failed", "lost"):
        return
    last = tries[-1]
    why = ": ".join(word for word in (last.reason, last.message) if word)
    when = moment(last.ended, subject.now)
    subject.fact(f"its last attempt failed on `{last.node_name}`, {when}: {why}")
    suggest_log(subject, last)


def _remade(subject: Subject) -> bool:
    """Add that a package that had succeeded runs again, and why; return whether it does."""
    events = one_package.events(subject.store, subject.package.id)
    back = [event for event in events if event.old in (Phase.DONE, Phase.TRANSFERRING)]
    is_again = bool(back) and back[-1].new != Phase.DONE
    if is_again:
        by = f"{back[-1].actor}: " if back[-1].actor else ""
        when = moment(back[-1].at, subject.now)
        subject.fact(f"it runs again since {when}: {by}{remark(back[-1].note)}")
    return is_again


def cooloff(subject: Subject) -> None:
    """Explain a package that waits until it is retried."""
    package = subject.package
    left = duration((package.not_before or subject.now) - subject.now)
    subject.explanation.answer = (
        f"{subject.name} is {recovery.cooling(package.not_before, package.note, subject.now)}"
    )
    subject.explanation.facts += recovery.found_inputs(subject.store, package)
    subject.fact(f"it will be retried in {left}")
    from d0ctl.show.why.causes import inputs_away  # late: few packages cool off

    inputs_away.add(subject)
    subject.explanation.details["until"] = iso(package.not_before)
    if package.avoid:
        from d0ctl.show.why.causes.untried_nodes import untried  # late: few packages cool off

        last, *_ = avoid = package.avoid.split()
        subject.fact(f"not on {in_quotes(avoid)} if another node can take it")
        attempts = one_package.attempts(subject.store, package.id)
        if attempts and (others := untried(subject.store, package, attempts[-1])):
            subject.fact(others.fact)
        if attempts and attempts[-1].reason == Reason.DISK_FULL:
            subject.command(f"d0ctl node check {last}")
            nodes = capacities(subject.store)
            spare = next((node.disk_spare for node in nodes if node.name == last), None)
            taken = one_package.peak_disk(subject.store, attempts[-1].id)
            if has_room(spare, taken, attempts[-1].ended or subject.now, subject.now):
                room = f"`{last}` has room for {size(spare)} now"
                subject.fact(f"{room}: `retry` does not wait until then")
    subject.explanation.commands += [
        f"d0ctl {verb} {package.path}" for verb in ("retry", "hold", "policy show")
    ]
    job_hold(subject)


def held(subject: Subject) -> None:
    """Explain a held or paused package."""
    package = subject.package
    is_by_policy = package.actor == recovery.BY_POLICY
    by = f" by {'the policy' if is_by_policy else package.actor}" if package.actor else ""
    note = remark(package.note)
    why = f": {note}" if note else ""
    state = "paused" if package.parked else "held"
    subject.explanation.answer = f"{subject.name} has been {state}{by} since {subject.since()}{why}"
    tries = one_package.attempts(subject.store, package.id) if is_by_policy else []
    if tries:
        _more_first(subject, tries[-1])
    subject.command(f"d0ctl {'resume' if package.parked else 'release'} {package.path}")
    subject.explanation.details["held"] = {
        "by": package.actor,
        "since": iso(package.changed),
        "reason": note,
        "until": iso(package.not_before),
    }
    if fact := recovery.held(package.actor, package.not_before, subject.now):
        subject.fact(fact)
    if is_by_policy:
        from d0ctl.show.why.advice import DETERMINISTIC  # late: few packages are held by a policy

        if tries and tries[-1].reason in DETERMINISTIC:
            subject.fact(FAILS_AGAIN)
        if tries:
            suggest_log(subject, tries[-1])
        subject.command(f"d0ctl policy show {package.path}")
    job_hold(subject)


def _more_first(subject: Subject, last: AttemptView) -> None:
    """Add what gives a package more of what its last attempt ran out of, before a release."""
    if last.reason not in (Reason.OUT_OF_MEMORY, Reason.WALL_TIME, Reason.DISK_FULL):
        return
    from d0ctl.show.why.advice import advice  # late: few packages are held by a policy

    package, advised = subject.package, advice(subject.store, subject.package, last)
    subject.explanation.facts += advised.facts
    has = {"--memory": package.memory, "--disk": package.disk, "--wall-time": package.wall_time}
    if advised.more and advised.more.amount > (has[advised.more.option] or 0):
        subject.fact(FAILS_AGAIN)
        subject.command(f"d0ctl edit {package.path} {advised.more}")


def assigned(subject: Subject) -> None:
    """Explain a package that has a node and is not launched yet."""
    package, explanation = subject.package, subject.explanation
    moving = dependencies.transfers_for(subject.store, package.id, MOST)
    if package.staging and moving:
        from d0ctl.show.why.causes import inputs_away  # late: most have their inputs

        inputs = count(package.staging, "input is", "inputs are")
        explanation.answer = (
            f"{subject.name} will run on `{package.node}`, where {inputs} not yet present"
        )
        explanation.facts += inputs_away.facts_about(moving, package.staging)
        if recent := links.arriving(subject.store, package.node or ""):
            subject.fact(f"recent transfers to `{package.node}` ran at {speed(*recent)}")
        inputs_away.advise(subject, [file for file in moving if inputs_away.is_away(file)])
    else:
        explanation.answer = f"{subject.name} will run on `{package.node}` and is launched next"
        _archives(subject)
    if not drives(subject.store, subject.job.id):
        subject.fact("no daemon is running, so nothing launches it")
        subject.command("d0ctl daemon start")
    subject.command(f"d0ctl why {package.node}")


def _archives(subject: Subject) -> None:
    """Say that its software is being copied to the node, if it is."""
    rows = dependencies.archives_for(subject.store, subject.package.id)
    if rows:
        node = subject.package.node
        subject.explanation.answer = (
            f"{subject.name} will run on `{node}`, where its software is not yet present"
        )
    for row in rows:
        tries = count(row["tries"] or 0, "try", "tries")
        error = f", {tries} so far: {row['last_error']}" if row["last_error"] else ""
        subject.fact(f"software `{row['title']}` is being copied{error}")
