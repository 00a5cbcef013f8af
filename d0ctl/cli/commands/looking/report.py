"""`d0ctl report`: what happened in a production, in figures."""

import shlex
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import asdict

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.pages.metrics import metrics
from d0ctl.cli.commands.looking.pages.timeline_report import timeline
from d0ctl.cli.commands.looking.usage_report import usage
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.errors import NotFound
from d0ctl.show.drawing.sheet import Cell
from d0ctl.show.lists import NOTHING_FAILED, cause
from d0ctl.units import count, iso, moment

if TYPE_CHECKING:
    from d0ctl.policy.blame import Blame
    from d0ctl.schedule.disk_profile import Profile
    from d0ctl.store.views.failure_counts import Alike, Report

app = group("Report failures, usage, disk, metrics and timelines.")

_COMMANDS = {"node": "d0ctl why --node {0}", "software": "d0ctl software verify {0}",
             "input": "d0ctl why {0}"}  # fmt: skip
"""The command to type for each finding."""

Cluster = Annotated[
    str | None,
    typer.Argument(metavar="CLUSTER", help="A cluster: its cache by the hour.", show_default=False),
]

MOST_SHOWN = 8
MOST_IN_DOCUMENT = 1_000
WIDEST = 90


@app.command()
def failures(
    selector: options.MaybeTarget = None,
    status: options.Status = None,
    reason: options.Reason = None,
    node: options.Node = None,
    older_than: options.OlderThan = None,
    json: options.Json = False,
) -> None:
    """Count failures by reason, node, software and input."""
    from d0ctl.store.views.failure_counts import failures as read

    filters = (status, reason, node, older_than)
    wanted = None
    if selector is not None or any(filters):
        wanted = select.parse_all([selector or "*"], status=status or (), reason=reason, node=node,
                              older_than=older_than)  # fmt: skip
    now = time.time()
    with session.reader() as store, store.reading():
        found = read(store, wanted, now=now, limit=MOST_IN_DOCUMENT if json else MOST_SHOWN)
    if json:
        emit_json({"selector": None if wanted is None else str(wanted), **_document(found)})
    else:
        _draw(found, now)


app.command("usage")(usage)
app.command("metrics")(metrics)
app.command("timeline")(timeline)


@app.command()
def disk(cluster: Cluster = None, json: options.Json = False) -> None:
    """Show how full caches become in the next 24 hours."""
    from d0ctl.show.usage import cache_levels as card
    from d0ctl.store.clusters import disk_forecast

    now = time.time()
    with session.reader() as store, store.reading():
        found = disk_forecast.forecast(store, now=now)
    if cluster is not None:
        found = [profile for profile in found if profile.cache.name == cluster]
        if not found:
            raise NotFound(f"there is no cluster `{cluster}` with nodes", hint="d0ctl cluster list")
    if json:
        emit_json({"caches": [_profile(profile, now) for profile in found]})
        return
    page = sheet()
    card.draw(page, found, now, is_whole=cluster is not None)
    show(page)


def _profile(profile: "Profile", now: float) -> Any:
    at_s, peak = profile.peak
    return {"cluster": profile.cache.name, "space": profile.cache.space, "used": profile.cache.used,
            "peak": peak, "peak_at": iso(now + at_s),
            "full_at": None if profile.full_s is None else iso(now + profile.full_s),
            "profile": [{"at": iso(now + at), "bytes": has}
                        for at, has in profile.points]}  # fmt: skip


def _document(found: "Report") -> dict[str, Any]:
    return {
        "failures": found.count,
        "packages": found.packages,
        "failed": found.failed,
        "tried_again": found.again,
        "acknowledged": found.acknowledged,
        "cpu_hours": _hours(found.wasted),
        "blamed": [_blame(blame) for blame in found.blamed],
        **{f"by_{name}": [_entry(name, alike) for alike in rows]
           for name, rows in found.groups.items()},
    }  # fmt: skip


def _blame(blame: "Blame") -> Any:
    return {blame.kind: blame.share.name, "failed": blame.share.failed, "of": blame.share.number,
            "others_failed": blame.others.failed, "others": blame.others.number,
            "sentence": blame.sentence()}  # fmt: skip


def _entry(group: str, alike: "Alike") -> dict[str, Any]:
    from d0ctl.cli.documents import acknowledgement

    seen = alike.sample.acknowledged
    known = None if seen is None else acknowledgement(seen.actor, seen.at, seen.note)
    return {group: alike.name, "count": alike.count, "packages": alike.packages,
            "acknowledged": alike.acknowledged, "cpu_hours": _hours(alike.wasted),
            "last": iso(alike.last),
            "sample": {**asdict(alike.sample), "acknowledged": known}}  # fmt: skip


def _command(blame: "Blame", found: "Report") -> str:
    """Return the command for a finding; a file is named with a job in which it failed."""
    name = blame.share.name
    if blame.kind == "input":
        samples = (alike.sample.path for alike in found.groups["input"] if alike.name == name)
        name = f"{next(samples, '*').partition('/')[0]}:{name}"
    return _COMMANDS[blame.kind].format(shlex.quote(name))


def _hours(seconds: float) -> float:
    return round(seconds / 3600, 4)


def _draw(found: "Report", now: float) -> None:
    page = sheet()
    if not found.count:
        page.say(NOTHING_FAILED)
        show(page)
        return
    page.say(f"{count(found.count, 'failure')} of {count(found.packages, 'package')}, "
             f"{count(found.again)} tried again by the policy, "
             f"{_hours(found.wasted):,.2f} CPU hours wasted")  # fmt: skip
    for blame in found.blamed:
        page.say(blame.sentence())
        page.add((f"  {_command(blame, found)}", "faint"))
    for key, rows in found.groups.items():
        if rows:
            page.head(f"by {key}")
            page.rows([_row(alike, now) for alike in rows], indent=2)
            if len(rows) == MOST_SHOWN:
                page.add(("  and more: --json prints all", "faint"))
    show(page)


def _cut(text: str | None) -> str | None:
    """As much of a message as fits into a table."""
    return text if text is None or len(text) <= WIDEST else f"{text[:WIDEST]}..."


def _row(alike: "Alike", now: float) -> list[Cell]:
    sample = alike.sample
    return [
        alike.name, count(alike.count, "failure"), count(alike.packages, "package"),
        f"{alike.acknowledged:,} acknowledged" if alike.acknowledged else "",
        f"{_hours(alike.wasted):,.2f} CPU h", f"last {moment(alike.last, now)}",
        f"{sample.path}: {cause(sample.reason, _cut(sample.message))}",
    ]  # fmt: skip
