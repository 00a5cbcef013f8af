"""Which nodes a package does not go to because of how they did before, and until when."""

import json
from typing import Any

from d0ctl.policy import bad_nodes
from d0ctl.show.why.common import MOST, Explanation
from d0ctl.show.why.subject import Case
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.draining import bad_node, drainings
from d0ctl.units import count, listed, moment


def against(case: Case, fits: list[Row]) -> dict[str, str]:
    """Which of the nodes that fit get nothing of it because of how they did before, and why."""
    one, limits = case.package, node_record.limits(case.store)
    found = _excluded_for(case, fits)
    resting = node_record.pauses(case.store, one.stage_id, [row["id"] for row in fits], case.now)
    for row in fits:
        if row["name"] not in found and (how := resting.get(row["id"])):
            until = moment(bad_nodes.pause_end(how, limits), case.now)
            failed = count(how.streak, "package of its stage", "packages of its stage")
            found[row["name"]] = f"pauses until {until}: {failed} failed there in a row"
    return found


def _excluded_for(case: Case, fits: list[Row]) -> dict[str, str]:
    """The node on which it failed, if its job keeps such packages off it and another fits."""
    one = case.package
    if one.failed_on is None or {row["name"] for row in fits} <= {one.failed_on}:
        return {}
    for row in node_record.exclusions(case.store, one.job_id):
        if row["name"] == one.failed_on:
            return {one.failed_on: f"is ruled out: it failed there, as did {_part(row)}"}
    return {}


def _part(row: Row) -> str:
    ran = count(row["successful"] + row["failed"], "attempt")
    return f"{row['failed']} of {ran} of this job"


def excluded(row: Row) -> str:
    """That a job keeps its packages off a node, and why."""
    return f"what failed on node `{row['name']}` is kept off it: {_part(row)} failed there"


def drained(store: Store, row: Row, told: Explanation, now: float) -> None:
    """Explain a node that takes nothing new: who drained it, why, and when it is tried again."""
    bad = bad_node(store, row["id"])
    why = f": {row['drain_note']}" if row["drain_note"] else ""
    if bad is None:
        told.answer = f"node `{row['name']}` is drained and takes nothing new{why}"
        return
    since = moment(bad["since"], now)
    told.answer = f"node `{row['name']}` was drained by d0ctl at {since}: {bad['evidence']}"
    details: dict[str, Any] = json.loads(bad["details"])
    if packages := details["packages"]:
        named = listed(f"`{path}`" for path in packages[:MOST])
        more = f" and {len(packages) - MOST} more" if len(packages) > MOST else ""
        told.facts.append(f"it burnt {named}{more}, which run elsewhere; no try is counted for it")
    told.facts.append(trial(bad, now))
    told.commands.append(f"d0ctl node check {row['name']}")


def trial(bad: Row, now: float) -> str:
    """When one package tries a drained node, or which one does."""
    again = f" after {count(bad['times'], 'rest')}" if bad["times"] > 1 else ""
    if bad["canary"]:
        return f"package `{bad['canary']}` tries it now{again}"
    if bad["next_try"] <= now:
        return f"the next package that it can take tries it{again}"
    return f"one package tries it at {moment(bad['next_try'], now)}{again}"


def deeds(store: Store, name: str, told: Explanation, now: float) -> None:
    """Tell who drained the node and took it back lately."""
    for row in drainings(store, name, MOST):
        note = f": {row['note']}" if row["note"] else ""
        told.facts.append(f"{moment(row['at'], now)} {row['actor']}: {row['verb']}{note}")
