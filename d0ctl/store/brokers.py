"""The opinion of the site's broker on packages: the questions to it, and its answers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.store.connection import Store
from d0ctl.store.nodes import placement, registry


class BrokerAnswer(Struct, frozen=True):
    """The opinion of a broker on nodes, by their names: why not, and how much they are preferred.

    With an `error` it has not answered.
    """

    refused: Mapping[str, str] = field(default_factory=dict)
    preferred: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None


class KeptAnswer(NamedTuple):
    """The valid answer for a package: from which broker, and since when."""

    broker: str
    at: float
    answer: BrokerAnswer


def question(
    store: Store, requirement: Requirement, nodes: Sequence[NodeRoom]
) -> dict[str, Any] | None:
    """Return the question to a broker about similar packages; None if there is nothing to ask.

    The oldest ready one stands for all; only nodes that can take it are considered.
    """
    able = [node for node in nodes if misfit(requirement, node) is None]
    packages = placement.oldest(store, requirement.id, 1) if able else []
    row = store.row("broker_question", package=packages[0]) if packages else None
    if row is None:
        return None
    places = placement.local_bytes(store, packages).get(packages[0], {})
    clusters = {node.id: node.cluster for node in registry.nodes(store)}
    return {
        "package": {
            "path": row["path"], "job": row["job"], "stage": row["stage"],
            "originator": row["originator"], "ready": requirement.ready,
            "cpus": requirement.cpus, "memory": requirement.memory, "gpus": requirement.gpus,
            "disk": requirement.space,
            "platform": requirement.platform, "software": list(requirement.software),
            "needs": list(requirement.needs), "seconds": requirement.seconds,
        },
        "nodes": [
            {
                "node": node.name, "cluster": clusters.get(node.id), "cpus": node.cpus,
                "free": max(0.0, node.cpus - node.used), "memory": node.memory,
                "gpus": node.gpus, "gpus_free": max(0, node.gpus - node.gpus_used),
                "disk": node.disk_free, "platform": node.platform, "speed": node.speed,
                "services": list(node.services), "input_bytes": places.get(node.cluster, 0),
            }
            for node in able
        ],
    }  # fmt: skip


def keep(store: Store, broker: str, requirement: int, answer: BrokerAnswer, *, now: float) -> None:
    """Record the opinion of a broker on packages with a requirement, for `why`."""
    store.change(
        "keep_broker_answer", requirement=requirement, broker=broker, now=now,
        refused=json.dumps(answer.refused), preferred=json.dumps(answer.preferred),
        error=answer.error,
    )  # fmt: skip


def forget_others(store: Store, broker: str = "") -> None:
    """Forget the answers of other brokers; without a broker, all."""
    store.change("forget_broker_answers", broker=broker)


def of_package(store: Store, package: int) -> KeptAnswer | None:
    """Return the answer of the broker about a package; None if there is none."""
    row = store.row("broker_answer_of", package=package)
    if row is None:
        return None
    refused, preferred = json.loads(row["refused"]), json.loads(row["preferred"])
    return KeptAnswer(row["broker"], row["at"], BrokerAnswer(refused, preferred, row["error"]))
