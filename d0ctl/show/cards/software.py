"""The catalogue of software, and the answers of nodes about it."""

import json
from collections.abc import Sequence

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.clusters.software_places import SoftwarePlace
from d0ctl.store.nodes.catalogue import CatalogueEntry
from d0ctl.store.nodes.software import NodeOrder
from d0ctl.units import clean, count, listed, moment, size

NO_SOFTWARE = "no software yet: d0ctl software add NAME/VERSION --archive FILE"


def nowhere(title: str | None) -> str:
    """Return that no node is known to have some software, or any."""
    named = f"`{clean(title)}`" if title else "software"
    return f"no node is known to have {named}: d0ctl software push {title or 'NAME/VERSION'}"


MOST_JOBS = 3
"""How many jobs are named that use a version on a node; the rest are counted."""


def cells(row: CatalogueEntry) -> list[Cell]:
    """Return the line of an entry of the catalogue, in columns."""
    return [
        (row.title, "strong"),
        row.platform or "any platform",
        "script" if row.script else "",
        size(row.size) if row.size is not None else "",
        row.archive,
    ]


def addition(name: str) -> str:
    """Return what adding an entry would do."""
    return f"would add `{clean(name)}`"


def added(name: str, bytes_packed: int | None, checksum: str | None) -> str:
    """Return that an entry was added, with the size and checksum of its archive."""
    archive = f": {size(bytes_packed)}, {checksum}" if checksum and bytes_packed else ""
    return f"added `{clean(name)}`{archive}"


def removal(title: str, entries: int) -> str:
    """Return what a removal does, without a subject."""
    return f"remove {count(entries, 'entry', 'entries')} of `{title}` from the catalogue"


def after_use(user: str) -> str:
    """Return what frees software that a job or package uses."""
    return f"d0ctl wait {user}, or end it: d0ctl kill {user}"


def removed(title: str, copies: Sequence[SoftwarePlace]) -> str:
    """Return that software was removed, and what removes it from nodes that may have it."""
    done = f"removed `{title}` from the catalogue"
    if copies and all(copy.is_purged for copy in copies):
        return done
    return f"{done}\nnodes that have it keep it: d0ctl software purge {title}"


def place_cells(copy: SoftwarePlace, now: float) -> list[Cell]:
    """Return the line of a version on a node, in columns."""
    jobs = listed(copy.jobs[:MOST_JOBS])
    more = len(copy.jobs) - MOST_JOBS
    return [
        (copy.title, "strong"),
        copy.node,
        copy.platform or "any platform",
        state_there(copy, now),
        f"used by {jobs}" + (f" and {more:,} more" if more > 0 else "") if jobs else "",
    ]


def state_there(copy: SoftwarePlace, now: float) -> str:
    """Return whether a version is on a node, by the last order, else by what was copied or ran."""
    order = copy.order
    is_copied = order is not None and (copy.arrived or 0.0) > (order.ended or order.asked)
    if order is None or is_copied or copy.is_brought_again:
        if copy.arrived is None:
            return "brought by packages"
        if copy.copied_for:
            when = moment(copy.arrived, now)
            return (
                f"not known to be installed: its archive was copied {when} for `{copy.copied_for}`"
            )
        same = f" (the same archive as `{copy.same_as}`)" if copy.same_as else ""
        return f"copied {moment(copy.arrived, now)}{same}"
    who = f"{order.verb} by {order.actor} {moment(order.asked, now)}"
    if order.ended is None:
        why = obstacle(order) if order.state == "down" or order.copy_error else "in progress"
        return f"waits: {why} ({who})"
    result = order.message if order.ok else f"failed: {order.message}"
    return f"{result} {moment(order.ended, now)} ({who})"


def obstacle(order: NodeOrder) -> str:
    """Return why a node has not done an order yet."""
    if order.state != "down" and order.copy_error:
        return f"its archive could not be copied: {order.copy_error}"
    return f"is down: {order.last_error or 'no answer'}"


def outcome(sheet: Sheet, order: NodeOrder, title: str, *, is_wanted: bool) -> None:
    """Draw the result of an order to a node, on which the software `is_wanted` if it is absent."""
    name = (f" {order.node:<16}", "strong")
    if order.ended is None:
        later = "" if order.verb == "verify" else "; it will be done when the node answers"
        sheet.add(
            signs.glyph("down", sheet.glyphs),
            name,
            f" {obstacle(order)}{later}",
        )
        return
    state = "successful" if order.ok else "failed"
    if order.is_absent:
        state = "failed" if is_wanted else "unscheduled"
    sheet.add(signs.glyph(state, sheet.glyphs), name, f" {order.message}")
    for fault in json.loads(order.faults):
        if fault != order.message:
            sheet.add(f"    {fault}")
    if order.verb == "verify" and state == "failed":
        sheet.commands([f"d0ctl software push {title} --node {order.node}"])
