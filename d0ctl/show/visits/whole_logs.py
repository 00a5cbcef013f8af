"""What the binaries of packages printed, as texts."""

from collections.abc import Sequence

from d0ctl.errors import NotFound
from d0ctl.nodes.visits.peek import visit
from d0ctl.select import Selector
from d0ctl.show.visits import log_names, visiting
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.shapes.of_package import AttemptView


def logs_of(
    store: Store, selected: Selector, attempt: int | None, binary: int | None
) -> dict[str, str]:
    """Return the logs of at most 20 packages by their paths, without those that have not run.

    Raises NotFound if none has run, and BadUsage for more packages.
    """
    packages = visiting.packages_of(store, selected, "logs")
    if packages:
        visiting.refuse_archive(store, packages[0])
    logs: dict[str, str] = {}
    absent: NotFound | None = None
    for wanted in packages:
        package = browse.package(store, wanted)
        numbers = [each.seq for each in one_package.binaries(store, package.id)]
        if binary is not None:
            numbers = [one_package.binary(store, package, binary).seq]
        names = log_names.of(numbers, whole=binary is None)
        try:
            tried = visiting.attempt_of(store, package, attempt)
        except NotFound as error:
            absent = absent or error
            continue
        logs[package.path] = _text(store, tried, names)
    if absent and not logs:
        raise absent
    return logs


def _text(store: Store, tried: AttemptView, names: Sequence[str]) -> str:
    """Return the logs of an attempt, each under its name if there are several."""
    with visit(visiting.where(store, tried)) as here:
        sizes = {entry["name"]: entry["size"] for entry in here.listing()["entries"]}
        texts = {
            log_names.source(name): b"".join(here.pieces(name, 0, sizes[name])).decode(
                errors="replace"
            )
            for name in names
            if sizes.get(name)
        }
    if len(texts) <= 1:
        return "".join(texts.values())
    return "".join(f"== {name} ==\n{text.rstrip()}\n" for name, text in texts.items())
