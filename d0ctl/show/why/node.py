"""Why a node is in its state, and which packages use it."""

import math
from shlex import quote

from d0ctl.model import CANNOT_RUN, NEWER_HOME, OTHER_DAEMON, Node, Phase
from d0ctl.select import parse
from d0ctl.show import direct_streams
from d0ctl.show.drawing.remark_texts import drain_note
from d0ctl.show.why.common import MOST, Explanation, full_disk, gone_for_good, usage
from d0ctl.show.why.phases import node_pauses
from d0ctl.show.why.production import overflow
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Store
from d0ctl.store.files import inventory
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.nodes.registry import named
from d0ctl.store.nodes.site import other_home, overflows, setting
from d0ctl.store.nodes.standstill import node_views, production
from d0ctl.store.views import browse, dependencies
from d0ctl.units import clean, count, duration, moment, size

FOUND_S = 7 * 86400.0
"""How long the findings of an inventory, and failures that others had not, are shown."""

NOUNS = {
    "vanished": ("copy was removed, but not by d0ctl", "copies were removed, but not by d0ctl"),
    "changed": ("copy was changed, but not by d0ctl", "copies were changed, but not by d0ctl"),
    "since-backup": (
        "copy was missing or changed after a backup was restored",
        "copies were missing or changed after a backup was restored",
    ),
    "unknown": ("unknown file is in its cache", "unknown files are in its cache"),
}
"""The findings of inventories, for one file and for several."""


def node(store: Store, name: str, now: float) -> Explanation:
    """Explain why a node takes packages or does not. Raises NotFound."""
    row = named(store, name)
    room = next(room for room in registry.capacities(store) if room.id == row.id)
    explanation = Explanation(name, row.state, "")
    free, has_short_disk = row.cpus - room.used, _has_short_disk(store, name)
    if row.state == "down":
        explanation.answer = (f"node `{name}` has been down since {moment(row.since, now)}: "
                       f"{row.last_error or 'it does not answer'}")  # fmt: skip
        if soon := node_pauses.next_try(row, now):
            explanation.facts.append(f"{soon}, or at once after `node check`")
        if not (is_driven := any_driver(store)):
            explanation.facts.append("no daemon is running, so nothing tries to reach it")
        if row.drained:
            note = f" ({drain_note(row.drain_note)})" if row.drain_note else ""
            explanation.facts.append(
                f"it is drained, too{note}: once it answers, it still takes no new packages"
            )
        if room.used:
            from d0ctl.show.why.phases.launched import until_given_up  # late: few nodes are down

            within = until_given_up(store, row.id, row.since or now, now)
            assigned = "; assigned ones have gone elsewhere" if is_driven else ""
            explanation.facts.append(
                "its launched packages are unreachable, also those that were only starting: if it "
                f"does not answer {within}, they may run elsewhere{assigned}"
            )
            if bound := sum(row["node"] == name for row in dependencies.unreachable_bound(store)):
                own = "its" if bound == 1 else "their"
                explanation.facts.append(f"{count(bound, 'package')} of these can't: only nodes "
                                         f"that are down have {own} inputs")  # fmt: skip
        if (row.last_error or "").startswith(NEWER_HOME):
            explanation.facts.append(
                "a daemon here would delete what is newer there: go on in that home, or, to go on "
                "in this one all the same, back it up and restore it"
            )
        elif (row.last_error or "").startswith(OTHER_DAEMON):
            explanation.facts.append("only one daemon can drive a node: stop that one, or this one")
            explanation.commands.append(_stop_of_other(row))
        else:
            explanation.facts += _wrong_python(row)
            _ways_back(store, row, explanation)
    elif row.doubted is not None:
        _in_doubt(row, explanation, now)
    elif row.drained:
        node_pauses.drained(store, row, explanation, now)
        explanation.commands.append(f"d0ctl node resume {name}")
    elif row.state == "unknown":
        _not_contacted(store, row, explanation, now)
    elif has_short_disk:
        explanation.answer = (f"node `{name}` is up, but takes no new packages: its disk has less "
                              "free space than its reserve")  # fmt: skip
    elif free <= 0:
        explanation.answer = f"node `{name}` is up and full"
    else:
        explanation.answer = f"node `{name}` is up, with {free:g} of {count(row.cpus, 'slot')} free"
        _throttle(store, row, explanation, now)
        explanation.facts += _ready_packages(store, name, now)
    if room.used:
        explanation.facts.append(usage(store, room))
    if row.drained or row.state == "down":
        _add_needed_files(store, row, explanation)
    if row.clock:
        explanation.facts.append(_wrong_clock(row))
    if full := full_disk(row):
        explanation.facts.append(full)
        explanation.commands.append(f"d0ctl node check {name}")
    if has_short_disk:
        _add_short_disk(store, row, explanation, is_used=bool(room.used))
    if row.state == "up" and not row.drained:
        node_pauses.add_pauses(store, row, explanation, now)
    _failures(store, row, explanation, now)
    _blocked(store, row.cluster_id, explanation, is_away=row.state != "up")
    for overflowing in overflows(store, now, row.cluster_id):
        warning = overflow(overflowing, now)
        explanation.facts.append(warning.text)
        explanation.commands += warning.commands
    explanation.facts += _finding_facts(store, row, now)
    explanation.facts += direct_streams.lines(store, row.id, name)
    node_pauses.add_drainings(store, name, explanation, now)
    node_pauses.add_outages(store, name, explanation, now)
    return explanation


def _add_needed_files(store: Store, row: Node, explanation: Explanation) -> None:
    """Say which files only it has, and that packages wait for them while it is off."""
    from d0ctl.store.clusters import only_copies  # late: most nodes are up

    is_up = row.state == "up"
    if needed := only_copies.needed(store, row):
        until = (
            "until the node answers" if row.state == "down" else "while the node is switched off"
        )
        explanation.facts.append(needed.awaited(until, can_save=is_up))
    lost = only_copies.of_node(store, row)
    if lost and (retained := lost.retained_files(can_save=is_up)):
        explanation.facts.append(f"only it has {retained}")


def _throttle(store: Store, row: Node, explanation: Explanation, now: float) -> None:
    """Add the throttle that keeps a node with free slots from taking packages, if one does."""
    if not setting(store, "throttles"):
        return
    from d0ctl.show.why.causes import throttle_limits  # late: few sites have throttles

    if used := throttle_limits.of_node(store, row.id, row.name, now):
        explanation.answer += f", but {throttle_limits.on_node(store, used, now)}"
        throttle_limits.add_commands(explanation, used.throttle)


def _has_short_disk(store: Store, name: str) -> bool:
    """Return whether less than its reserve is free on the disk of a node that is up."""
    disk = next((view.disk for view in node_views(store) if view.name == name), None)
    return disk is not None and disk.reserve is not None


def _add_short_disk(store: Store, row: Node, explanation: Explanation, *, is_used: bool) -> None:
    """Say what a disk below its reserve means for packages, and which commands help."""
    if is_used:
        explanation.facts.append("its packages are suspended until more space is free")
    explanation.commands.append(f"d0ctl report disk {row.cluster}")
    from d0ctl.store.jobs import unneeded_files  # late: few disks are full

    wanted = registry.below_reserve(store)[row.id]
    removable = sum(copy.size for copy in unneeded_files.copies_to_remove(store, row.id, wanted))
    if removable >= wanted:
        command = f"d0ctl node free {row.name} {math.ceil(wanted / 1e6)}MB"
        explanation.commands.append(command)
    else:
        most = f"only {size(removable)}" if removable else "nothing"
        explanation.facts.append(
            f"`node free` can remove {most} there of the {size(wanted)} that its reserve lacks: "
            "free space by hand"
        )


def _stop_of_other(row: Node) -> str:
    """Return what to type on its host to stop the daemon that drives a node."""
    host, _, home = clean((row.last_error or "").removeprefix(OTHER_DAEMON)).partition(" ")
    return f"d0ctl --home {quote(home)} daemon stop   # on {host}"


def _wrong_python(row: Node) -> list[str]:
    """Name the python of a node that can't run the relay, if a person named it."""
    if not row.python or CANNOT_RUN not in (row.last_error or ""):
        return []
    return [f"its python is `{row.python}`, from --python of `node add` or `python` in the site "
            "file: is it a Python 3.6 or newer?"]  # fmt: skip


def _ways_back(store: Store, row: Node, explanation: Explanation) -> None:
    """Add what may bring a node back that is down."""
    if row.destination and store.home.login_to(row.destination).is_dir():
        explanation.commands.append(f"d0ctl node login {row.name}   # if its login has ended")
    if (row.last_error or "").startswith("the host key of "):
        explanation.commands.append(f"d0ctl node accept-key {row.name}   # if that is its new key")
    explanation.commands.append(f"d0ctl node check {row.name}")
    is_used = bool(registry.launched_on(store, row.id))
    explanation.commands.append(gone_for_good(row.name, is_used=is_used))


def _failures(store: Store, row: Node, explanation: Explanation, now: float) -> None:
    """Add the stages whose packages fail here and succeed elsewhere."""
    since = now - FOUND_S
    worse = node_record.worse_than_elsewhere(store, row.id, since=since, limit=MOST)
    for stage in worse:
        here, elsewhere = stage.failed + stage.successful, stage.others + stage.others_failed
        explanation.facts.append(
            f"{stage.failed} of {count(here, 'attempt')} of `{stage.path}` failed here, the last "
            f"one {moment(stage.last, now)}; on other nodes {stage.others} of {elsewhere} succeeded"
        )
    if worse:
        explanation.facts.append(
            "nodes are compared by the attempts since the last retry in the job, or since the node "
            "was last drained and resumed, also by failures that do not count as tries; those on "
            "removed nodes, and of packages that had failed alike elsewhere, are left out"
        )
        explanation.commands.append(f"d0ctl report failures --node {row.name}")
        node_pauses.add_new_start(row, explanation)


def _wrong_clock(row: Node) -> str:
    """Say by how much the clock of a node differs from the one here."""
    ahead = "ahead of" if row.clock > 0 else "behind"
    return (f"its clock is {duration(abs(row.clock))} {ahead} the clock of this machine; "
            "times of its packages are corrected")  # fmt: skip


def _ready_packages(store: Store, name: str, now: float) -> list[str]:
    """Say why ready packages, one of each job, are not on a node with free CPUs."""
    from d0ctl.show.why.package import package  # late: most questions are not about nodes

    jobs = [job.id for job in production(store, now=now).jobs if job.work.ready]
    ready = [row for job in jobs[:MOST] for row in browse.in_phases(store, job, [Phase.READY], 1)]
    if not ready:
        return ["no package is ready"]
    facts = []
    for row in ready:
        why = package(store, browse.package(store, parse(row.path)), now)
        nodes = {node["node"]: node["against"] for node in why.details.get("nodes", ())}
        against = nodes.get(name)
        reason = f"the node {against}" if against else why.reason or why.answer
        facts.append(f"`{row.path}` is ready: {reason}")
    return facts


def _in_doubt(row: Node, explanation: Explanation, now: float) -> None:
    """Explain a node most of whose cache is missing."""
    since = moment(row.doubted, now)
    explanation.answer = (
        f"the cache of node `{row.name}` has been in doubt since {since}: "
        "most of its files are missing, so the node takes no new packages"
    )
    explanation.facts += [
        *([row.drain_note] if row.drain_note else []),
        "is its disk mounted? d0ctl looks each minute: if the files are back, the node continues",
        "until then no file there counts as lost",
    ]
    explanation.commands.append(
        f"d0ctl node accept-loss {row.name}   # if the files are gone for good"
    )


def _finding_facts(store: Store, row: Node, now: float) -> list[str]:
    """Say when its cache was last compared, and the findings of the last week."""
    if row.surveyed is None:
        return []
    facts = [f"its cache was last compared with the records at {moment(row.surveyed, now)}"]
    for finding in inventory.of_node(store, row.id, since=now - FOUND_S):
        number = count(finding.n, *NOUNS[finding.finding])
        facts.append(
            f"{number}, such as {finding.example}, noticed at {moment(finding.noticed, now)}"
        )
    return facts


def _not_contacted(store: Store, row: Node, explanation: Explanation, now: float) -> None:
    """Explain a node without contact: never reached, or no daemon is running."""
    name, is_driven = row.name, any_driver(store)
    if row.contact is None:
        explanation.answer = f"node `{name}` was not contacted yet"
    else:
        last = moment(row.contact, now)
        explanation.answer = f"node `{name}` is not in contact (last reached at {last})"
    explanation.answer += "" if is_driven else ": no daemon is running"
    explanation.commands.append(f"d0ctl node check {name}")
    copied = None if is_driven else other_home(store)
    if copied is not None:
        from d0ctl.show.why.production import undriven  # late: few homes are copies

        explanation.facts.append(undriven(copied, now))
    elif not is_driven:
        explanation.commands.append("d0ctl daemon start")


def _blocked(store: Store, cluster: int, explanation: Explanation, *, is_away: bool) -> None:
    for row in dependencies.transfers_to(store, cluster, MOST):
        where = "to be copied" if is_away or row["is_away"] else "being copied"
        error = f": {row['last_error']}" if row["last_error"] else ""
        explanation.facts.append(f"file `{row['name']}` is {where} to it{error}")
