"""The only place that lists what lies in the folder of an attempt."""

import time
from dataclasses import dataclass
from typing import Any

import typer

from d0ctl.cli import present, show_part
from d0ctl.cli.terminal.output import emit, emit_json, mark, paint, say, table
from d0ctl.errors import ExitCode, NodeUnreachable
from d0ctl.nodes.link import Frame
from d0ctl.nodes.peek import Visit, Where, visit
from d0ctl.store.views.shapes import AttemptView, PackageView, ProgressView
from d0ctl.units import clean, count, iso, moment, size

MOST = 200
"""How many entries are shown on the screen."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the database knows of an attempt, and where it lies."""

    package: PackageView
    attempt: AttemptView
    where: Where
    progress: ProgressView | None


def show(seen: Seen, json: bool) -> None:
    """List logs and working directory, and say how far it is; exits with 6 when it can't."""
    try:
        with visit(seen.where) as here:
            listing = _everything(here)
            found = present.present(here.status()) if listing["state"] == "running" else None
    except NodeUnreachable as error:
        node = clean(seen.attempt.node_name)
        say(f"d0ctl: node `{node}` does not answer, so this is what the database knows: "
            f"{clean(str(error))}")  # fmt: skip
        _show_known(seen, json)
        raise typer.Exit(ExitCode.NODE) from error
    if json:
        emit_json(_document(seen, "", listing, found))
        return
    _head(seen)
    if found is not None:
        present.draw(found)
    emit()
    _table(listing)


def show_listing(seen: Seen, path: str, listing: Frame, json: bool) -> None:
    """List one folder, or one file."""
    if json:
        emit_json(_document(seen, path, listing, None))
    else:
        _table(listing)


def _everything(here: Visit) -> Frame:
    """List the folder of the attempt, what lies in its working directory among it."""
    top = here.listing()
    if not any(entry["name"] == "work" for entry in top["entries"]):
        return top
    work = here.listing("work")
    inner = [{**entry, "name": f"work/{entry['name']}"} for entry in work["entries"]]
    return {**top, "entries": top["entries"] + inner, "more": top["more"] or work["more"]}


def _show_known(seen: Seen, json: bool) -> None:
    if json:
        emit_json(_document(seen, "", None, None))
        return
    _head(seen)
    if seen.progress is not None:
        now = time.time()
        far = show_part.how_far(
            seen.progress.percent,
            seen.progress.eta,
            clean(seen.progress.line),
            now,
            seen.package.phase,
        )
        emit(f"binary {seen.progress.binary}: {far or 'under way'} · "
             f"told {moment(seen.progress.at, now)}")  # fmt: skip


def _head(seen: Seen) -> None:
    one, tried = seen.package, seen.attempt
    words = [mark(one.status)]
    if one.phase not in (one.status, "done"):
        words.append(one.phase)
    words.append(f"attempt {tried.number} on {clean(tried.node_name)}")
    if tried.outcome not in (None, one.status):
        words.append(tried.outcome)
    emit(f"{paint(clean(one.path), 'strong')}  {' · '.join(words)}")


def _table(listing: Frame) -> None:
    """Print entries by name; what a link leads to stands beside it."""
    entries = listing["entries"]
    now = time.time()
    table([_row(entry, now) for entry in entries[:MOST]], right=[1])
    if not entries:
        say("nothing is there")
    if len(entries) > MOST or listing["more"]:
        many = f"more than {count(len(entries))}" if listing["more"] else count(len(entries))
        emit(paint(f"and more, {many} altogether: --json lists them", "faint"))


def _row(entry: dict[str, Any], now: float) -> list[str]:
    is_folder = entry["type"] == "folder"
    name = clean(entry["name"]) + ("/" if is_folder else "")
    target = f"-> {clean(entry['target'])}" if entry["target"] is not None else ""
    weight = "" if is_folder else size(entry["size"])
    return [name, weight, moment(entry["time"], now), paint(target, "faint") if target else ""]


def _document(
    seen: Seen, path: str, listing: Frame | None, found: present.Present | None
) -> dict[str, Any]:
    """The JSON document of a list; `files` is null when the node did not answer."""
    files = None if listing is None else [_file(entry) for entry in listing["entries"]]
    return {
        "path": seen.package.path,
        "status": seen.package.status,
        "phase": seen.package.phase,
        "attempt": seen.attempt.number,
        "node": seen.attempt.node_name,
        "folder": path,
        "state": None if listing is None else listing["state"],
        "now": None if found is None else present.document(found),
        "files": files,
        "more": bool(listing and listing["more"]),
    }


def _file(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "file": entry["name"],
        "type": entry["type"],
        "size": entry["size"],
        "time": iso(entry["time"]),
        "target": entry["target"],
    }
