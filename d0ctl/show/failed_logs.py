"""The last lines that failed packages printed, by the reason of the failure."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.lists import failure, same_in
from d0ctl.store.views.shapes import FailureView
from d0ctl.units import count, likeness

MOST_LOGS = 5
"""How many different logs are shown for a reason."""


class FailedLog(Struct):
    """The end of the log of a failed package, and other packages that ended alike.

    `stream` is where the lines were printed; `trouble` says why they can't be read.
    """

    failure: FailureView
    lines: list[str]
    stream: str | None = None
    trouble: str | None = None
    alike: list[str] = field(default_factory=list)
    differ: bool = False
    """Whether the logs of these differ from it in numbers."""

    @property
    def number(self) -> int:
        """How many packages ended like this."""
        return 1 + len(self.alike)


Logs = Mapping[str, list[FailedLog]]
"""Different logs by the reason of failure, the most frequent first."""


def grouped(failures: Sequence[FailureView], lines: int) -> Logs:
    """Group failures by reason, and those that differ only in numbers into one log."""
    logs: dict[tuple[str, str, str], FailedLog] = {}
    for failed in failures:
        last = (failed.stderr or "").rstrip().splitlines()[-lines:]
        text = likeness("\n".join(last))
        key = (failed.reason or "unknown", likeness(failed.message), text)
        if key in logs:
            log = logs[key]
            log.alike.append(failed.path)
            log.differ |= (failed.message, last) != (log.failure.message, log.lines)
        else:
            logs[key] = FailedLog(failed, last, "stderr" if last else None)
    by_reason: dict[str, list[FailedLog]] = {}
    for (reason, _, _), log in logs.items():
        by_reason.setdefault(reason, []).append(log)
    for group in by_reason.values():
        group.sort(key=lambda log: -log.number)
    return dict(sorted(by_reason.items(), key=lambda item: -number_of(item[1])))


def number_of(logs: Sequence[FailedLog]) -> int:
    """Return how many packages have these logs."""
    return sum(log.number for log in logs)


def no_failures(selector: str, earlier: int) -> str:
    """Say that no package is failed, and how many attempts of them have failed before."""
    if not earlier:
        return "nothing has failed"
    return (
        f"no package is failed now; {count(earlier, 'earlier failure')}: d0ctl history {selector}"
    )


def draw(sheet: Sheet, logs: Logs, selector: str, failed: int, now: float) -> None:
    """Draw the logs; `failed` is how many packages of the selection have failed."""
    for reason, group in logs.items():
        sheet.head(f"{reason}: {count(number_of(group), 'package')}")
        for log in group[:MOST_LOGS]:
            _log(sheet, log, now)
        if more := group[MOST_LOGS:]:
            others = f"{count(number_of(more), 'package')} with other logs"
            sheet.add((f"  and {others}: d0ctl history {selector}", "faint"))
    if (read := sum(map(number_of, logs.values()))) < failed:
        sheet.add()
        sheet.say(f"these are the latest {count(read)} of {count(failed, 'failed package')}")
    log = next(iter(logs.values()))[0]
    path = log.failure.path
    sheet.add()
    sheet.commands([*[f"d0ctl logs {path}"] * (not log.trouble), f"d0ctl why {path}"])


def _log(sheet: Sheet, log: FailedLog, now: float) -> None:
    shown = replace(log.failure, stderr="\n".join(log.lines))
    failure(sheet, shown, now, len(log.lines))
    if log.trouble:
        sheet.say(log.trouble, "warn", indent=" " * 4)
    elif not log.lines:
        sheet.say("it printed nothing", "faint", indent=" " * 4)
    same_in(sheet, log.alike, differ=log.differ)
