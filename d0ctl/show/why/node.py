"""Why a node is as it is, and what takes its slots."""

from d0ctl.show.why import node_pauses
from d0ctl.show.why.common import MOST, Explanation, takers
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.registry import named
from d0ctl.store.nodes.standstill import any_driver
from d0ctl.store.views import dependencies
from d0ctl.units import moment


def node(store: Store, name: str, now: float) -> Explanation:
    """Why a node takes packages, or does not. Raises NotFound."""
    row = named(store, name)
    room = next(room for room in registry.capacities(store) if room["id"] == row["id"])
    told = Explanation(name, row["state"], "")
    free = row["cpus"] - room["used"]
    if row["state"] == "down":
        told.answer = (f"node `{name}` is down since {moment(row['since'], now)}: "
                       f"{row['trouble'] or 'it does not answer'}")  # fmt: skip
        told.facts.append("what runs there goes on; what was planned there goes elsewhere")
        told.commands.append(f"d0ctl node check {name}")
    elif row["drained"]:
        node_pauses.drained(store, row, told, now)
        told.commands.append(f"d0ctl node resume {name}")
    elif row["state"] == "unknown":
        _not_contacted(store, row, told, now)
    elif free <= 0:
        told.answer = f"node `{name}` is up and full"
    else:
        told.answer = f"node `{name}` is up, with {free} of {row['cpus']} cpus free"
    if room["used"]:
        told.facts.append(takers(store, room, now))
    _blocked(store, row["cluster_id"], told, is_away=row["state"] != "up")
    node_pauses.deeds(store, name, told, now)
    return told


def _not_contacted(store: Store, row: Row, told: Explanation, now: float) -> None:
    """Nobody is in contact with it: it was never reached, or nothing drives packages now."""
    name, is_driven = row["name"], any_driver(store)
    if row["contact"] is None:
        told.answer = f"node `{name}` was not contacted yet"
    else:
        last = moment(row["contact"], now)
        told.answer = f"node `{name}` is not in contact, and was reached last at {last}"
    told.answer += "" if is_driven else ": no daemon is running"
    told.commands += [f"d0ctl node check {name}", *([] if is_driven else ["d0ctl daemon start"])]


def _blocked(store: Store, cluster: int, told: Explanation, *, is_away: bool) -> None:
    where = "to be brought" if is_away else "on its way"
    for row in dependencies.transfers_to(store, cluster, MOST):
        trouble = f": {row['trouble']}" if row["trouble"] else ""
        told.facts.append(f"file `{row['name']}` is {where} to it{trouble}")
