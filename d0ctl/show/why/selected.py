"""Why what a selector names is as it is."""

from d0ctl import select
from d0ctl.errors import BadUsage
from d0ctl.select import Selector
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, choice


def explain(store: Store, wanted: Selector, now: float) -> Explanation:
    """Explain a job, stage, line, package or binary, or the one package that is meant."""
    from d0ctl.show.why import group, package

    if not wanted.is_one:
        wanted = _only(store, wanted, now)
    if wanted.level == "binary":
        return package.binary(store, browse.package(store, wanted), wanted.binary.first, now)
    if wanted.level == "package":
        return package.package(store, browse.package(store, wanted), now)
    job = browse.job(store, wanted.job)
    if wanted.level == "job":
        return group.job(store, job, now)
    stage = browse.stage(store, job, wanted)
    if wanted.level == "stage":
        return group.stage(store, job, stage, now)
    line = browse.line(store, job, stage, wanted.line.first)
    return group.line(store, job, stage, line, now)


def _only(store: Store, wanted: Selector, now: float) -> Selector:
    """The one package that is meant. Raises BadUsage where several are."""
    number = choice.choose(store, wanted, now=now)
    first = choice.chosen(store, 1)[0].path
    if number > 1:
        raise BadUsage(f"`{wanted}` means {number} packages, and `why` explains one thing",
                       hint=f"d0ctl why {first}")  # fmt: skip
    return select.parse(first)
