"""Why no copy of a file is left."""

from collections.abc import Sequence

from d0ctl.store.connection import Store
from d0ctl.store.files.inventory import FoundCopy
from d0ctl.store.views import file_locations
from d0ctl.store.views.file_locations import FileView, Remover
from d0ctl.units import moment


def why_gone(store: Store, file: FileView, found: Sequence[FoundCopy], now: float) -> str:
    """Say why its last copy is gone: who removed it when, where and for which reason."""
    if file.removed is None:
        return "its last copy vanished or was changed" if found else "its last copy was lost"
    if file.removed_by is None:
        return "it was removed because no package needed it"
    if file.removed_by == "archive":
        return "it was removed when the job was archived"
    where = f" on `{file.removed_from}`" if file.removed_from else ""
    at = f"at {moment(file.removed, now)}"
    if file.removed_by == "space":
        return f"d0ctl removed it {at} because space was needed{where}"
    by = file_locations.remover(store, file) or Remover("a person", None)
    is_freed = file.removed_by == "node free"
    reason = (by.note or "").rpartition("; ")[0] if is_freed else by.note  # after it is the size
    did = "freed" if is_freed else "purged"
    return f"{by.actor} {did} it{where} {at}{f': {reason}' if reason else ''}"
