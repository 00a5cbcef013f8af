"""The changes of packages as they happen, as server-sent events."""

from collections.abc import AsyncIterator
from typing import Annotated, Any
from weakref import WeakSet

from anyio import sleep
from anyio.to_thread import run_sync
from litestar import Request, get
from litestar.exceptions import ServiceUnavailableException
from litestar.params import Parameter
from litestar.response import ServerSentEvent, ServerSentEventMessage
from msgspec import json
from msgspec.structs import asdict

from d0ctl import select
from d0ctl.cli.commands.rest.http_errors import RESPONSES
from d0ctl.config import Home
from d0ctl.errors import BadUsage
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store
from d0ctl.store.views import activity, browse
from d0ctl.units import iso

MOST = 1_000
"""How many events are read at once."""

MOST_LISTENERS = 50
"""How many streams there are at once: each has a connection to the database, and asks it."""

LOOK_S = 0.2
"""How often the database is checked for a change."""


class _Reader:
    """Reads the events after the last one that it returned; of a job, or of all."""

    def __init__(self, store: Store, job: int | None, after: int) -> None:
        self._store = store
        self._job = job
        self._after = after
        self._seen: Any = None

    def read(self) -> list[tuple[int, bytes]]:
        """Return the next events, with their numbers."""
        version = self._store.version()
        if version == self._seen:
            return []
        with self._store.reading():
            last = activity.last_event(self._store)
            self._after = min(self._after, last)  # a removed job takes its events with it
            rows = activity.events_after(self._store, self._after, last, MOST, self._job)
        if len(rows) < MOST:
            self._seen, self._after = version, last
        else:
            self._after = rows[-1].id
        return [
            (row.id, json.encode({**asdict(row), "at": iso(row.at), "note": remark(row.note)}))
            for row in rows
        ]


def _begin(home: Home, job: str | None, after: int | None) -> tuple[Store, _Reader]:
    number = None
    store = open_store(home, read_only=True, resident=True)
    if job is not None:
        wanted = select.parse(job)
        if not wanted.is_one or wanted.level != "job":
            store.close()
            raise BadUsage(f"`{job}` is not one job")
        number = browse.job(store, wanted.job).id
    return store, _Reader(store, number, activity.last_event(store) if after is None else after)


@get("/events", summary="Changes as they happen", operation_id="events", responses=RESPONSES,
     media_type="text/event-stream")  # fmt: skip
async def events(
    request: Request[Any, Any, Any],
    job: str | None = None,
    after: Annotated[int | None, Parameter(ge=0, le=2**63 - 1)] = None,
) -> ServerSentEvent:
    """Send each change of a package: `id`, `at`, `path`, `old`, `new`, `attempt`, `node`, `reason`,
    `actor`, `note`. Begins after the event `after`, or with the next one; a client that connects
    again continues where it was.
    """
    last = request.headers.get("last-event-id", "")
    if last.isascii() and last.isdigit() and len(last) < 19:
        after = int(last)
    store, reader = await run_sync(_begin, request.app.state.home, job, after)
    listeners: WeakSet[_Reader] = request.app.state.listeners
    if len(listeners) >= MOST_LISTENERS:
        store.close()
        raise ServiceUnavailableException(f"{MOST_LISTENERS} programs listen already: end one",
                                          headers={"Retry-After": "10"})  # fmt: skip
    listeners.add(reader)
    return ServerSentEvent(_messages(store, reader, listeners))


async def _messages(
    store: Store, reader: _Reader, listeners: WeakSet[_Reader]
) -> AsyncIterator[ServerSentEventMessage]:
    """Yield events until the client leaves; if it does so before the first, nothing runs here."""
    try:
        yield ServerSentEventMessage(data=None, comment="connected")
        while True:
            for number, text in await run_sync(reader.read):
                yield ServerSentEventMessage(data=text.decode(), id=number, event="change")
            await sleep(LOOK_S)
    finally:
        listeners.discard(reader)
        store.close()
