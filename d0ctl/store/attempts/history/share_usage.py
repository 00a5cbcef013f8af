"""The recent use of groups of researchers and activities, and their targets."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from d0ctl.schedule.resources import NodeRoom
from d0ctl.schedule.shares import Fairness, Share, Tree, fairness
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import names_of
from d0ctl.store.nodes.site import default, setting

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending


def tree(store: Store) -> Tree | None:
    """Return the shares of this site; None if it has none."""
    shares = setting(store, "shares")
    if not shares:
        return None
    return Tree(tuple(
        Share(path, use["share"], tuple(use.get("researchers", ())), tuple(use.get("jobs", ())))
        for path, use in shares.items()
    ))  # fmt: skip


def charge(store: Store, ends: Iterable[tuple["Ending", Row]], *, now: float) -> None:
    """Charge the use of attempts to the groups of their jobs; old use counts less."""
    shares = tree(store)
    if shares is None:
        return
    took: dict[int, float] = defaultdict(float)
    for end, context in ends:
        if end["started"] is not None:
            lasted = min(end["ended"] - end["started"], now - (context["launched"] or now))
            took[context["requirement_id"]] += max(0.0, lasted)
    used: dict[str, float] = defaultdict(float)
    said = setting(store, "researchers") or {}
    for requirement, seconds in took.items():
        row = store.row("charged_job", requirement=requirement)
        if row is not None:
            path = shares.path_of(names_of(row["originator"], said), row["name"])
            used[path] += seconds * float(row["load"])
    half = float(default(store, "share-half-life"))
    before = _used(store, half, now)
    for path, seconds in used.items():
        store.change("keep_usage", path=path, used=before.get(path, 0.0) + seconds, now=now)


def _used(store: Store, half: float, now: float) -> dict[str, float]:
    """Return the run time x CPUs of groups, in seconds; it counts half after a half-life."""
    return {
        row["path"]: row["used"] * 0.5 ** (max(0.0, now - row["at"]) / max(half, 1.0))
        for row in store.rows("share_usage")
    }


def standing(store: Store, nodes: Sequence[NodeRoom], *, now: float) -> Fairness | None:
    """Return the state of groups whose jobs have running or ready packages; None if the site
    has no shares.
    """
    shares = tree(store)
    if shares is None:
        return None
    rows, said = store.rows("sharing_jobs"), setting(store, "researchers") or {}
    return fairness(
        shares,
        {row["id"]: shares.path_of(names_of(row["originator"], said), row["name"]) for row in rows},
        {row["id"]: row["has"] for row in rows},
        {row["id"]: row["wants"] for row in rows},
        _used(store, float(default(store, "share-half-life")), now),
        sum(node.cpus for node in nodes),
    )
