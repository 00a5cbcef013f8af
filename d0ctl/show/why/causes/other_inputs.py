"""Inputs of a failed package that are others than its last attempt has read, or dropped."""

from d0ctl.model import Phase
from d0ctl.show.why.common import MOST
from d0ctl.store.connection import Store
from d0ctl.store.views import one_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import listed


def renewed(store: Store, package: PackageView, last: AttemptView | None) -> str:
    """Say which inputs of a failed package are not those that its last attempt has read."""
    if last is None or package.phase != Phase.FAILED:
        return ""
    files = one_package.renewed_inputs(store, package.id, last)
    if not files:
        return ""
    names = [f"`{file.name}`" for file in files]
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    verb = "was changed" if len(names) == 1 else "were changed"
    again = " or made again" if any(file.maker_path for file in files) else ""
    return (f"{listed([*names[:MOST], *more])} {verb}{again} since this failure: a retry reads the "
            "new contents")  # fmt: skip


def dropped(store: Store, package: PackageView) -> str | None:
    """Return a file that a package needs, and that is dropped."""
    for file in one_package.inputs(store, package.id):
        is_needed = file.required and not file.dropped and not file.own
        if is_needed and file.file_dropped and not file.present:
            return file.name
    return None
