"""The first table of docs/speed.md, written from docs/bench.json: the figures of one full run."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
FIGURES = DOCS / "bench.json"
PAGE = DOCS / "speed.md"

HEAD = "| in one run of `make bench` | figure |\n|---|---|\n"
"""Where the table begins; it ends with an empty line."""


class Row(NamedTuple):
    """A row: its two texts, and where the figures in them come from.

    A place such as `P1: packages over ssh >  CPU a package, all` is a budget, a part of what was
    measured, and perhaps a part of a row below it.
    """

    what: str
    shown: str
    places: Mapping[str, str]


ROWS = (
    Row("packages of `true` on two ssh nodes, every attempt and transition in the database",
        "{rate:.0f}/s, {all:.1f} ms of CPU each (node {node:.1f}, control host {control:.1f})",
        {"rate": "P1: packages over ssh", "all": "P1: packages over ssh > package, all",
         "node": "P1: packages over ssh > package, node",
         "control": "P1: packages over ssh > package, control"}),
    Row("the same by HyperQueue, local, without history; d0ctl beside it",
        "{hq:.0f}/s; {ratio:.2f} times as fast",
        {"hq": "P1: peer: HyperQueue", "ratio": "P1: a part of HyperQueue"}),
    Row("the same by GNU parallel over ssh", "{parallel:.0f}/s",
        {"parallel": "P1: peer: GNU parallel"}),
    Row("messages to committed rows, successors released, in files of 50; one by one",
        "{many:,.0f}/s; {one:,.0f}/s",
        {"many": "P2: in files of 50", "one": "P2: in files of their own"}),
    Row("from a message file to the commit at 1,000/s, median; 99 % of them",
        "{half:.0f} ms; {most:.0f} ms", {"half": "P2: p50", "most": "P2: p99"}),
    Row("submit 100,000 packages", "{took:.1f} s, {peak:.0f} MB",
        {"took": "P3: submit, 100,000", "peak": "P3: submit, 100,000 > peak memory"}),
    Row("the scheduler's pass at 1,000; at 100,000 waiting packages",
        "{few:.1f} ms; {many:.1f} ms", {"few": "P4: , 1,000 wait", "many": "P4: , 100,000 wait"}),
    Row("CPU of `status`, `status JOB`, `why` at 100,000 packages; of a completion; of `--version`",
        "{status:.1f}, {job:.1f} and {why:.1f}; {tab:.1f}; {version:.1f} times `python -c pass`"
        " ({none:.3f} s)",
        {"version": "P5: --version", "status": "P5: d0ctl status at", "job": "P5: status JOB",
         "why": "P5: why PACKAGE", "tab": "P5: TAB", "none": "P5: python -c pass"}),
    Row("the dashboard: first paint after imports; a key; a commit to the screen",
        "{first:.1f} s; {key:.0f} ms; {commit:.0f} ms",
        {"first": "P6: first paint", "key": "P6: a key to its paint, median",
         "commit": "P6: a commit to its paint, median"}),
    Row("the same at rest; at 1,000 transitions a second; memory beside an empty Textual app",
        "{idle:.1f} % of a core; {busy:.0f} %, {bytes:.0f} kB/s; {memory:.0f} MB",
        {"idle": "P6: idle, share", "busy": "P6: CPU at", "bytes": "P6: bytes at",
         "memory": "P6: memory over"}),
    Row("a wrapper whose binary reports progress every second; 64 of them together",
        "{one:.2f} % of a core, {memory:.1f} MB; {all:.1f} % of a core",
        {"one": "P7: wrapper, share", "memory": "P7: memory (PSS)", "all": "P7: altogether"}),
    Row("`examples/zpeak`", "{ratio:.2f} times its pure work", {"ratio": "P8: over pure work"}),
    Row("a Montage with files on this machine; beside HyperQueue; beside `make` on the same tasks",
        "{rate:.0f}/s, {all:.1f} ms of CPU each; {hq:.2f}; {make:.2f} of their rates",
        {"rate": "P11: Montage of", "all": "P11: Montage of > package, all",
         "hq": "P11: a part of HyperQueue", "make": "P11: a part of make"}),
    Row("from the end of the last of 400 makers to the start of a merge on another node",
        "{gap:.2f} s", {"gap": "P12: merge of"}),
    Row("1 GB from one node to another, until the package that reads it starts",
        "{rate:.0f} MB/s, {ratio:.2f} of scp beside it",
        {"rate": "P12: 1 GB from", "ratio": "P12: a part of scp"}),
    Row("workflow shapes of WfCommons, rehearsed: makespan over the lower bound, median",
        "{median:.2f}", {"median": "P13: median"}),
    Row("packages of `true` in two pilots of 32 slots, on a Slurm of this machine",
        "{rate:.0f}/s, {ratio:.2f} of the rate of ssh nodes of that size",
        {"rate": "P14: 2 pilots", "ratio": "P14: a part of the ssh nodes"}),
    Row("the same with jobs of their own (`mode: direct`)",
        "{rate:.0f}/s, {ratio:.2f} of the rate of a plain array of that size",
        {"rate": "P14: jobs of their own, 2", "ratio": "P14: a part of the plain array"}),
)  # fmt: skip


def table(answer: Mapping[str, Any]) -> str:
    """Return the table for a run, with its day, commit and machine."""
    rows = [f"| {row.what} | {_shown(row, answer['figures'])} |\n" for row in ROWS]
    machine = answer["machine"]
    of = f"{machine['began'][:10]}, commit {machine['commit']}, {machine['cpus']} CPUs"
    return "".join([HEAD, *rows, f"| day; commit; machine | {of}, {machine['processor']} |\n"])


def _shown(row: Row, figures: Sequence[Mapping[str, Any]]) -> str:
    found = {name: _value(place, figures) for name, place in row.places.items()}
    if None not in found.values():
        return row.shown.format(**found)
    if set(found.values()) == {None}:
        return "not measured"
    return "; ".join(f"{name} {'-' if value is None else f'{value:.4g}'}"
                     for name, value in found.items())  # fmt: skip


def _value(place: str, figures: Sequence[Mapping[str, Any]]) -> float | None:
    budget, _, what = place.partition(": ")
    parts = what.split(" > ")
    for figure in figures:
        if figure["id"] == budget and parts[0] in figure["what"]:
            parts.pop(0)
            if not parts:
                value: float | None = figure["value"]
                return value
    return None


def renewed(page: str, answer: Mapping[str, Any]) -> str:
    """Return a page with the table of a run; it comes first where the page has none."""
    made = table(answer)
    if HEAD not in page:
        return page.replace("\n\n| ", f"\n\n{made}\n| ", 1)
    return re.sub(re.escape(HEAD) + r"(\|.*\n)*", lambda _: made, page)


def main() -> int:
    """Write the table."""
    PAGE.write_text(renewed(PAGE.read_text(), json.loads(FIGURES.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
