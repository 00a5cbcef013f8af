"""Findings of `node check` and `cluster check`, printed one by one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.output import emit_json
from d0ctl.errors import ExitCode
from d0ctl.show.cards import node as node_line

if TYPE_CHECKING:
    from d0ctl.cli.schemas.nodes import NodeFinding
    from d0ctl.nodes.node_check import Finding

WAYS = frozenset({"reach", "login node"})
"""Checks that come first: without them, nothing else can be checked."""


def report_cluster(name: str, found: Iterable["Finding"], *, json: bool) -> ExitCode:
    """Print findings about a cluster; return the exit code."""
    findings = list(found if json else _printed(found))
    if json:
        emit_json({"cluster": name, "ok": not _bad(findings), "findings": _documents(findings)})
    return _verdict(findings)


def report_nodes(checks: Sequence[tuple[str, Iterable["Finding"]]], *, json: bool) -> ExitCode:
    """Print findings about nodes, of several under their names; return the worst exit code."""
    checked = []
    for name, found in checks:
        if len(checks) > 1 and not json:
            output.emit((name, "strong"))
        checked.append((name, list(found if json else _printed(found))))
    if json:
        emit_json({"ok": not any(_bad(findings) for _, findings in checked), "nodes": [
            {"node": name, "ok": not _bad(findings), "findings": _documents(findings)}
            for name, findings in checked
        ]})  # fmt: skip
    return max((_verdict(findings) for _, findings in checked), default=ExitCode.DONE)


def _printed(found: Iterable["Finding"]) -> Iterator["Finding"]:
    """Print findings as they come."""
    for finding in found:
        output.draw(node_line.finding, finding.ok, finding.what, finding.detail, finding.advice)
        yield finding


def _bad(findings: Iterable["Finding"]) -> list["Finding"]:
    return [finding for finding in findings if finding.ok is False]


def _documents(findings: Iterable["Finding"]) -> list["NodeFinding"]:
    return [
        {"ok": finding.ok, "what": finding.what, "detail": finding.detail,
         "advice": finding.advice or None}
        for finding in findings
    ]  # fmt: skip


def _verdict(findings: Iterable["Finding"]) -> ExitCode:
    bad = _bad(findings)
    if any(finding.what in WAYS for finding in bad):
        return ExitCode.NODE
    return ExitCode.FAILED if bad else ExitCode.DONE
