"""Mail and notifications: waiting, in transit or sent, and tests of them."""

from collections.abc import Mapping, Sequence

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.store.connection import Row
from d0ctl.store.mail.mail_queue import MessageRecord
from d0ctl.units import count, duration, listed, moment

NO_MAIL = "the site has no `mail`, so d0ctl notifies no one"
HINT = "a section `mail:` in the site file says who is notified: docs/mail.md"

TEST_TITLE = "a test mail from d0ctl"
TEST_TEXT = "This is a test by `d0ctl notify test`: mail from d0ctl arrives here.\n"
TEST_HEADLINE = "a test event from d0ctl"


def draw(
    sheet: Sheet,
    ways: Sequence[str],
    names: Mapping[str, str],
    waiting: Sequence[Row],
    on_way: Sequence[MessageRecord],
    ended: Sequence[MessageRecord],
    now: float,
) -> None:
    """Draw the ways by which people are notified, and the messages.

    `names` has the recipients of waiting messages that are not shown by their own names; what was
    sent has the name of the way by which it was.
    """

    def called(recipient: str) -> str:
        return names.get(recipient, recipient)

    nothing = "" if waiting or on_way else "; nothing is waiting"
    sheet.add(
        f"people are notified by {listed(ways)}{nothing}" if ways else f"{NO_MAIL}: docs/mail.md"
    )
    _section(sheet, "waiting", [_waiting(called(row["recipient"]), row, now) for row in waiting])
    _section(sheet, "on the way", [_on_way(called(row.recipient), row, now) for row in on_way])
    _section(sheet, "last", [_ended(row, now, sheet.glyphs) for row in ended])


def _section(sheet: Sheet, title: str, rows: Sequence[Sequence[Cell]]) -> None:
    if rows:
        sheet.add()
        sheet.add((title, "strong"))
        sheet.table(rows)


def _waiting(recipient: str, row: Row, now: float) -> list[Cell]:
    due = f"in {duration(row['due'] - now)}" if row["due"] > now else "now"
    return [recipient, count(row["things"], "event"), f"to be written {due}"]


def _on_way(recipient: str, row: MessageRecord, now: float) -> list[Cell]:
    details = row.last_error or ""
    if row.tries:
        again = duration(max(0.0, (row.not_before or 0.0) - now))
        details = f"{count(row.tries, 'try', 'tries')}, next in {again}: {details}"
    return [str(row.id), recipient, moment(row.made, now), row.title, details]


def _ended(row: MessageRecord, now: float, glyphs: Glyphs) -> list[Cell]:
    details = "" if row.sent else f"given up: {row.last_error or ''}"
    mark = signs.glyph("successful" if row.sent else "failed", glyphs)
    return [mark, str(row.id), row.way or row.recipient, moment(row.ended, now), row.title,
            details]  # fmt: skip


def no_address(originator: str, job: str, jobs: int) -> str:
    """Say that a researcher gets no mail about jobs that have not ended."""
    more = f" and {count(jobs - 1, 'other job')}" if jobs > 1 else ""
    return (f"`{originator}` gets no mail about `{job}`{more}: it is no address, and the site file "
            "has none for it under `recipients:` of `mail:`")  # fmt: skip


def retried_now(number: int) -> str:
    """Say that waiting messages are sent now."""
    return f"sending {count(number, 'waiting message')} now"


def failed(error: str, glyphs: Glyphs) -> list[Cell]:
    """Say why a test failed."""
    return [signs.glyph("failed", glyphs), f" {error}"]


def advice(error: str) -> str:
    """Return the key of `mail` in the site file that a failed test mail suggests to change."""
    if "STARTTLS" in error:
        return "`security: none` in `mail` of the site file, if the server has no encryption"
    return "see `host`, `port` and `security` of `mail`: d0ctl site show"


def mail_taken(host: str, address: str, glyphs: Glyphs) -> list[Cell]:
    """Say that a server accepted the test mail."""
    return [signs.glyph("successful", glyphs), f" `{host}` accepted a test mail for {address}"]


def event_taken(name: str, glyphs: Glyphs) -> list[Cell]:
    """Say that a command or plug-in accepted the test event."""
    return [signs.glyph("successful", glyphs), f" {name} accepted a test event"]
