"""Packages that fail, and people who act on them."""

import json
from typing import Any

from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.nodes import placement
from tests.support.jobs import NOW
from tests.support.messages import end_message
from tests.support.site import Site


def say(store: Store, **rules: dict[str, Any]) -> None:
    """Put a policy of the site in force; `_` stands for `-`."""
    value = json.dumps({name.replace("_", "-"): rule for name, rule in rules.items()})
    with store.writing():
        store.change("keep_setting", name="policy", value=value)


def row(store: Store, package: int = 1) -> Any:
    """A package with its requirement."""
    return store.connection.execute(
        "select package.*, requirement.memory, requirement.avoid, requirement.boost from package"
        " join requirement on requirement.id = requirement_id where package.id = ?", [package],
    ).fetchone()  # fmt: skip


def launch(site: Site) -> str:
    """Plan and launch the one package there is; the node that it went to."""
    assert site.schedule() == 1
    (node,) = (node for node in site.nodes.values() if site.hand_out(node))
    return node.name


def fail(
    store: Store, reason: str, *, outcome: str = "failed", now: float = NOW, **more: Any
) -> Any:
    """End the attempt that counts; the package after it."""
    message = end_message(row(store)["attempt_id"], outcome, reason) | {"ended": now} | more
    with store.writing():
        messages.apply(store, [message], now=now)
    return row(store)


def wait(store: Store, now: float) -> str:
    """Let time go on; the phase of the package."""
    with store.writing():
        placement.advance(store, now=now)
    return str(row(store)["phase"])


def person(store: Store, phase: str) -> None:
    """A person has the package tried again, as `retry` does."""
    with store.writing():
        store.connection.execute(
            "update package set phase = ?, node_id = null, not_before = null, actor = 'eve'"
            " where id = 1",
            [phase],
        )


def kinds(store: Store) -> list[tuple[str, str]]:
    """Each attempt's kind, and what followed it."""
    rows = store.connection.execute("select kind, answer from attempt order by id")
    return [tuple(row) for row in rows]
