"""Files in the caches of nodes that are no copies."""

from collections.abc import Collection, Iterator

from d0ctl.doctor.finding import ANEW, MOST, RESTART, Finding
from d0ctl.model import Node
from d0ctl.nodes.inventory import Survey, list_frame
from d0ctl.store import Store
from d0ctl.store.checks.belongings import wanted
from d0ctl.store.files import inventory
from d0ctl.store.files.inventory import UnknownInput
from d0ctl.store.jobs.unneeded_files import makers_of_lost
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.nodes.site import default
from d0ctl.units import count

MOST_UNKNOWN = 20
"""How many unknown files of nodes that are not checked are listed."""

UNKNOWN = "is not a copy that the database knows"

WITH_JOB = f"{UNKNOWN}: d0ctl removes it with its job"

AFTER_JOB = f"{UNKNOWN}: an inventory removes it once its job is removed"

NEXT = f"{UNKNOWN}: an inventory removes it"

LEFT = f"{UNKNOWN}: d0ctl leaves it there"

PERHAPS_LOST = f"{UNKNOWN}: the next inventory takes it in if it has the checksum of a lost copy"

LATER = f"{UNKNOWN}: d0ctl removes it when the packages there from before the restore have ended"


def unknown_files(store: Store, asked: Collection[str]) -> Iterator[Finding]:
    """Yield files that no job knows, found by inventories of nodes that are not checked now."""
    is_compared = bool(default(store, "inventory-every"))
    for file in inventory.unknown(store, MOST_UNKNOWN):
        if file.node in asked:
            continue
        name = file.path.removeprefix(f"{file.base}/")
        detail, why = UNKNOWN, f"d0ctl why --node {file.node}"
        if name.startswith("cache/in/"):
            inputs = inventory.inputs(
                store, file.cluster_id, [{**list_frame(name), "path": file.path}]
            )
            detail, why = _of_input(inputs.get(file.path), is_compared=is_compared), ""
        yield Finding("orphan", f"{file.node}:{name}", detail, why)


def orphans(store: Store, node: Node, found: Survey) -> Iterator[Finding]:
    """Yield files in the cache of a node that the database does not know.

    d0ctl removes most of them at the next contact; the others need nobody.
    """
    details = _details(store, node, found)
    removed = {path: detail for path, detail in details.items() if detail == UNKNOWN}
    yield from _listed(node, "cache", removed, ANEW if any_driver(store) else RESTART)
    others = {path: detail for path, detail in details.items() if detail != UNKNOWN}
    yield from _listed(node, "cache/in", others, "")


def _listed(node: Node, folder: str, details: dict[str, str], advice: str) -> Iterator[Finding]:
    for path, detail in list(details.items())[:MOST]:
        subject = f"{node.name}:{path.removeprefix(f'{node.base}/')}"
        yield Finding("orphan", subject, detail, advice, heals=bool(advice))
    if len(details) > MOST:
        more = f"{count(len(details) - MOST)} more that the database does not know"
        yield Finding("orphan", f"{node.name}:{folder}", more, advice, heals=bool(advice))


def _details(store: Store, node: Node, found: Survey) -> dict[str, str]:
    """Return what is said of each unknown file, by path."""
    base = node.base or ""
    reported = found.entries(base, sorted(found.cached()))
    expected = wanted(store, node, reported)
    unknown = {path: entry for entry in reported if (path := str(entry["path"])) not in expected}
    inputs = inventory.inputs(store, node.cluster_id, unknown.values())
    needed = {path.removeprefix(f"{base}/").split("/")[1] for path in expected}
    attempts = {entry["attempt"] for entry in unknown.values()} - {None}
    needed |= {str(attempt) for attempt in makers_of_lost(store, attempts)}
    is_compared = bool(default(store, "inventory-every"))
    lacking = inventory.lacking(store, node.cluster_id, [*unknown.values()]) if is_compared else []
    lost = {copy.path for copy in lacking}
    details = dict[str, str]()
    for path, entry in unknown.items():
        _, top, *_ = str(entry["folder"]).split("/")
        if path in lost:
            details[path] = PERHAPS_LOST
        elif top == "in":
            details[path] = _of_input(inputs.get(path), is_compared=is_compared)
        elif entry["attempt"] is None:
            details[path] = LEFT
        else:
            details[path] = WITH_JOB if top in needed else UNKNOWN
    return details


def _of_input(unknown: UnknownInput | None, *, is_compared: bool) -> str:
    """Return what is said of an unknown file below cache/in/; only inventories remove these."""
    if unknown is None or not is_compared:
        return LEFT
    if unknown.has_job:
        return AFTER_JOB
    return LATER if unknown.may_be_read else NEXT
