"""Orders to nodes: launch, end, bring and fetch files, remove what is not needed."""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from d0ctl.daemon.control import Control, Key, Order
from d0ctl.daemon.steps.monitor import kills
from d0ctl.errors import Refused
from d0ctl.nodes import carry
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier, Weight, launch
from d0ctl.nodes.link import Link
from d0ctl.store.attempts import launches
from d0ctl.store.connection import Row
from d0ctl.store.files import copies
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import registry
from d0ctl_wrapper.protocol import locator as locators
from d0ctl_wrapper.protocol.locator import OnNode

LAUNCHES = 500
"""The most launches a node gets in one turn."""

TRANSFERS = 200
"""With so many transfers under way at a node no more are begun there."""

BUSY_S = 2.0
"""How long a transfer is left alone that is under way, or that no node can make just now."""

PURGES = 500
"""The most things that a node is asked to remove in one turn."""

PURGE_AGAIN_S = 60.0
"""How long a node has to remove what it was asked to, before it is asked again."""

ORDER_AGAIN_S = 15.0
"""How long an order for an attempt may go without an answer before it is repeated."""

PAUSE_GRACE_S = 10.0
"""How long a binary has to pause by itself before it is stopped."""


def distribute(control: Control, now: float) -> None:
    """Launch on each node what is assigned to it, and end there what is to be ended."""
    for node in control.couriers:
        courier = control.courier(node)
        if courier is None:
            continue
        new = launches.launch(control.store, node, limit=LAUNCHES, now=now)
        if new:
            control.after(launch, courier, new)
        _kill(control, courier, now)
        _pause(control, courier, now)
        _purge(control, courier, now)


def _kill(control: Control, courier: Courier, now: float) -> None:
    wanted = launches.killing(control.store, courier.node)
    for order in kills(control.store, dict(_due(control, wanted.items(), now))):
        control.after(courier.order, order)


def _pause(control: Control, courier: Courier, now: float) -> None:
    """Ask for what people want of running packages, until the wrappers say that it is so."""
    wanted = launches.requested(control.store, courier.node)
    silent = [order for order in wanted.items() if order[1] == "resume" and order in control.ordered
              and now - control.ordered[order] > ORDER_AGAIN_S]  # fmt: skip
    launches.settle_resumed(control.store, [attempt for attempt, _ in silent])
    due = _due(control, wanted.items(), now)
    for kind, more in (("pause", {"grace": PAUSE_GRACE_S}), ("resume", {})):
        which = [attempt for attempt, request in due if request == kind]
        if which:
            control.after(courier.order, {"kind": kind, "attempts": which, **more})


def _due(control: Control, orders: Iterable[Order], now: float) -> list[Order]:
    """The orders that have not been given lately; they are now."""
    due = [order for order in orders if now - control.ordered.get(order, 0.0) > ORDER_AGAIN_S]
    if due:
        control.ordered = {one: at for one, at in control.ordered.items() if now - at < 3600.0}
        control.after(control.ordered.update, [(order, now) for order in due])
    return due


def _purge(control: Control, courier: Courier, now: float) -> None:
    """Ask a node to remove what is not needed, a bounded number at a time."""
    asked, _ = control.purging.get(courier.node, (0.0, []))
    if now - asked < PURGE_AGAIN_S:
        return
    rows = unneeded_files.removals(control.store, courier.node, PURGES)
    if rows:
        purge = [(row["id"], row["attempt_id"], row["path"]) for row in rows]
        order = {
            "kind": "forget",
            "attempts": [attempt for _, attempt, _ in purge if attempt is not None],
            "paths": [path for _, _, path in purge if path is not None],
        }
        control.after(control.purging.update, {courier.node: (now, purge)})
        control.after(courier.order, order)


def carry_files(control: Control, now: float) -> None:
    """Begin the transfers that can be made now, with a bounded number under way at each node.

    Those that can't stand aside, so that they are in no other's way.
    """
    loads = Counter(control.carrying.values())
    for row in copies.wanted(control.store, now=now, limit=2 * TRANSFERS):
        key = (row["file_id"], row["cluster_id"], row["result"])
        if key in control.carrying:
            copies.postpone(control.store, *key, until=now + BUSY_S)
        else:
            _carry_or_delay(control, loads, key, row, now)


def _carry_or_delay(control: Control, loads: Counter[int], key: Key, row: Row, now: float) -> None:
    """Begin a transfer; one whose target would be outside our folders is told and put off."""
    try:
        _carry(control, loads, key, row, now)
    except Refused as error:
        copies.delay(
            control.store, file=key[0], cluster=key[1], result=key[2], trouble=str(error), now=now
        )


def _carry(control: Control, loads: Counter[int], key: Key, row: Row, now: float) -> None:
    far = locators.on_node(row["locator"] or "") if row["package_id"] is None else None
    is_ours = row["package_id"] is None and far is None
    here = row["here"] or (row["name"] if is_ours else None)
    if key[1] != 1:
        if here is None:
            copies.want_here(control.store, *key, now=now)
        else:
            _bring(control, loads, key, row, here, now)
    elif here is None and far is not None:
        _fetch_outside(control, loads, key, row, far, now)
    elif here is None:
        _fetch(control, loads, key, row, now)
    elif _begin(control, loads, key, 0, now):
        control.after(control.copy_here, key, _copy(control, row, here, _target(control, row)))


def _begin(control: Control, loads: Counter[int], key: Key, node: int, now: float) -> bool:
    """Whether a node may carry one thing more; if so, this transfer is under way there."""
    copies.postpone(control.store, *key, until=now + BUSY_S)
    if loads[node] >= TRANSFERS:
        return False
    loads[node] += 1
    control.after(control.carrying.__setitem__, key, node)
    return True


def _copy(control: Control, row: Row, source: str, target: str) -> Copy:
    """What is to be copied; a file of the user's may be another each time, a copy of it may not."""
    aside, is_kept = _aside(control, target), control.home.is_in_cache(target)
    if row["package_id"] is None and source != row["here"]:
        return Copy(source, target, None, None, aside, is_kept)
    return Copy(source, target, row["size"], row["checksum"], aside, is_kept)


def _aside(control: Control, target: str) -> str:
    """Where a copy is made whole; beside its target, if that is none of our folders here."""
    found = (str(one) for one in control.home.asides if Path(target).is_relative_to(one.parent))
    return next(found, "")


def _target(control: Control, row: Row) -> str:
    """Where a copy on the control host goes: to the results, or on its way to another node."""
    if row["result"] and not row["is_result"]:
        far = locators.on_node(row["locator"])
        assert far is not None
        return far.path
    if row["result"]:
        return str(control.home.result(row["job"], row["name"]))
    return str(control.home.in_transit(row["job_id"], row["file_id"], row["name"]))


def _bring(
    control: Control, loads: Counter[int], key: Key, row: Row, here: str, now: float
) -> None:
    """To a node of the cluster that asked; or to the one that its locator names."""
    far = locators.on_node(row["locator"] or "") if key[2] else None
    for node in registry.in_cluster(control.store, key[1]):
        if far is not None and node["name"] != far.node:
            continue
        courier = control.courier(node["id"])
        target = f"{node['base'] or ''}/cache/in/{key[0]}/{Path(row['name']).name}"
        target = target if far is None else far.path
        if courier is None or unneeded_files.is_being_removed(control.store, target):
            continue
        if not _begin(control, loads, key, courier.node, now):
            continue
        copy = _copy(control, row, here, target)
        control.after(courier.errand, (key, copy), partial(_bring_errand, copy))
        return
    copies.postpone(control.store, *key, until=now + BUSY_S)


def _bring_errand(copy: Copy, courier: Courier, link: Link) -> Weight:
    return carry.bring(copy, courier, link)


def _fetch(control: Control, loads: Counter[int], key: Key, row: Row, now: float) -> None:
    """From a node that has it; if none ever can, its maker has to make it again."""
    sources = copies.copies(control.store, key[0])
    for source in sources:
        courier = control.courier(source["node_id"]) if source["node_id"] else None
        if courier is not None and _begin(control, loads, key, courier.node, now):
            copy = _copy(control, row, source["path"], _target(control, row))
            control.after(courier.errand, (key, copy), partial(_fetch_errand, copy))
            return
    if sources:
        copies.postpone(control.store, *key, until=now + BUSY_S)
    else:
        copies.lose(control.store, [(key[0], 0)], now=now)
        copies.postpone(control.store, *key, until=copies.PARKED)


def _fetch_outside(
    control: Control, loads: Counter[int], key: Key, row: Row, far: OnNode, now: float
) -> None:
    """From the node that its locator names."""
    place = registry.find(control.store, far.node)
    if place is None:
        trouble = f"there is no node `{far.node}`"
        copies.delay(
            control.store, file=key[0], cluster=key[1], result=key[2], trouble=trouble, now=now
        )
        return
    courier = control.courier(place["id"])
    if courier is None or not _begin(control, loads, key, courier.node, now):
        copies.postpone(control.store, *key, until=now + BUSY_S)
        return
    target = _target(control, row)
    asked = row["size_asked"], row["checksum_asked"]
    copy = Copy(far.path, target, *asked, _aside(control, target), is_kept=True)
    control.after(courier.errand, (key, copy), partial(_fetch_errand, copy))


def _fetch_errand(copy: Copy, courier: Courier, link: Link) -> Weight:
    return carry.fetch(copy, courier, link)


def forget_idle(control: Control, now: float) -> None:
    """Transfers that wait, for packages that went elsewhere, are not wanted any more."""
    copies.forget_idle(control.store)
