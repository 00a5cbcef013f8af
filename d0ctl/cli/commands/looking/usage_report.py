"""`d0ctl report usage`: what attempts took, as a table, CSV, JSON or a page with plots."""

import csv as separated
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.terminal.output import emit, emit_json, say, sheet, show
from d0ctl.cli.terminal.periods import length
from d0ctl.errors import BadUsage, Refused
from d0ctl.units import duration, iso

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from d0ctl.store import Store
    from d0ctl.store.views.usage import NodeStay, Report, Usage

_GROUPS = ("node", "software", "researcher", "job", "stage", "package")

By = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="GROUP", autocompletion=lambda: list(_GROUPS),
                 help="node, software, researcher, job, stage or package; may be repeated "
                      "(default: all but package)."),
]  # fmt: skip

Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME",
                 help="Only attempts that ended since then: `30d`, `yesterday`, `2026-11-27`."),
]  # fmt: skip

Csv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]

WithArchives = Annotated[
    bool, typer.Option("--with-archives", help="Count the jobs of all archives, too.")
]

Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="File to write a page with tables and plots to."),
]


def usage(
    selector: options.MaybeTarget = None,
    by: By = None,
    since: Since = None,
    with_archives: WithArchives = False,
    csv: Csv = False,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """Show success, waste, efficiency, waits and throughput."""
    from d0ctl.show.usage import figures, usage_page
    from d0ctl.store.views import usage as view

    if sum((csv, json, html is not None)) > 1:
        raise BadUsage("one of `--csv`, `--json` and `--html`")
    check_archives(selector, with_archives=with_archives)
    groups = [group for group in _GROUPS if group in _checked(by)]
    wanted = None if selector is None else select.parse_all([selector])
    now, period = time.time(), length(since)
    began = 0.0 if period is None else now - period
    reports, stays = list["Report"](), list["NodeStay"]()
    for opened in readers(began, with_archives=with_archives):
        with opened as store, store.reading():
            reports.append(
                view.read(store, wanted, since=began, now=now, packages="package" in groups)
            )
            stays += view.stays(store) if html is not None else []
    report = view.merged(reports)
    stays.sort(key=lambda stay: stay.began)
    if html is not None:
        about = _about(selector, period)
        _write(html, usage_page.page(report, stays, about=about, now=now))
        emit(figures.wrote(html))
    elif json:
        emit_json({
            "selector": None if wanted is None else str(wanted),
            "since": None if period is None else iso(began), "total": _figures(report.whole),
            "failures": [{"reason": reason, "count": number} for reason, number in report.failures],
            **{f"by_{group}": [{group: usage.name, **_figures(usage)}
                               for usage in report.groups[group]] for group in groups},
        })  # fmt: skip
    elif csv:
        _print_csv(report, groups)
    elif not report.whole.attempts:
        emit(figures.nothing(selector, period))
    else:
        page = sheet()
        figures.draw(page, report, groups)
        show(page)
    if selector is None and not json and not with_archives:
        mention_archives(began, can_add=True)


def check_archives(job: str | None, *, with_archives: bool) -> None:
    """Raise BadUsage if the jobs of all archives are to count, but one job or archive is named."""
    if with_archives and (job is not None or session.home().archive):
        raise BadUsage("`--with-archives` counts all jobs: leave out the "
                       f"{'job' if job else '--archive'}")  # fmt: skip


def readers(
    since: float, *, with_archives: bool
) -> "Iterator[AbstractContextManager[Store]]":  # fmt: skip
    """Open the database, and then archives that may have attempts since then; each job is in one
    of these only.
    """
    yield session.reader()
    if with_archives:
        from d0ctl.store.checks.repeated_jobs import archive_readers

        yield from archive_readers(session.home(), since)


def mention_archives(since: float, *, can_add: bool = False) -> None:
    """Say that archives are not counted, if there are any that may have attempts since then."""
    from d0ctl.show import administration
    from d0ctl.store.jobs import archive

    home = session.home()
    if not home.archive and (names := archive.names_since(home, since)):
        say(administration.not_counted(names, can_add=can_add))


def _checked(by: list[str] | None) -> list[str]:
    for name in by or ():
        if name not in _GROUPS:
            raise BadUsage(f"`--by {name}` is not one of {', '.join(_GROUPS)}")
    return by or [name for name in _GROUPS if name != "package"]


def _about(selector: str | None, period: float | None) -> str:
    what = selector or "all jobs"
    if session.settings.archive:
        what += f" of archive {session.settings.archive}"
    return what if period is None else f"{what}, the last {duration(period)}"


def _figures(usage: "Usage") -> dict[str, Any]:
    return {
        "attempts": usage.attempts, "successful": usage.successful, "failed": usage.failed,
        "success": _rounded(usage.success),
        "mean_run": _rounded(usage.run_s), "shortest_run": _rounded(usage.shortest_run_s),
        "longest_run": _rounded(usage.longest_run_s), "reserved_cpu_hours": usage.reserved_s / 3600,
        "cpu_hours": usage.cpu_s / 3600,
        "wasted_cpu_hours": usage.wasted_s / 3600,
        "efficiency": _rounded(usage.efficiency), "mean_wait": _rounded(usage.wait_s),
        "longest_wait": _rounded(usage.longest_s), "per_hour": _rounded(usage.per_hour),
        "first": iso(usage.first), "last": iso(usage.last),
    }  # fmt: skip


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _print_csv(report: "Report", groups: list[str]) -> None:
    writer = separated.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["by", "name", *_figures(report.whole)])
    for group in groups:
        for usage in report.groups[group]:
            writer.writerow([group, usage.name, *_figures(usage).values()])


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused(f"can't write `{path}`: {error.strerror}") from error
