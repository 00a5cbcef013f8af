"""Files that are no longer needed: removed from nodes and from this machine."""

import logging
import time
from functools import partial

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.steps.schedule import ready_requirements
from d0ctl.daemon.turn import Turn
from d0ctl.store.clusters import capacity, disk_forecast
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import full_caches, placement
from d0ctl.store.nodes.registry import below_reserve
from d0ctl.store.nodes.site import default
from d0ctl.units import count

CAPACITY_S = 60.0
"""How often the files in caches with a capacity are counted."""

CAPACITY_SHARE = 100
"""If that takes more than one part in so many of the time, they are counted less often."""

SPACE_S = 30.0
"""How often space is made on nodes below their reserve."""

FORECAST_S = 5.0
"""How often the fill levels of caches are forecast."""

FORECAST_SHARE = 200
"""That takes at most one part in so many of the time."""

log = logging.getLogger(__name__)

MOST_SWEPT = 1000
"""How many folders of a node's cache are compared with the database in one turn."""


def free_space(desk: Desk, turn: Turn) -> None:
    """Purge copies that are kept only while there is space, on nodes that need it.

    A wrapper whose disk is full suspends its binary and asks repeatedly (InGrid,
    "Response to Failures"). A node below its reserve gets no packages, so that none may ask.
    """
    if (began := time.monotonic()) >= desk.space_due:
        desk.space_due = began + SPACE_S
        desk.space_requests = below_reserve(desk.store) | desk.space_requests
    for node, size in desk.space_requests.items():
        purged = unneeded_files.make_space(desk.store, node, size, now=turn.now)
        if purged:
            copies = count(len(purged), "copy", "copies")
            log.info("node %s needs space: purged %s", desk.name_of(node), copies)
    desk.space_requests.clear()


def make_room(desk: Desk, turn: Turn) -> None:
    """Purge copies that are kept only while there is space, for ready packages that fit nowhere."""
    began = time.monotonic()
    if began < desk.room_due:
        return
    nodes = placement.nodes(desk.store, now=turn.now)
    wanted = ready_requirements(desk.store, desk.job)
    spare = partial(unneeded_files.spare_bytes, desk.store)
    for node, size in full_caches.space_to_make(desk.store, wanted, nodes, spare).items():
        purged = unneeded_files.make_space(desk.store, node, size, now=turn.now)
        copies = count(len(purged), "copy", "copies")
        log.info("packages need space on %s: purged %s", desk.name_of(node), copies)
    ended = time.monotonic()
    desk.room_due = ended + CAPACITY_SHARE * (ended - began)


def keep_capacities(desk: Desk, turn: Turn) -> None:
    """Count the files in caches that have a capacity, and purge copies that exceed it."""
    began = time.monotonic()
    if began < desk.capacity_due:
        return
    for full in capacity.count(desk.store):
        purged = unneeded_files.make_space(desk.store, full.node, full.excess, now=turn.now)
        if purged:
            copies = count(len(purged), "copy", "copies")
            log.info("the cache of %s is full: purged %s", full.name, copies)
    ended = time.monotonic()
    desk.capacity_due = ended + max(CAPACITY_S, CAPACITY_SHARE * (ended - began))


def foresee_caches(desk: Desk, turn: Turn) -> None:
    """Forecast how full caches become, and record which of them will overflow."""
    began = time.monotonic()
    if began < desk.forecast_due:
        return
    disk_forecast.keep(desk.store, disk_forecast.forecast(desk.store, now=turn.now), now=turn.now)
    ended = time.monotonic()
    desk.forecast_due = ended + max(FORECAST_S, FORECAST_SHARE * (ended - began))


def remove_unneeded(desk: Desk, turn: Turn) -> None:
    """Have copies removed that no package needs."""
    here = unneeded_files.clean_up(desk.store, now=turn.now)
    if here:
        turn.after(desk.home.forget_copies, here)


def sweep_caches(desk: Desk, turn: Turn) -> None:
    """Have unneeded folders removed from caches of nodes, a few per turn."""
    for node, attempts in list(desk.unswept.items()):
        if attempts:
            unneeded_files.sweep(desk.store, node, attempts[:MOST_SWEPT])
        turn.after(desk.set_unswept, node, attempts[MOST_SWEPT:])


def expire_outputs(desk: Desk, turn: Turn) -> None:
    """Have outputs of failed packages removed after `keep-failed`."""
    before = turn.now - default(desk.store, "keep-failed")
    unneeded_files.expire(desk.store, before=before, now=turn.now)
