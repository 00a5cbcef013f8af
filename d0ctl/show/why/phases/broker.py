"""Nodes that the broker of the site refuses or prefers for a package."""

from typing import TYPE_CHECKING

from d0ctl.model import NodeCapacity
from d0ctl.show.why.common import MOST, Objection
from d0ctl.show.why.subject import Subject
from d0ctl.store.nodes.site import setting
from d0ctl.units import count, listed, moment

if TYPE_CHECKING:
    from d0ctl.store.brokers import BrokerAnswer


def objection(subject: Subject, fits: list[NodeCapacity]) -> dict[str, Objection]:
    """Return the suitable nodes that the broker refuses, with reasons; add its other answers."""
    name = setting(subject.store, "broker")
    if name is None:
        return {}
    answer = _answer(subject, name)
    if answer is None and fits:
        subject.fact(f"broker `{name}` has not answered yet")
    if answer is None:
        return {}
    if first := _preferred(answer, {row.name for row in fits}):
        subject.fact(f"broker `{name}` prefers {first}")
    refused = f"refused by broker `{name}`"
    return {
        row.name: Objection(f"is {refused}: {answer.refused[row.name]}", f"are {refused}")
        for row in fits
        if row.name in answer.refused
    }


def explain_choice(subject: Subject) -> None:
    """Say what the broker answered about the nodes for a package that is on one."""
    name = setting(subject.store, "broker")
    answer = None if name is None else _answer(subject, name)
    if answer is None:
        return
    for node, why in list(answer.refused.items())[:MOST]:
        subject.fact(f"broker `{name}` refuses node `{node}`: {why}")
    if first := _preferred(answer, {subject.package.node or "", *answer.preferred}):
        subject.fact(f"broker `{name}` prefers {first}")


def _answer(subject: Subject, name: str) -> "BrokerAnswer | None":
    """Return the answer of the broker about a package; add a fact if it has failed."""
    from d0ctl.store import brokers  # few sites have one

    record = brokers.of_package(subject.store, subject.package.id)
    if record is None or record.broker != name:
        return None
    answer = record.answer
    subject.explanation.details["broker"] = {
        "name": name, "refused": answer.refused, "preferred": answer.preferred,
        "error": answer.error,
    }  # fmt: skip
    if answer.error is not None:
        subject.fact(
            f"broker `{name}` has given no answer since {moment(record.at, subject.now)}, "
            f"so nodes are chosen without it: {answer.error}"
        )
        subject.command("d0ctl plugins")
    return answer


def _preferred(answer: "BrokerAnswer", able: set[str]) -> str:
    """Return the nodes that it prefers, the best first; empty if it has no preference."""
    merits = {name: answer.preferred.get(name, 0.0) for name in able - answer.refused.keys()}
    if len(set(merits.values())) < 2:
        return ""
    names = sorted(merits, key=lambda name: (-merits[name], name))
    more = [count(len(names) - MOST, "other")] if len(names) > MOST else []
    return listed([f"`{name}` ({merits[name]:g})" for name in names[:MOST]] + more, "then")
