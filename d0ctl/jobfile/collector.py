"""Python's search for cycles among objects, and how to avoid it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Avoid Python's search for cycles among millions of objects that have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            has_frozen = gc.get_freeze_count() > 0
            gc.freeze()  # into no generation that is searched soon: that takes as long as the check
            if not has_frozen:
                gc.unfreeze()
            gc.enable()
