"""Why a package is where it is, one function a phase."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from d0ctl.explain.common import MOST, Explanation, against, any_driver, kept_back, takers
from d0ctl.format import count, duration, listed, moment
from d0ctl.model import Phase
from d0ctl.schedule.place import Demand
from d0ctl.store import browse
from d0ctl.store.catalogue import Catalogue
from d0ctl.store.connection import Row, Store
from d0ctl.store.left_out import shortfall
from d0ctl.store.views import EventView, JobSummary, PackageView


def package(store: Store, one: PackageView, now: float) -> Explanation:
    """Why a package is where it is."""
    job = browse.job(store, one.job)
    told = Explanation(one.path, one.status, "", phase=one.phase)
    _PHASES[Phase(one.phase)](_Case(store, one, job, told, now))
    if one.request and one.phase != "killing" and not one.request.endswith(one.note or "\n"):
        told.facts.append(f"a request: {one.request}")
    if short := shortfall(store, one.id, one.path):
        told.facts.append(f"it goes with {short.sentence()}")
    return told


MOST_LOOKED_AT = 200
"""How many missing files are looked at for the most telling ones."""


MOST_FOLLOWED = 60
"""How many packages are asked what they wait for, up the chain."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A package to explain, and the explanation to fill."""

    store: Store
    package: PackageView
    job: JobSummary
    told: Explanation
    now: float

    @property
    def name(self) -> str:
        return f"package `{self.package.path}`"

    def last_deed(self) -> EventView | None:
        """The last change that a person made to it."""
        events = browse.events(self.store, self.package.id)
        return next((event for event in reversed(events) if event.actor), None)

    def since(self) -> str:
        return moment(self.package.changed, self.now)


@dataclass(frozen=True, slots=True)
class _Want:
    """Something a package waits for, made by whom, in which phase it is, and how often used."""

    words: str
    maker: str | None
    phase: str | None
    package: int | None
    uses: int = 1

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


def _waiting(case: _Case) -> None:
    told, one = case.told, case.package
    wants = _wants(case.store, one.id)
    if not wants:
        told.answer = f"{case.name} waits for one of its many files"
        return
    verb = "is blocked: it waits" if case.job.blocked else "waits"
    told.answer = f"{case.name} {verb} for {wants[0].words}"
    told.facts += [f"it waits for {want.words}" for want in wants[1:MOST]]
    if (more := one.missing - sum(want.uses for want in wants[:MOST])) > 0:
        told.facts.append(f"and for {count(more, 'more file')}")
    _first_of_many(case)
    _job_hold(case)
    _required(case, wants[0])
    root = wants[0] if wants[0].phase != "waiting" else _root(case.store, wants)
    if root is not None and root is not wants[0]:
        told.facts.append(f"in the end it hangs on {root.origin}")
    _ways_out(told, root or wants[0])


def _first_of_many(case: _Case) -> None:
    row = case.store.row("input_list", package=case.package.id)
    if row is not None and row["early"] and row["awaited"] > 1:
        told = f"it starts with the first of {row['awaited']} inputs, and gets the others later"
        case.told.facts.append(told)


def _required(case: _Case, want: _Want) -> None:
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


def _wants(store: Store, package: int, limit: int = MOST_LOOKED_AT) -> list[_Want]:
    """What a package waits for, the least hopeful first."""
    wants = []
    before = store.row("before_in_line", package=package)
    if before is not None and before["phase"] not in ("done", "transferring"):
        words = f"package `{before['path']}` before it in its line, which is {before['phase']}"
        wants.append(_Want(words, before["path"], before["phase"], before["id"]))
    for row in store.rows("missing_inputs", package=package, limit=limit):
        wants.append(_Want(_file_waited_for(row), row["maker_path"], row["maker_phase"],
                           row["maker"], row["uses"]))  # fmt: skip
    return sorted(wants, key=lambda want: want.hope)


def _root(store: Store, wants: list[_Want]) -> _Want | None:
    """What is behind it all: up the chain from waiting makers, as far as a bounded search goes."""
    queue = [want.package for want in wants]
    seen: set[int] = set()
    best: _Want | None = None
    while queue and len(seen) < MOST_FOLLOWED:
        package = queue.pop(0)
        if package is None or package in seen:
            continue
        seen.add(package)
        for want in _wants(store, package, MOST):
            if want.hope == 0:
                return want
            if want.phase == "waiting":
                queue.append(want.package)
            elif best is None or want.hope < best.hope:
                best = want
    return best


def _ways_out(told: Explanation, want: _Want) -> None:
    """What to type about what is waited for."""
    if want.maker is None:
        return
    told.commands.append(f"d0ctl why {want.maker}")
    if want.hope == 0:
        line = want.maker.rpartition("/")[0]
        told.facts.append(f"line `{line}` can be dropped: what can do without it goes on")
        told.commands.append(f"d0ctl kill-line {line} --drop-outputs")


def _file_waited_for(row: Row) -> str:
    if row["maker_path"] is None:
        return f"file `{row['name']}`, which nothing makes any more"
    dropped = " and whose output is dropped" if row["file_dropped"] else ""
    return f"file `{row['name']}` of `{row['maker_path']}`, which is {row['maker_phase']}{dropped}"


def _job_hold(case: _Case) -> None:
    if why := kept_back(case.job, case.now):
        case.told.facts.append(why[0])
        case.told.commands.append(why[1])


def _ready(case: _Case) -> None:
    told = case.told
    if why := kept_back(case.job, case.now):
        told.answer = f"{case.name} is ready, but {why[0]}"
        told.commands.append(why[1])
        return
    told.answer = f"{case.name} is ready, and {_room(case)}"
    if case.package.note:
        told.facts.append(f"it was put back: {case.package.note}")


def _room(case: _Case) -> str:
    """Why no node has taken it yet; facts say it of each node."""
    one, told = case.package, case.told
    catalogue = Catalogue(case.store)
    demand = Demand(
        id=0, ready=1, cpus=one.cpus, memory=one.memory, platform=one.platform,
        nodes=json.loads(one.nodes), exclude_nodes=json.loads(one.exclude_nodes),
        software=catalogue.platforms(one.software),
        needs=catalogue.needs(one.software, one.needs),
    )  # fmt: skip
    fits, rows = [], case.store.rows("node_rooms")
    for row in rows:
        if objection := against(row, demand, case.now):
            told.facts.append(f"node `{row['name']}` {objection}")
        else:
            fits.append(row)
    if not rows:
        told.commands.append("d0ctl node add NAME [user@]host")
        return "there is no node at all"
    if not any_driver(case.store):
        told.commands += ["d0ctl daemon start", f"d0ctl run {one.job}"]
        return "nothing drives it: no daemon is running"
    if not fits:
        told.commands.append("d0ctl node list")
        return "no node can take it"
    free = [row for row in fits if row["cpus"] - row["used"] >= one.cpus]
    told.facts += [takers(case.store, row) for row in fits[:MOST] if row not in free]
    if not free:
        if len(fits) > MOST:
            return f"no slot is free on any of {len(fits)} nodes"
        return f"no slot is free on {listed('`' + row['name'] + '`' for row in fits)}"
    if first := case.store.value("ready_before", job=case.job.id):
        return f"job `{first}` of a higher priority comes first"
    names = listed((f"`{row['name']}`" for row in free[:MOST]), "or")
    return f"it starts on {names} as soon as its turn comes"


def _cooloff(case: _Case) -> None:
    one = case.package
    left = duration((one.not_before or case.now) - case.now)
    case.told.answer = f"{case.name} cools off and is tried again in {left}"
    if one.note:
        case.told.facts.append(f"because: {one.note}")
    _job_hold(case)


def _held(case: _Case) -> None:
    one = case.package
    by = f" by {one.actor}" if one.actor else ""
    why = f": {one.note}" if one.note else ""
    held = "paused" if one.parked else "held"
    case.told.answer = f"{case.name} is {held}{by} since {case.since()}{why}"
    case.told.commands.append(f"d0ctl {'resume' if one.parked else 'release'} {one.path}")


def _assigned(case: _Case) -> None:
    one, told = case.package, case.told
    moving = case.store.rows("transfers_for", package=one.id, limit=MOST)
    if one.staging and moving:
        bringing = count(one.staging, "input is", "inputs are")
        told.answer = f"{case.name} is to run on `{one.node}`, where {bringing} still to come"
        told.facts += [_transfer(row) for row in moving]
    else:
        told.answer = f"{case.name} is to run on `{one.node}` and is launched next"
        _archives(case)
    if not any_driver(case.store):
        told.facts.append("no daemon is running, so nothing launches it")
        told.commands.append("d0ctl daemon start")
    told.commands.append(f"d0ctl why {one.node}")


def _archives(case: _Case) -> None:
    """Tell that its software is on its way, if it is."""
    rows = case.store.rows("archives_under_way", package=case.package.id)
    if rows:
        case.told.answer = (
            f"{case.name} is to run on `{case.package.node}`, where its software is still to come"
        )
    for row in rows:
        tries = count(row["tries"] or 0, "try", "tries")
        trouble = f", {tries} so far: {row['trouble']}" if row["trouble"] else ""
        case.told.facts.append(f"software `{row['title']}` is on its way{trouble}")


def _transfer(row: Row) -> str:
    trouble = f", {count(row['tries'], 'try', 'tries')} so far: {row['trouble']}"
    return f"file `{row['name']}` is on its way{trouble if row['trouble'] else ''}"


def _live(case: _Case) -> None:
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


def _open_list(case: _Case) -> None:
    """What one that started early still waits for."""
    row = case.store.row("input_list", package=case.package.id)
    if row is None or row["early"] != 1 or not row["awaited"]:
        return
    more = count(row["awaited"], "more input")
    case.told.facts.append(f"it started early, and takes no cpu while it waits for {more}")
    wants = _wants(case.store, case.package.id)
    case.told.facts += [f"it waits for {want.words}" for want in wants[:MOST]]
    if wants and wants[0].hope == 0:
        _ways_out(case.told, wants[0])


def _killing(case: _Case) -> None:
    deed = case.last_deed()
    by = f", as {deed.actor} asked at {moment(deed.at, case.now)}" if deed else ""
    case.told.answer = f"{case.name} is being ended on `{case.package.node}`{by}"
    if deed and deed.note:
        case.told.facts.append(f"because: {deed.note}")
    case.told.commands.append(f"d0ctl why {case.package.node}")


def _unreachable(case: _Case) -> None:
    one = case.package
    case.told.answer = (f"{case.name} was launched on `{one.node}`, which does not answer "
                        f"since {case.since()}")  # fmt: skip
    if one.note:
        case.told.facts.append(f"because: {one.note}")
    case.told.facts.append("what runs there goes on, and is heard of when the node answers again")
    case.told.commands += [f"d0ctl node check {one.node}", f"d0ctl kill {one.path}"]


def _transferring(case: _Case) -> None:
    rows = case.store.rows("results_under_way", package=case.package.id, limit=MOST)
    case.told.answer = f"{case.name} has ended well; its results are being brought to results/"
    case.told.facts += [_transfer(row) for row in rows]


def _done(case: _Case) -> None:
    tries = browse.attempts(case.store, case.package.id)
    took = ""
    if tries and tries[-1].ended is not None and tries[-1].started is not None:
        took = f" in {duration(tries[-1].ended - tries[-1].started)} on `{tries[-1].node_name}`"
    case.told.answer = f"{case.name} is successful: it ended {case.since()}{took}"
    if len(tries) > 1:
        case.told.facts.append(f"it took {count(len(tries), 'attempt')}")
    case.told.commands.append(f"d0ctl status {case.package.path}")


def _failed(case: _Case) -> None:
    one, told = case.package, case.told
    tries = browse.attempts(case.store, one.id)
    last = tries[-1] if tries else None
    words = [word for word in (last and last.reason, last and last.message) if word]
    told.answer = f"{case.name} failed: {': '.join(words) or one.note or 'for no known reason'}"
    if last:
        binary = f" in binary {last.binary}" if last.binary else ""
        told.facts.append(f"on node `{last.node_name}`, {moment(last.ended, case.now)}{binary}, "
                          f"attempt {last.number}")  # fmt: skip
        told.stderr = last.stderr
    consumers = [row[0] for row in case.store.rows("waiting_consumers", package=one.id, limit=MOST)]
    if consumers:
        more = " and others" if len(consumers) == MOST else ""
        names = listed(f"`{path}`" for path in consumers)
        told.facts.append(f"its files are waited for by {names}{more}")
    told.commands += [f"d0ctl logs {one.path}", f"d0ctl retry {one.path}",
                      f"d0ctl kill-line {one.path.rpartition('/')[0]} --drop-outputs"]  # fmt: skip
    _doubt_software(case, last.node_name if last else None)


def _doubt_software(case: _Case, node: str | None) -> None:
    """Offer to look whether the files of its software are whole where it failed (`002`)."""
    catalogue = Catalogue(case.store)
    for title in json.loads(case.package.software):
        if node and any(row["archive"] for row in catalogue.entries(title)):
            case.told.commands.append(f"d0ctl software verify {title} --node {node}")


def _canceled(case: _Case) -> None:
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
        case.told.commands.append(f"d0ctl retry {one.path}")
    elif one.line_named:
        case.told.commands.append(f"d0ctl restore-line {one.path.rpartition('/')[0]}")
    case.told.commands.append(f"d0ctl history {one.path}")


_PHASES: Mapping[Phase, Callable[[_Case], None]] = {
    Phase.WAITING: _waiting, Phase.READY: _ready, Phase.COOLOFF: _cooloff, Phase.HELD: _held,
    Phase.ASSIGNED: _assigned, Phase.STARTING: _live, Phase.STAGING_IN: _live,
    Phase.RUNNING: _live, Phase.SUSPENDED: _live, Phase.KILLING: _killing,
    Phase.UNREACHABLE: _unreachable, Phase.TRANSFERRING: _transferring, Phase.DONE: _done,
    Phase.FAILED: _failed, Phase.CANCELED: _canceled, Phase.DROPPED: _canceled,
}  # fmt: skip
