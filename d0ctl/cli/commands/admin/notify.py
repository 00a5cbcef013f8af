"""`d0ctl notify`: who is notified, which messages are waiting, and which were sent."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import draw, emit, emit_json, emit_text, glyphs, say, sheet
from d0ctl.cli.terminal.output import show as print_sheet
from d0ctl.errors import BadUsage, ExitCode, NotFound, NotSent, Refused
from d0ctl.show.notifications import mail_queue as queue
from d0ctl.store.mail import mail_queue
from d0ctl.store.nodes.site import site_name
from d0ctl.units import clean, iso

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site
    from d0ctl.show.drawing.sheet import Cell
    from d0ctl.store.connection import Row, Store
    from d0ctl.store.mail.mail_queue import MessageRecord

app = group("List or show mail and notifications, or send a test.")

MOST_ENDED = 10
MOST_IN_DOCUMENT = 1_000
TEST_TIMEOUT_S = 15.0

Message = Annotated[
    int, typer.Argument(metavar="NUMBER", help="Number of the message in `notify list`.")
]
Address = Annotated[
    str | None,
    typer.Argument(
        metavar="ADDRESS", help="Recipient of a test mail (default: run the command instead)."
    ),
]


@app.command("list")
def show_list(json: options.Json = False) -> None:
    """List mail that waits, is being sent, or was sent recently."""
    with session.reader() as store, store.reading():
        settings = _said(store)
        waiting = mail_queue.unwritten(store)
        on_way = mail_queue.unsent_messages(store)
        ended = mail_queue.latest_messages(store, MOST_IN_DOCUMENT if json else MOST_ENDED)
        unreached = [] if json else _without_address(store, settings)
    if json:
        emit_json(_document(settings, waiting, on_way, ended))
        return
    draw(queue.draw, _ways(settings), _names(settings), waiting, on_way, ended, time.time())
    for row in unreached:
        emit(queue.no_address(row["originator"], row["job"], row["jobs"]))


def _ways(settings: dict[str, Any]) -> list[str]:
    """Return the ways by which people are notified."""
    from d0ctl.notify.notifier import way

    ways = [f"mail through {settings['host']}"] if "host" in settings else []
    kind = "the command " if "command" in settings else ""
    return ways + [kind + name for name in filter(None, [way(settings)])]


def _without_address(store: "Store", settings: dict[str, Any]) -> "list[Row]":
    """Return the originators of jobs to whom no mail can be sent, though the site sends mail."""
    from d0ctl.notify.routes import Routes
    from d0ctl.sitefile.mail import is_address
    from d0ctl.store.nodes.site import setting

    if "host" not in settings:
        return []
    routes = Routes(settings, setting(store, "researchers") or {})
    return [row for row in mail_queue.originators(store)
            if not is_address(routes.person(row["originator"]).address)]  # fmt: skip


def _names(settings: dict[str, Any]) -> dict[str, str]:
    """Return what gets each event, by the name that it has as a recipient."""
    from d0ctl.notify.notifier import way
    from d0ctl.notify.routes import COMMAND

    name = way(settings)
    return {} if name is None else {COMMAND: name}


@app.command()
def show(number: Message) -> None:
    """Print an unsent message in full."""
    with session.reader() as store, store.reading():
        row = mail_queue.message(store, number)
    if row is None:
        raise NotFound(f"there is no message {number}", hint="d0ctl notify list")
    if row.body is None:
        raise Refused(f"message {number} was sent, and its text is not kept")
    for line in row.body.splitlines():
        emit_text(clean(line, lines=True))


@app.command()
def test(address: Address = None) -> None:
    """Send a test mail, or run the site's command with a test event."""
    with session.reader() as store:
        settings, site = _said(store), site_name(store)
    if not settings:
        raise Refused(queue.NO_MAIL, hint=queue.HINT)
    try:
        if address is None:
            _test_command(settings, site)
        else:
            _test_mail(settings, address)
    except NotSent as error:
        _print(queue.failed(str(error), glyphs()))
        if address is not None:
            say(queue.advice(str(error)))
        raise typer.Exit(ExitCode.FAILED) from None
    _retry_now(is_command=address is None)


def _print(cells: "list[Cell]") -> None:
    page = sheet()
    page.add(*cells)
    print_sheet(page)


def _retry_now(*, is_command: bool) -> None:
    """Send waiting messages now: the way works again."""
    from d0ctl.store.mail.mail_queue import retry_now

    with session.writer() as store:
        if number := retry_now(store, is_command=is_command):
            emit(queue.retried_now(number))


def _test_mail(settings: dict[str, Any], address: str) -> None:
    from d0ctl.notify.compose import mail_message, make_id
    from d0ctl.notify.smtp import Server
    from d0ctl.sitefile.mail import is_address

    if "host" not in settings:
        raise Refused("the site's `mail` has no `host`, so no mail can be sent", hint=queue.HINT)
    if not is_address(address):
        raise BadUsage(f"`{address}` is not an address such as `emmy@example.org`")
    sender = settings["sender"]
    mail = mail_message(sender=sender, recipient=address, message_id=make_id(sender),
                        title=queue.TEST_TITLE, text=queue.TEST_TEXT, at=time.time())  # fmt: skip
    with Server(settings, timeout=TEST_TIMEOUT_S) as server:
        server.send(address, mail)
        server.quit()
    _print(queue.mail_taken(settings["host"], address, glyphs()))


def _test_command(settings: dict[str, Any], site: str) -> None:
    import threading
    from json import dumps

    from d0ctl.notify.notifier import command, way
    from d0ctl.notify.site_command import TIMEOUT_S, run

    arguments, name = command(settings), way(settings)
    if arguments is None or name is None:
        raise BadUsage(
            "the site's `mail` has no `command`, `notifier` or `webhook` to test",
            hint="d0ctl notify test ADDRESS",
        )
    event = {"event": "test", "headline": queue.TEST_HEADLINE, "site": site}
    timeout = settings.get("command-timeout", TIMEOUT_S)
    run(arguments, dumps(event), timeout=timeout, stop=threading.Event(), name=name)
    _print(queue.event_taken(name, glyphs()))


def _said(store: "Store") -> dict[str, Any]:
    from d0ctl.store.nodes.site import setting

    return setting(store, "mail") or {}


def _document(
    settings: dict[str, Any],
    waiting: "list[Row]",
    on_way: "list[MessageRecord]",
    ended: "list[MessageRecord]",
) -> "site.MailQueue":
    from d0ctl.cli.schemas import site
    from d0ctl.cli.schemas.fill import fill

    return {
        "mail": settings.get("host"),
        "command": settings.get("command"),
        "notifier": settings.get("notifier"),
        "webhook": settings.get("webhook"),
        "waiting": [fill(site.Waiting, row) for row in waiting],
        "on_way": [
            fill(site.MailOnWay, row, message=row.id, trouble=row.last_error,
                 next_try=iso(row.not_before or None))
            for row in on_way
        ],
        "last": [
            fill(site.MailEnded, row, message=row.id, trouble=row.last_error)
            for row in ended
        ],
    }  # fmt: skip
