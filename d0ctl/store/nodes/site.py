"""The settings of the site file: its sections in force, and their defaults."""

import json
from typing import Any

from d0ctl.sitefile.defaults import STANDARD
from d0ctl.store.connection import Store


def site_name(store: Store) -> str:
    """Return the name of this site on its nodes."""
    return str(store.value("site"))


def setting(store: Store, name: str) -> Any:
    """Return one section of the site file as its reader returned it; None if it has none.

    It is read once per transaction that writes, and must not be changed.
    """
    known = store.remembered
    if name not in known:
        value = store.value("setting", name=name)
        known[name] = None if value is None else json.loads(value)
    return known[name]


def default(store: Store, name: str) -> Any:
    """Return the value if a job sets none: that of the site file, else of `STANDARD`."""
    own = setting(store, "defaults") or {}
    return own[name] if name in own else STANDARD[name]
