"""`d0ctl software`: the catalogue, and the software on nodes."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from d0ctl.cli import changing, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.commands.nodes.software_nodes import no_such, split
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, print_list
from d0ctl.errors import BadUsage, Refused
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.cli.schemas import software
    from d0ctl.sitefile.spec import SoftwareEntry
    from d0ctl.store.clusters.software_places import SoftwarePlace
    from d0ctl.store.connection import Store
    from d0ctl.store.nodes.catalogue import CatalogueEntry
    from d0ctl.store.nodes.software import NodeOrder

app = group("List, add, push or verify the software of the site.")

Title = Annotated[
    str,
    typer.Argument(
        metavar="NAME/VERSION",
        autocompletion=completion.software,
        help="NAME/VERSION, as in job files.",
    ),
]
Platform = Annotated[
    str, typer.Option(metavar="PLATFORM", help="Only for this platform (default: any).")
]


Nodes = Annotated[
    list[str] | None,
    typer.Option("--node", metavar="NODE", autocompletion=completion.node_names,
                 help="Only this node; may be repeated (default: all nodes)."),
]  # fmt: skip


Clusters = Annotated[
    list[str] | None,
    typer.Option("--cluster", metavar="CLUSTER",
                 help="All nodes of this cluster; may be repeated."),
]  # fmt: skip


@app.command("list")
def list_software(json: options.Json = False) -> None:
    """Show the catalogue."""
    from d0ctl.show.cards import software
    from d0ctl.store.nodes import catalogue

    rows = session.read_all(catalogue.entries)
    print_list("software", rows, _document, software.cells, software.NO_SOFTWARE, json=json)


def _document(row: "CatalogueEntry") -> "software.Software":
    from d0ctl.cli.schemas import software
    from d0ctl.cli.schemas.fill import fill

    return fill(software.Software, row, platform=row.platform or None)


@app.command()
def where(
    title: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME/VERSION",
            autocompletion=completion.software,
            help="Software, as in job files (default: all).",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show nodes known to have each version, and jobs that used it."""
    from d0ctl.show.cards import software
    from d0ctl.store.clusters import software_places

    if title is not None:
        split(title)
    locations = session.read_all(lambda store: software_places.places(store, title))
    cells = partial(software.place_cells, now=time.time())
    print_list("software", locations, _copy_document, cells, software.nowhere(title), json=json)


def _copy_document(copy: "SoftwarePlace") -> "software.SoftwarePlace":
    from d0ctl.cli.schemas import software
    from d0ctl.cli.schemas.fill import fill

    order = copy.order and _last_order(copy.order)
    return fill(software.SoftwarePlace, copy, software=copy.title,
                platform=copy.platform or None, copied=iso(copy.arrived),
                used=iso(copy.used), last_order=order)  # fmt: skip


def _last_order(order: "NodeOrder") -> "software.LastOrder":
    from d0ctl.cli.schemas import software
    from d0ctl.cli.schemas.fill import fill

    is_ok = None if order.ended is None else bool(order.ok)
    return fill(software.LastOrder, order, by=order.actor, ok=is_ok)


@app.command(cls=Changing)
def add(
    title: Title,
    archive: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Tar file with the software; its `bin` goes on PATH."),
    ] = None,
    platform: Platform = "",
    script: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Script for binaries without `run`.")
    ] = None,
    checksum: Annotated[
        str | None,
        typer.Option(metavar="SHA256:...", help="Checksum of the archive, if it is at a URL."),
    ] = None,
) -> None:
    """Add software to the catalogue, and check its tar file."""
    from d0ctl.show.cards import software as software_text
    from d0ctl.store.clusters.site_changes import keep_software
    from d0ctl.store.clusters.site_comparison import software_name
    from d0ctl.store.lifecycle import keep_action

    if changing.is_rehearsal():
        with changing.rehearsal() as store:
            entry = _made(store, title, archive, platform, script, checksum)
            _check_new(store, entry)
        emit(software_text.addition(software_name(entry)))
        return
    with session.open_or_create() as store:
        entry = _made(store, title, archive, platform, script, checksum)
        with store.writing():
            _check_new(store, entry)
            keep_software(store, entry, applied=False)
            keep_action(store, verb="software add", target=title, actor=session.actor(),
                        note=changing.reason(), packages=0, now=time.time())  # fmt: skip
    emit(software_text.added(software_name(entry), entry.size, entry.checksum))


def _check_new(store: "Store", entry: "SoftwareEntry") -> None:
    from d0ctl.store.clusters.site_comparison import software_name
    from d0ctl.store.nodes import catalogue

    if catalogue.has_entry(store, entry.name, entry.version, entry.platform):
        raise Refused(f"software `{software_name(entry)}` already exists",
                      hint=f"d0ctl software remove {entry.name}/{entry.version}")  # fmt: skip


def _made(
    store: "Store",
    title: str,
    archive: str | None,
    platform: str,
    script: str | None,
    checksum: str | None,
) -> "SoftwareEntry":
    """Return the entry for these words, by the same rules as in a site file. Raises BadUsage."""
    from d0ctl.errors import BadJobFile
    from d0ctl.sitefile.reader import read_text
    from d0ctl.sitefile.spec import Site, SoftwareEntry
    from d0ctl.sitefile.writer import text
    from d0ctl.store.nodes.site import setting

    name, version = split(title)
    if archive is None and script is None:
        raise BadUsage("software needs --archive, --script or both")
    if archive is not None and "://" not in archive:
        archive = str(Path(archive).expanduser().absolute())
    entry = SoftwareEntry(name, version, platform, script, archive=archive, checksum=checksum)
    server = setting(store, "code-server")
    settings = {"code-server": server} if server and "://" in server else {}
    try:
        site = Site(software=(entry,), settings=settings)
        (found,) = read_text(text(site), source=None).software
    except BadJobFile as error:
        raise BadUsage(f"software `{title}`: {error.faults[0]}") from error
    return replace(found, runtime=None)


@app.command(cls=Changing)
def remove(
    title: Title,
    platform: Annotated[
        str | None, typer.Option(metavar="PLATFORM", help="Only the software for this platform.")
    ] = None,
) -> None:
    """Remove software from the catalogue, but from no node."""
    from d0ctl.show.cards import software as software_text
    from d0ctl.store.clusters import software_places
    from d0ctl.store.clusters.site_changes import remove_software
    from d0ctl.store.clusters.site_comparison import current
    from d0ctl.store.lifecycle import keep_action
    from d0ctl.store.nodes import catalogue

    name, version = split(title)
    if not session.has_home():
        raise no_such(title)
    with session.writer() as store:
        entries = [entry for entry in current(store).software if entry.key[:2] == (name, version)]
        if platform is not None:
            entries = [entry for entry in entries if entry.platform == platform]
        if not entries:
            raise no_such(title)
        if job := catalogue.user_of(store, title):
            raise Refused(f"job `{job}` asks for software `{title}`, so it can't be removed",
                          hint=software_text.after_use(job))  # fmt: skip
        removal = software_text.removal(title, len(entries))
        if changing.is_rehearsal():
            emit(f"would {removal}")
            return
        changing.confirm(f"{removal}?")
        with store.writing():
            for entry in entries:
                remove_software(store, entry)
            keep_action(store, verb="software remove", target=title, actor=session.actor(),
                        note=changing.reason(), packages=0, now=time.time())  # fmt: skip
        places = software_places.places(store, title)
    emit(software_text.removed(title, places))


@app.command(cls=Changing)
def push(
    title: Title, node: Nodes = None, cluster: Clusters = None, json: options.Json = False
) -> None:
    """Copy software to nodes before a package needs it."""
    _on_nodes("push", title, node, cluster, json)


@app.command(cls=Changing)
def purge(
    title: Title, node: Nodes = None, cluster: Clusters = None, json: options.Json = False
) -> None:
    """Remove software from nodes until a package needs it."""
    if not changing.is_rehearsal():
        named = [*(node or ()), *(f"cluster {name}" for name in cluster or ())]
        where = ", ".join(f"`{name}`" for name in named) or "all nodes"
        changing.confirm(f"purge `{title}` on {where}?")
    _on_nodes("purge", title, node, cluster, json)


@app.command()
def verify(
    title: Title, node: Nodes = None, cluster: Clusters = None, json: options.Json = False
) -> None:
    """Verify the checksum of each file of software on nodes."""
    _on_nodes("verify", title, node, cluster, json)


def _on_nodes(
    verb: str, title: str, node: list[str] | None, cluster: list[str] | None, json: bool
) -> None:
    from d0ctl.cli.commands.nodes import software_nodes

    names = software_nodes.named(node or (), cluster or ())
    if verb != "verify" and changing.is_rehearsal():
        for line in software_nodes.preview(verb, title, names):
            emit(line)
        return
    note = changing.reason() if verb != "verify" else None
    asked = software_nodes.ask(verb, title, names, note)
    raise typer.Exit(software_nodes.report(title, software_nodes.wait(asked), names, json))
