"""Why a package is where it is, one function a phase."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from d0ctl.model import Phase, Reason, Status
from d0ctl.show.why import recovery
from d0ctl.show.why.advice import Advice, advice
from d0ctl.show.why.common import MOST, Explanation, kept_back
from d0ctl.show.why.free_slots import room
from d0ctl.show.why.subject import Case, job_hold
from d0ctl.show.why.waiting import waiting, wants_of, ways_out
from d0ctl.store.connection import Store
from d0ctl.store.jobs import accept
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.site import default
from d0ctl.store.nodes.standstill import any_driver
from d0ctl.store.views import browse, dependencies
from d0ctl.store.views.dependencies import Transfer
from d0ctl.store.views.left_out import shortfall
from d0ctl.store.views.shapes import AttemptView, BinaryView, PackageView
from d0ctl.units import count, duration, iso, listed, moment, size


def package(store: Store, one: PackageView, now: float) -> Explanation:
    """Why a package is where it is."""
    job = browse.job(store, one.job)
    told = Explanation(one.path, one.status, "", phase=one.phase)
    _PHASES[Phase(one.phase)](Case(store, one, job, told, now))
    if one.request and one.phase != "killing" and not one.request.endswith(one.note or "\n"):
        told.facts.append(f"a request: {one.request}")
    if short := shortfall(store, one.id, one.path):
        told.facts.append(f"it {'ran' if one.attempts else 'goes'} with {short.sentence()}")
    return told


def binary(store: Store, one: PackageView, number: int, now: float) -> Explanation:
    """Why a binary of a package is where it is. Raises NotFound."""
    found = browse.binary(store, one, number)
    whole = package(store, one, now)
    name = f"binary {number} ({found.name}) of `{one.path}`"
    answer = f"{name} {_how_it_went(found, one, now)}"
    return replace(whole, path=f"{one.path}/{number}", answer=answer,
                   facts=[whole.answer, *whole.facts],
                   commands=[*whole.commands, f"d0ctl logs {one.path}/{number}"])  # fmt: skip


def _how_it_went(found: BinaryView, one: PackageView, now: float) -> str:
    """What became of a binary, in the attempt that ran it last."""
    if found.attempt is None:
        return "has not run yet" if one.status != Status.SUCCESSFUL else "has no record of a run"
    tried = f"in attempt {found.attempt}"
    if found.ended is None:
        is_live = one.status == Status.LAUNCHED and found.attempt == one.attempts
        return f"{'is running' if is_live else 'did not end'} {tried}"
    when = f"{tried}, at {moment(found.ended, now)}"
    if found.reason:
        return f"failed with {found.reason} {when}"
    if found.signal is not None:
        return f"was ended by signal {found.signal} {when}"
    return f"ended with exit code {found.exit_code} {when}"


def _ready(case: Case) -> None:
    told = case.told
    if why := kept_back(case.job, case.now):
        told.answer = f"{case.name} is ready, but {why[0]}"
        told.commands.append(why[1])
        return
    told.answer = f"{case.name} is ready, and {room(case)}"
    if not _made_again(case) and case.package.note:
        told.facts.append(f"it was put back: {case.package.note}")


def _made_again(case: Case) -> bool:
    """Tell that what had succeeded runs again, and why, if that is so."""
    events = browse.events(case.store, case.package.id)
    back = [event for event in events if event.old in (Phase.DONE, Phase.TRANSFERRING)]
    is_again = bool(back) and back[-1].new != Phase.DONE
    if is_again:
        by = f"{back[-1].actor}: " if back[-1].actor else ""
        case.told.facts.append(f"it is made again, {moment(back[-1].at, case.now)}: "
                               f"{by}{back[-1].note}")  # fmt: skip
    return is_again


def _cooloff(case: Case) -> None:
    one = case.package
    left = duration((one.not_before or case.now) - case.now)
    case.told.answer = f"{case.name} is {recovery.cooling(one.not_before, one.note, case.now)}"
    case.told.facts.append(f"it is tried again in {left}")
    case.told.details["until"] = iso(one.not_before)
    if one.avoid:
        case.told.facts.append(f"not on `{one.avoid}` if another node can take it")
    case.told.commands += [f"d0ctl {verb} {one.path}" for verb in ("retry", "hold", "policy show")]
    job_hold(case)


def _held(case: Case) -> None:
    one = case.package
    is_ours = one.actor == recovery.BY_POLICY
    by = f" by {'the policy' if is_ours else one.actor}" if one.actor else ""
    why = f": {one.note}" if one.note else ""
    held = "paused" if one.parked else "held"
    case.told.answer = f"{case.name} is {held}{by} since {case.since()}{why}"
    case.told.commands.append(f"d0ctl {'resume' if one.parked else 'release'} {one.path}")
    case.told.details["held"] = {"by": one.actor, "since": iso(one.changed), "reason": one.note,
                                 "until": iso(one.not_before)}  # fmt: skip
    if fact := recovery.held(one.actor, one.not_before, case.now):
        case.told.facts.append(fact)
    if is_ours:
        case.told.commands.append(f"d0ctl policy show {one.path}")


def _assigned(case: Case) -> None:
    one, told = case.package, case.told
    moving = dependencies.transfers_for(case.store, one.id, MOST)
    if one.staging and moving:
        bringing = count(one.staging, "input is", "inputs are")
        told.answer = f"{case.name} is to run on `{one.node}`, where {bringing} still to come"
        told.facts += [_fetch(file) for file in moving]
        told.commands += [f"d0ctl node check {file.source}" for file in moving if _is_away(file)]
    else:
        told.answer = f"{case.name} is to run on `{one.node}` and is launched next"
        _archives(case)
    if not any_driver(case.store):
        told.facts.append("no daemon is running, so nothing launches it")
        told.commands.append("d0ctl daemon start")
    told.commands.append(f"d0ctl why {one.node}")


def _archives(case: Case) -> None:
    """Tell that its software is on its way, if it is."""
    rows = dependencies.archives_for(case.store, case.package.id)
    if rows:
        case.told.answer = (
            f"{case.name} is to run on `{case.package.node}`, where its software is still to come"
        )
    for row in rows:
        tries = count(row["tries"] or 0, "try", "tries")
        trouble = f", {tries} so far: {row['trouble']}" if row["trouble"] else ""
        case.told.facts.append(f"software `{row['title']}` is on its way{trouble}")


def _fetch(file: Transfer) -> str:
    """An input that is to be brought: on its way only if the node that has it answers."""
    if not _is_away(file):
        return _transfer(file.name, file.tries, file.trouble)
    trouble = f": {file.source_trouble}" if file.source_trouble else ""
    return f"file `{file.name}` can't be brought: node `{file.source}` is down{trouble}"


def _is_away(file: Transfer) -> bool:
    return file.source_state == "down"


def _transfer(name: str, tries: int, trouble: str | None) -> str:
    problem = f", {count(tries, 'try', 'tries')} so far: {trouble}" if trouble else ""
    return f"file `{name}` is on its way{problem}"


def _live(case: Case) -> None:
    one, told = case.package, case.told
    tries = browse.attempts(case.store, one.id)
    since = f" for {duration(case.now - tries[-1].started)}" if tries and tries[-1].started else ""
    told.answer = f"{case.name} is {one.phase} on `{one.node}`{since}"
    if one.phase == Phase.SUSPENDED and one.note:
        told.facts.append(f"because: {one.note}")
    if len(tries) > 1:
        told.facts.append(f"this is attempt {tries[-1].number}, a {tries[-1].kind}")
    told.commands += [f"d0ctl logs {one.path}", f"d0ctl kill {one.path}"]
    _open_list(case)


def _open_list(case: Case) -> None:
    """What one that started early still waits for."""
    row = dependencies.input_list(case.store, case.package.id)
    if row is None or row["early"] != 1 or not row["awaited"]:
        return
    more = count(row["awaited"], "more input")
    case.told.facts.append(f"it started early, and takes no cpu while it waits for {more}")
    wants = wants_of(case.store, case.package.id)
    case.told.facts += [f"it waits for {want.words}" for want in wants[:MOST]]
    if wants and wants[0].hope == 0:
        ways_out(case.told, wants[0])


def _killing(case: Case) -> None:
    one, told = case.package, case.told
    deed = case.last_deed()
    by = f", as {deed.actor} asked at {moment(deed.at, case.now)}" if deed else ""
    told.answer = f"{case.name} is being killed on `{one.node}`{by}"
    if deed and deed.note:
        told.facts.append(f"because: {deed.note}")
    if (until := recovery.ends_by_itself_until(case.store, one)) is not None:
        told.facts.append(f"its binary may end by itself until {moment(until, case.now)}, "
                          "so that what it has made is kept")  # fmt: skip
    if one.request not in ("kill now", "drop now"):
        told.commands.append(f"d0ctl kill {one.path}   # ends it sooner")
    told.commands.append(f"d0ctl why {one.node}")


def _unreachable(case: Case) -> None:
    one = case.package
    case.told.answer = (f"{case.name} was launched on `{one.node}`, which does not answer "
                        f"since {case.since()}")  # fmt: skip
    if one.note:
        case.told.facts.append(f"because: {one.note}")
    case.told.facts.append("what runs there goes on, and is heard of when the node answers again")
    case.told.commands += [f"d0ctl node check {one.node}", f"d0ctl kill {one.path}"]


def _transferring(case: Case) -> None:
    rows = dependencies.results_of(case.store, case.package.id, MOST)
    case.told.answer = f"{case.name} has ended well; its results are being brought to results/"
    case.told.facts += [_transfer(*row) for row in rows]


def _done(case: Case) -> None:
    tries = browse.attempts(case.store, case.package.id)
    took = ""
    if tries and tries[-1].ended is not None and tries[-1].started is not None:
        took = f" in {duration(tries[-1].ended - tries[-1].started)} on `{tries[-1].node_name}`"
    case.told.answer = f"{case.name} is successful: it ended {case.since()}{took}"
    if len(tries) > 1:
        case.told.facts.append(f"it took {count(len(tries), 'attempt')}")
    case.told.commands.append(f"d0ctl status {case.package.path}")


def _failed(case: Case) -> None:
    one, told = case.package, case.told
    tries = browse.attempts(case.store, one.id)
    last = tries[-1] if tries else None
    words = [word for word in (last and last.reason, last and last.message) if word]
    told.answer = f"{case.name} failed: {': '.join(words) or one.note or 'for no known reason'}"
    if last:
        binary = f" in binary {last.binary}" if last.binary else ""
        told.facts.append(f"on node `{last.node_name}`, {moment(last.ended, case.now)}{binary}, "
                          f"attempt {last.number}")  # fmt: skip
        said = (last.stderr or "").strip()
        told.stderr = None if said and said in (last.message or "") else last.stderr
    consumers = dependencies.consumers_of(case.store, one.id, MOST)
    if consumers:
        more = " and others" if len(consumers) == MOST else ""
        names = listed(f"`{path}`" for path in consumers)
        told.facts.append(f"its files are waited for by {names}{more}")
    told.facts += recovery.refusal(case.store, one, last)
    acceptable = _left(case, tries)
    found = advice(case.store, one, last)
    told.facts += found.facts
    if last:
        told.commands.append(f"d0ctl logs {one.path}")
    _retry(case, found)
    if one.line_dropped is None:
        line = one.path.rpartition("/")[0]
        told.commands.append(f"d0ctl kill-line {line} --drop-outputs")
    if acceptable:
        told.commands.append(f"d0ctl set-status {one.path} successful")
    _doubt_software(case, last.node_name if last else None)


def _retry(case: Case, found: Advice) -> None:
    if found.options is not None:
        case.told.commands.append(f"d0ctl retry {case.package.path}{found.options}")


def _left(case: Case, tries: Sequence[AttemptView]) -> bool:
    """Say which outputs its attempts left, and until when; tell whether they may be accepted.

    Whatever a program left that could not even start is no result.
    """
    left = [one for one in tries if one.left_size is not None and one.ended is not None]
    if not left:
        return False
    last, told = left[-1], case.told
    until = (last.ended or 0.0) + default(case.store, "keep-failed")
    told.facts.append(f"its outputs ({size(last.left_size)}) stay on `{last.node_name}` until "
                      f"{moment(until, case.now)}")  # fmt: skip
    if case.package.stay:
        told.facts.append("a retry only delivers them; with --from-scratch it makes them again")
        return False
    is_result = last.reason != Reason.SOFTWARE_MISSING
    return is_result and accept.is_acceptable(case.store, case.package.id)


def _doubt_software(case: Case, node: str | None) -> None:
    """Offer to verify the files of its software on the node where it failed."""
    catalogue = Catalogue(case.store)
    for title in json.loads(case.package.software):
        if node and any(row["archive"] for row in catalogue.entries(title)):
            case.told.commands.append(f"d0ctl software verify {title} --node {node}")


def _canceled(case: Case) -> None:
    one, deed = case.package, case.last_deed()
    word = "dropped" if one.phase == "dropped" else "canceled"
    by = f" by {deed.actor}, {moment(deed.at, case.now)}" if deed else f", {case.since()}"
    note = (deed.note if deed else None) or one.note
    case.told.answer = f"{case.name} was {word}{by}" + (f": {note}" if note else "")
    if one.line_named:
        case.told.facts.append("its line is dropped: the rest goes on without its files")
    elif one.phase == "dropped":
        case.told.facts.append("what it needs was dropped")
    if one.phase == "canceled":
        found = advice(case.store, one, None)
        case.told.facts += found.facts
        _retry(case, found)
    elif one.line_named:
        case.told.commands.append(f"d0ctl restore-line {one.path.rpartition('/')[0]}")
    case.told.commands.append(f"d0ctl history {one.path}")


_PHASES: Mapping[Phase, Callable[[Case], None]] = {
    Phase.WAITING: waiting, Phase.READY: _ready, Phase.COOLOFF: _cooloff, Phase.HELD: _held,
    Phase.ASSIGNED: _assigned, Phase.STARTING: _live, Phase.STAGING_IN: _live,
    Phase.RUNNING: _live, Phase.SUSPENDED: _live, Phase.KILLING: _killing,
    Phase.UNREACHABLE: _unreachable, Phase.TRANSFERRING: _transferring, Phase.DONE: _done,
    Phase.FAILED: _failed, Phase.CANCELED: _canceled, Phase.DROPPED: _canceled,
}  # fmt: skip
