"""`d0ctl peek PACKAGE`: the files in the folder of an attempt."""

import time
from typing import Any

import typer
from msgspec import Struct

from d0ctl.cli.package_documents import live_status as status_document
from d0ctl.cli.schemas import packages
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.output import emit_json, say
from d0ctl.errors import ExitCode, NodeUnreachable
from d0ctl.model import phase_word
from d0ctl.nodes.link import Frame
from d0ctl.nodes.visits.peek import AttemptLocation, AttemptReader, visit
from d0ctl.show import live_status
from d0ctl.show.cards import package
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.live_status import LiveStatus
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView, ProgressView
from d0ctl.units import clean, count, moment, size

MOST = 200
"""How many entries are shown on the screen."""


class Seen(Struct, frozen=True):
    """What the database knows of an attempt, and where its folder is."""

    package: PackageView
    attempt: AttemptView
    where: AttemptLocation
    progress: ProgressView | None


def removed(seen: Seen, here: AttemptReader, top: Frame) -> str:
    """Say that the working directory of an ended attempt was removed, and what is kept of it; empty
    if it is there. `top` is any list of the attempt.
    """
    attempt = seen.attempt
    has_ended = attempt.ended is not None or top["state"] == "ended"
    if not has_ended or not here.listing("work")["message"]:
        return ""
    retained = "of a failed attempt only outputs are kept, for `keep-failed` of the site file"
    if attempt.outcome == "successful":
        status = f"d0ctl status {seen.package.path}"
        retained = f"only its outputs are kept, as long as they are needed: {status}"
    elif attempt.left_size and attempt.base:
        retained = (f"its outputs ({size(attempt.left_size)}) stay in "
                f"`{attempt.base}/cache/{attempt.id}` on `{clean(attempt.node_name)}` for "
                "`keep-failed` of the site file")  # fmt: skip
    return f"its working directory was removed when it ended; {retained}"


def show(seen: Seen, json: bool) -> None:
    """List logs and working directory with the progress; exits with 6 if the node can't be read."""
    try:
        with visit(seen.where) as here:
            listing = _everything(here, seen.attempt.launched)
            found, gone = None, "" if json else removed(seen, here, listing)
            if listing["state"] == "running":
                found = live_status.read(here.status(), time.time())
    except NodeUnreachable as error:
        node = clean(seen.attempt.node_name)
        say(live_status.from_database(f"node `{node}`", str(error), failing="does not answer"))
        _show_known(seen, json)
        raise typer.Exit(ExitCode.NODE) from error
    if json:
        emit_json(_document(seen, "", listing, found))
        return
    sheet = output.sheet()
    _head(sheet, seen)
    if found is not None:
        live_status.draw(sheet, found)
    sheet.add()
    _table(sheet, listing)
    if gone:
        sheet.add()
        sheet.say(gone)
    output.show(sheet)


def show_listing(seen: Seen, path: str, listing: Frame, json: bool) -> None:
    """List one folder, or one file."""
    if json:
        emit_json(_document(seen, path, listing, None))
        return
    output.draw(_table, listing)


def _everything(here: AttemptReader, launched: float) -> Frame:
    """List the folder of the attempt with the contents of its working directory.

    A wrapper makes its logs in advance: none of its own files is older than the launch.
    """
    top = here.listing()
    own = [{**entry, "time": max(entry["time"], launched)} for entry in top["entries"]]
    if not any(entry["name"] == "work" for entry in own):
        return {**top, "entries": own}
    work = here.listing("work")
    inner = [{**entry, "name": f"work/{entry['name']}"} for entry in work["entries"]]
    return {**top, "entries": own + inner, "more": top["more"] or work["more"]}


def _show_known(seen: Seen, json: bool) -> None:
    if json:
        emit_json(_document(seen, "", None, None))
        return
    sheet = output.sheet()
    _head(sheet, seen)
    if seen.progress is not None:
        package.progress(sheet, seen.progress, seen.package.phase, time.time())
    output.show(sheet)


def _head(sheet: Sheet, seen: Seen) -> None:
    view, attempt = seen.package, seen.attempt
    summary = f" · attempt {attempt.number} on {attempt.node_name}"
    if attempt.outcome not in (None, view.status):
        summary += f" · {attempt.outcome}"
    state = signs.mark(phase_word(view.phase), sheet.glyphs)
    sheet.add((view.path, "strong"), "  ", *state, summary)


def _table(sheet: Sheet, listing: Frame) -> None:
    """Add entries by name, and the targets of links."""
    entries = listing["entries"]
    now = time.time()
    sheet.table([_row(entry, now) for entry in entries[:MOST]], right=[1], indent=0)
    if not entries:
        say(live_status.EMPTY_FOLDER)
    if len(entries) > MOST or listing["more"]:
        many = f"more than {count(len(entries))}" if listing["more"] else count(len(entries))
        sheet.add((f"and more, {many} in all: --json lists them", "faint"))


def _row(entry: dict[str, Any], now: float) -> list[Cell]:
    is_folder = entry["type"] == "folder"
    return [
        entry["name"] + ("/" if is_folder else ""),
        "" if is_folder else size(entry["size"]),
        moment(entry["time"], now),
        (f"-> {entry['target']}" if entry["target"] is not None else "", "faint"),
    ]


def _document(
    seen: Seen, path: str, listing: Frame | None, live: LiveStatus | None
) -> packages.Peek:
    """Return the JSON document of a list; `files` is null when the node did not answer."""
    files = None if listing is None else [_file(entry) for entry in listing["entries"]]
    return fill(
        packages.Peek,
        seen.package,
        attempt=seen.attempt.number,
        node=seen.attempt.node_name,
        folder=path,
        state=None if listing is None else listing["state"],
        now=status_document(live),
        files=files,
        more=bool(listing and listing["more"]),
    )


def _file(entry: Frame) -> packages.Entry:
    return fill(packages.Entry, entry, file=entry["name"])
