"""The ids of events of other systems that were taken: none is taken twice."""

from d0ctl.store.connection import Store


def remember(store: Store, event: str, signature: str, *, now: float) -> bool:
    """Record that an event was taken; return whether it is new."""
    return bool(store.change("remember_event", id=event, signature=signature, now=now))


def signature_of(store: Store, event: str) -> str | None:
    """Return the signature of an event that was taken; None if it was not."""
    found = store.value("taken_signature", id=event)
    return None if found is None else str(found)


def forget(store: Store, *, before: float) -> None:
    """Forget events that are refused anyway, because they are too old."""
    store.change("forget_events", before=before)
