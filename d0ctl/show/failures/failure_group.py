"""The card of packages that failed alike: causes, what the policy did, commands, packages."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from d0ctl.model import Phase
from d0ctl.show.cards import package
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import gist
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.explanation import explain
from d0ctl.show.why.common import Explanation
from d0ctl.store.views.shapes import PackageRow
from d0ctl.store.views.shapes.of_package import AttemptView
from d0ctl.units import count, listed, moment

MOST_NODES, MOST_CAUSES = 6, 4
LEAST_LOG = 8
"""How many lines of each stream are shown at least."""

WIDE = 90
"""From this width on there is room for the message of each package, even if all are alike."""


class GroupCard(Struct, frozen=True):
    """Everything on the card; `jobs` and `nodes` say how many packages failed in each.

    `causes` has the messages of the first `compared` ones, those that are alike once, with their
    numbers; `packages` the first ones. Without an explanation the past is shown.
    """

    name: str
    number: int
    acknowledged: int
    tries: tuple[int, int]
    jobs: Mapping[str, int]
    nodes: Mapping[str, int]
    first: float
    last: float
    causes: Mapping[str, int]
    compared: int
    latest: str
    packages: Sequence[PackageRow] = ()
    why: Explanation | None = None
    attempts: Sequence[AttemptView] = ()
    """Those of the package if it is just one."""


def draw(sheet: Sheet, group: GroupCard, now: float, keys: str = "") -> None:
    """Draw all but the packages; `keys` says what can be pressed."""
    jobs = listed(group.jobs) if len(group.jobs) <= MOST_CAUSES else count(len(group.jobs), "job")
    is_in_it = any(group.name.startswith(f"{job}/") for job in group.jobs)
    sheet.add((group.name, "strong"), "" if is_in_it else f"  {jobs}")
    if group.number > 1 or group.why is None:
        _numbers(sheet, group, now)
        sheet.head("why")
        _causes(sheet, group)
        _explanation(sheet, group.why)
    else:
        explain(sheet, group.why)
    if keys and group.why is not None:
        sheet.say(keys, "faint", indent="  ")


def _numbers(sheet: Sheet, group: GroupCard, now: float) -> None:
    """Say how many have failed, where and when, and how many are acknowledged."""
    role = "bad" if group.acknowledged < group.number else "plain"
    facts = [_when(group, now), _tries(group.tries, group.number)]
    if group.acknowledged:
        facts.insert(0, f"{count(group.acknowledged)} acknowledged")
    packages = count(group.number, "failed package")
    sheet.flow([*signs.mark("failed", sheet.glyphs)[:1], (packages, role)], facts)
    sheet.say(_nodes(group.nodes), indent="  ")


def _nodes(nodes: Mapping[str, int]) -> str:
    by_number = sorted(nodes, key=lambda node: (-nodes[node], node))
    if len(nodes) == 1:
        return f"on {by_number[0]}"
    shown = [f"{count(nodes[node])} on {node}" for node in by_number[:MOST_NODES]]
    rest = len(nodes) - len(shown)
    return ", ".join([*shown, *([f"and {count(rest, 'more node')}"] if rest else [])])


def _when(group: GroupCard, now: float) -> str:
    first, last = moment(group.first, now), moment(group.last, now)
    return f"at {last}" if first == last else f"{first} to {last}"


def _tries(tries: tuple[int, int], number: int) -> str:
    least, most = tries
    each = " each" if number > 1 else ""
    return (
        count(most, "attempt") if least == most else f"{least} to {count(most, 'attempt')}"
    ) + each


def _causes(sheet: Sheet, group: GroupCard) -> None:
    causes = sorted(group.causes.items(), key=lambda pair: -pair[1])
    for message, number in causes[:MOST_CAUSES]:
        of = f" of the first {count(group.compared)}" if group.compared < group.number else ""
        times = f"{count(number)} alike{of}: " if number > 1 else ""
        sheet.say(f"{times}{message or 'no message'}", "bad", indent="  ")
    if len(causes) > MOST_CAUSES:
        sheet.say(f"and {count(len(causes) - MOST_CAUSES, 'other message')}", "faint", indent="  ")


def _explanation(sheet: Sheet, why: Explanation | None) -> None:
    if why is None:
        return
    for fact in why.facts:
        sheet.say(fact, "faint", indent="- ")
    sheet.commands(why.commands)


def draw_packages(sheet: Sheet, group: GroupCard, now: float) -> None:
    """Draw the packages, one line each; of just one its attempts."""
    if group.number < 2:
        package.attempts(sheet, group.attempts, now)
        return
    more = group.number - len(group.packages)
    about = f"the first {count(len(group.packages))}" if more else ""
    sheet.head("packages", about)
    with_cause = len(group.causes) > 1 or sheet.columns > WIDE
    cells = [_package(sheet, row, now, with_cause) for row in group.packages]
    sheet.table(cells, give=7 if with_cause else 1)


def _package(sheet: Sheet, row: PackageRow, now: float, with_cause: bool) -> list[Cell]:
    state = row.phase if row.phase != Phase.FAILED else ""
    name = row.name if row.name != row.path.rpartition("/")[2] else ""
    seen = f"acknowledged by {row.acknowledged}" if row.acknowledged else ""
    message = gist(row.message) if with_cause else ""
    if seen and with_cause and sheet.columns <= WIDE:  # a column takes room from all messages
        seen, message = "", f"acknowledged  {message}"
    return [
        (row.path, "strong"),
        name,
        signs.mark(state, sheet.glyphs) if state else "",
        row.node,
        (count(row.attempts, "attempt") if row.attempts > 1 else "", "faint"),
        (moment(row.ended, now) if row.ended is not None else "", "faint"),
        (seen, "faint"),
        (message, "faint" if row.acknowledged else "plain"),
    ]


def draw_log(
    sheet: Sheet, group: GroupCard, ends: Sequence[tuple[str, str]], key: str, rows: int
) -> None:
    """Draw the ends of the streams of the latest package, in some rows."""
    sheet.head("log", f"of {group.latest}; {key} shows all")
    if not ends:
        sheet.say("nothing was printed", "faint", indent="  ")
    room = max(LEAST_LOG, rows // max(1, len(ends)) - 2)
    for stream, text in ends:
        sheet.add((f"  {stream}", "faint"))
        sheet.quote(text, room)
