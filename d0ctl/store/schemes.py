"""The only place that knows by which commands of the site files behind URLs are carried."""

from collections.abc import Collection, Mapping

from d0ctl.store.connection import Store

Commands = Mapping[str, Mapping[str, str | None]]
"""By scheme, the commands to `fetch` and to `store`, with `{source}` and `{dest}`."""


def commands(store: Store, schemes: Collection[str]) -> Commands:
    """The site's commands for these schemes, as a launch has them."""
    return {
        row["scheme"]: {"fetch": row["fetch"], "store": row["store"]}
        for row in store.rows("transfer_commands")
        if row["scheme"] in schemes
    }


def define(store: Store, known: Commands) -> None:
    """Let these be the site's commands, in place of all former ones."""
    store.change("undefine_transfers")
    for scheme, ways in known.items():
        fetch, out = ways.get("fetch"), ways.get("store")
        store.change("define_transfer", scheme=scheme, fetch=fetch, store=out)
