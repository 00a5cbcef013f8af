"""The page of `doctor`: what stops production, the findings, and what was not checked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Sheet, cell_width
from d0ctl.show.why.production import Obstacle
from d0ctl.units import count, listed

MOST_NAMED = 3


class Finding(Protocol):
    """A broken rule, and what repairs it."""

    @property
    def check(self) -> str:
        """The rule."""

    @property
    def subject(self) -> str:
        """The thing that breaks it."""

    @property
    def detail(self) -> str:
        """The fact."""

    @property
    def advice(self) -> str:
        """The command that repairs it."""

    @property
    def heals(self) -> bool:
        """Whether the next start of the daemon repairs it."""


def need_a_person(findings: Sequence[Finding]) -> bool:
    """Return whether a person must act on any of these: on those with advice."""
    return any(finding.advice for finding in findings)


def draw(
    sheet: Sheet,
    findings: Sequence[Finding],
    nodes: Sequence[str],
    unseen: Mapping[str, str],
    stop: Obstacle | None,
    database: Path,
    *,
    is_asked: bool = False,
) -> None:
    """Draw the page; `nodes` were checked, `unseen` were not, for these reasons.

    If all nodes should be checked, because it `is_asked` for, those are items of their own.
    """
    if stop is not None:
        _item(sheet, "warning",
              f"production stands still: {stop.text}: {'; '.join(stop.commands)}")  # fmt: skip
    for finding in findings:
        advice = f"repaired by `{finding.advice}`" if finding.heals else finding.advice
        text = f"{finding.check}: {finding.subject}: {finding.detail}"
        _item(sheet, "failed" if advice else "drained", text, advice)
    by_reason = _by_reason(unseen).items()
    unchecked = [_unchecked(names, why) for why, names in by_reason]
    has_problems = need_a_person(findings)
    if has_problems or is_asked:
        for text, (_, names) in zip(unchecked, by_reason, strict=True):
            is_advised = is_asked and "`d0ctl " not in text
            _item(sheet, "failed" if is_asked else "unknown", text,
                  f"d0ctl node check {names[0]}" if is_advised else "")  # fmt: skip
        unchecked = []
    if has_problems:
        return
    checked = listed([f"`{database}`", "the home around it", *_nodes(nodes)])
    if stop is None and not (is_asked and unseen):
        _item(sheet, "successful", "; ".join([f"no problems found: {checked}", *unchecked]))
    else:
        sheet.say("; ".join([f"nothing else found: {checked}", *unchecked]), "faint", indent="  ")


def _item(sheet: Sheet, state: str, text: str, advice: str = "") -> None:
    """Add an item on a line; if it is too long, wrapped, and its advice below."""
    mark = signs.glyph(state, sheet.glyphs)
    beside = f": {advice}" if advice else ""
    if cell_width([mark, (f" {text}{beside}", "")]) <= sheet.columns:
        sheet.add(mark, f" {text}", (beside, "faint"))
        return
    first = len(sheet.lines)
    sheet.say(text, indent="  ")
    sheet.lines[first] = (mark, (" ", ""), *sheet.lines[first][1:])
    if advice:
        sheet.say(advice, "faint", indent="    ")


def _by_reason(unseen: Mapping[str, str]) -> dict[str, list[str]]:
    names_by_reason: dict[str, list[str]] = {}
    for name, why in sorted(unseen.items()):
        names_by_reason.setdefault(why, []).append(name)
    return names_by_reason


def _unchecked(names: list[str], why: str) -> str:
    more = len(names) - MOST_NAMED
    named = [f"`{name}`" for name in names[:MOST_NAMED]]
    return (
        f"{listed([*named, f'{more:,} more'] if more > 0 else named)}"
        f" {'was' if len(names) == 1 else 'were'} not checked: {why}"
    )


def _nodes(names: Sequence[str]) -> list[str]:
    if len(names) == 1:
        return [f"node `{names[0]}`"]
    return [count(len(names), "node")] if names else []
