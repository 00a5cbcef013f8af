"""`d0ctl site`: the settings of a site in one file."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import changing, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, emit_text, say
from d0ctl.errors import ExitCode

if TYPE_CHECKING:
    from d0ctl.store.clusters.site_comparison import Difference

app = group("Check, compare, apply or show the site file.")

SiteFile = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="A site file (default: `site.yaml` in the home)."),
]


@app.command()
def check(file: SiteFile = None, json: options.Json = False) -> None:
    """List faults and warnings of a site file, and do nothing."""
    from d0ctl.actions import site_file
    from d0ctl.show.cards import site as site_text
    from d0ctl.store.nodes import registry

    site = site_file.read(file, session.home())
    rows = session.read_all(registry.nodes) if session.home().exists() else ()
    warnings = (*site.warnings, *site_file.without_nodes(rows, site))
    parts = {"nodes": len(site.nodes), "clusters": len(site.clusters),
             "software": len(site.software), "settings": sorted(site.settings),
             "warnings": warnings}  # fmt: skip
    if json:
        emit_json(parts)
    else:
        for warning in warnings:
            say(warning)
        emit(site_text.summary(site))


@app.command()
def diff(file: SiteFile = None, json: options.Json = False) -> None:
    """Show what `site apply` would change, with values."""
    from d0ctl.actions import site_file
    from d0ctl.cli.schemas.fill import fill
    from d0ctl.cli.schemas.site import SiteDifference
    from d0ctl.show.cards import site as site_text
    from d0ctl.store.clusters import site_comparison
    from d0ctl.store.nodes import registry

    wanted = site_file.read(file, session.home())
    with changing.rehearsal() as store:
        differences = site_comparison.compare(store, wanted)
        others = site_comparison.unnamed(store, wanted)
        obstacle = site_file.obstacle(store, wanted, differences)
        useless = list(site_file.without_nodes(registry.nodes(store), wanted))
        keys = list(site_file.other_keys(session.home(), wanted, differences))
    if json:
        emit_json({"changes": [fill(SiteDifference, difference) for difference in differences]})
    else:
        for line in site_text.comparison(differences, is_whole=not (others or keys)):
            emit(line)
        for remark in (*useless, *keys, *site_text.unnamed(others)):
            say(remark)
    if obstacle is not None:
        say(site_text.refused(obstacle))
    raise typer.Exit(ExitCode.FAILED if differences else ExitCode.DONE)


@app.command(cls=Changing)
def apply(
    file: SiteFile = None,
) -> None:
    """Apply a site file, whole or not at all."""
    from d0ctl.access import absolute
    from d0ctl.actions import site_file
    from d0ctl.cli.terminal.person import AtTerminal
    from d0ctl.show.cards import site as site_text
    from d0ctl.store.clusters import site_changes, site_comparison

    path = site_file.path_of(file, session.home())
    wanted = site_file.read(file, session.home())
    if changing.is_rehearsal():
        with changing.rehearsal() as store:
            differences = site_comparison.compare(store, wanted)
            site_changes.check(store, wanted, differences)
            others = site_comparison.unnamed(store, wanted)
            keys = list(site_file.other_keys(session.home(), wanted, differences))
            remarks = [
                *site_file.remarks(store, wanted, differences, time.time()),
                *site_file.unaccepted(session.home(), wanted, differences),
                *keys,
                *site_text.unnamed(others),
            ]
        _print(differences, would=True, is_whole=not (others or keys))
        for remark in remarks:
            say(remark)
        return
    with session.open_or_create() as store:
        differences = site_comparison.compare(store, wanted)
        site_changes.check(store, wanted, differences)
        for remark in site_file.remarks(store, wanted, differences, time.time()):
            say(remark)
        if differences:
            changing.confirm("apply this?", site_text.comparison(differences))
        facts = site_file.meet(store, path, wanted, differences, AtTerminal())
        differences = site_changes.apply(
            store, wanted, facts, actor=session.actor(), note=changing.reason(),
            now=time.time(), source=str(absolute(path)),
        )  # fmt: skip
        others = site_comparison.unnamed(store, wanted)
        keys = list(site_file.other_keys(session.home(), wanted, differences))
    _print(differences, would=False, is_known=not changing.is_confirmed(),
           is_whole=not (others or keys))  # fmt: skip
    for remark in (*keys, *site_text.unnamed(others)):
        say(remark)


def _print(
    found: "list[Difference]", *, would: bool, is_whole: bool, is_known: bool = False
) -> None:
    from d0ctl.show.cards import site as site_text

    for line in site_text.outcome(found, would=would, is_known=is_known, is_whole=is_whole):
        emit(line)


@app.command("rotate-key", cls=Changing)
def rotate_key(
    lost: Annotated[
        bool,
        typer.Option("--lost", help="The key is lost: end all running attempts, and retry them."),
    ] = False,
) -> None:
    """Replace the key that signs attempts; running ones keep theirs.

    With `--lost` they can't: all running attempts end as `lost`, their packages start again, and
    their nodes end them at the next contact. So first look for the key in backups and old homes.
    """
    from d0ctl.show.cards import site as site_text
    from d0ctl.store.clusters import site_changes

    text = site_text.replaced if lost else site_text.rotated
    if changing.is_rehearsal():
        with session.reader() as store:
            emit(text(site_changes.signed_attempts(store)["running"], would=True))
        return
    rotate = site_changes.replace_lost_key if lost else site_changes.rotate_key
    with session.writer() as store:
        if lost:
            say(text(site_changes.signed_attempts(store)["running"], would=True))
        changing.confirm("replace the key of the site?")
        running = rotate(store, actor=session.actor(), note=changing.reason(), now=time.time())
    emit(text(running, would=False))


@app.command()
def show(json: options.Json = False) -> None:
    """Print the current settings, as a file for `site apply`."""
    from d0ctl.sitefile.spec import Site
    from d0ctl.sitefile.writer import document, text
    from d0ctl.store.clusters.site_comparison import current

    site = Site()
    if session.has_home():
        with session.reader() as store, store.reading():
            site = current(store)
    if json:
        emit_json(document(site))
    else:
        emit_text(text(site).rstrip("\n"))
