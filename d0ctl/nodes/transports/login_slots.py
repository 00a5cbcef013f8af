"""A limit on simultaneous logins: an sshd drops connections if too many are not logged in."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from d0ctl.nodes.transports.resolve import Hop

AT_ONCE = 5
"""How many may log in to a gateway at once; sshd drops from ten on (`MaxStartups 10:30:100`)."""

_slots: defaultdict[str, threading.BoundedSemaphore] = defaultdict(
    lambda: threading.BoundedSemaphore(AT_ONCE)
)
_lock = threading.Lock()


@contextmanager
def login_slot(gateway: Hop) -> Iterator[None]:
    """Wait for a turn to log in to the first host on the route to a node, and keep it."""
    with _lock:
        slot = _slots[gateway.known_as]
    with slot:
        yield
