"""Python's search for cycles among objects, and how to avoid it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 50_000
"""So many new objects take as long to search as the job took to check."""


@contextmanager
def without_collector() -> Iterator[None]:
    """Avoid Python's search for cycles among millions of objects that have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > MANY:
                _skip_present_objects()
            gc.enable()


def _skip_present_objects() -> None:
    """Let the next search pass over all objects that there are."""
    has_frozen = gc.get_freeze_count() > 0  # goes over all frozen objects
    gc.freeze()
    if not has_frozen:
        gc.unfreeze()
