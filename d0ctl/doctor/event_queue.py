"""Whether the queue of events answers."""

from collections.abc import Iterator

from d0ctl.doctor.finding import Finding
from d0ctl.errors import D0Error
from d0ctl.event_queue.address import where
from d0ctl.store import Store
from d0ctl.store.nodes.site import setting


def silent_queue(store: Store) -> Iterator[Finding]:
    """Yield why no events come from the broker; asked by a connection that leaves nothing there."""
    said = setting(store, "event-queue")
    if not said:
        return
    try:
        from d0ctl.event_queue.subscription import Connection
    except ImportError as error:
        detail = f"`{error.name}` is not installed"
        yield Finding("event queue", where(said), detail, "pip install 'd0ctl[mqtt]'")
        return
    connection = Connection(said, "", kept_s=0, take=lambda text: None)
    try:
        connection.open()
    except D0Error as error:
        yield Finding("event queue", where(said), str(error), "d0ctl site show")
    finally:
        connection.close()
