"""`d0ctl store`: where the site stores files, and what is there."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from d0ctl.cli import changing, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, print_list
from d0ctl.errors import BadUsage, NotFound
from d0ctl.show import site_lists as lines

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site
    from d0ctl_wrapper.protocol.locator import InStore

app = group("List the stores of the site; locate or delete files in them.")

Locator = Annotated[str, typer.Argument(metavar="store:NAME/PATH", show_default=False,
                                        help="A file in a store.")]  # fmt: skip


@app.command("list")
def list_stores(json: options.Json = False) -> None:
    """Show the stores of the site, and what each can do."""
    found = list(_stores().items())
    print_list("stores", found, lambda pair: _document(*pair), lambda pair: lines.store(*pair),
               lines.NO_STORES, json=json)  # fmt: skip


@app.command()
def locate(locator: Locator, json: options.Json = False) -> None:
    """Say where a file in a store is; exit 3 if it is nowhere."""
    from d0ctl.nodes.storage import stores

    file, entry = _named(locator)
    location = stores.run(file.store, entry, "locate", file.name)
    if json:
        emit_json({"locator": locator, "location": location})
    else:
        emit(location)


@app.command(cls=Changing)
def delete(locator: Locator) -> None:
    """Remove a file from a store."""
    from d0ctl.nodes.storage import stores
    from d0ctl.store.lifecycle import keep_action

    file, entry = _named(locator)
    if changing.is_rehearsal():
        stores.run(file.store, entry, "locate", file.name)
        emit(lines.deleted_from_store(locator, would=True))
        return
    changing.confirm(f"remove `{locator}`?")
    stores.run(file.store, entry, "delete", file.name)
    with session.writer() as store, store.writing():
        keep_action(store, verb="store delete", target=locator, actor=session.actor(),
                    note=changing.reason(), packages=0, now=time.time())  # fmt: skip
    emit(lines.deleted_from_store(locator, would=False))


def _stores() -> Mapping[str, Mapping[str, Any]]:
    from d0ctl.store.nodes.site import setting

    if not session.has_home():
        return {}
    with session.reader() as store, store.reading():
        return setting(store, "stores") or {}


def _named(locator: str) -> "tuple[InStore, Mapping[str, Any]]":
    """Return store and name of a locator. Raises BadUsage, NotFound."""
    from d0ctl_wrapper.protocol.locator import check, in_store

    try:
        file = in_store(check(locator))
    except ValueError as error:
        is_path = "/" in locator.strip("/") and ":" not in locator
        hint = f"write store:{locator}" if is_path else "d0ctl store list"
        raise BadUsage(f"`{locator}` {error}", hint=hint) from error
    if file is None:
        raise BadUsage(f"`{locator}` is not `store:NAME/PATH`", hint="d0ctl store list")
    stores_of_site = _stores()
    if file.store not in stores_of_site:
        raise NotFound(f"there is no store `{file.store}`", hint="d0ctl store list")
    return file, stores_of_site[file.store]


def _document(name: str, entry: Mapping[str, Any]) -> "site.Store":
    from d0ctl.sitefile.transfer import stores

    kind, location = lines.kind_of_store(entry)
    return {"store": name, "kind": kind, "place": location, "verbs": list(stores.commands(entry))}
