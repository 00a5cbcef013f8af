"""What `why` recommends for a retry of packages that ran out of something."""

from d0ctl.model import Phase
from d0ctl.select import Selector, parse
from d0ctl.store.connection import Store
from d0ctl.store.jobs import retry
from d0ctl.store.views import browse, one_package, selection

MOST = 20
"""Of so many packages the largest figure is taken."""


def recommended_values(store: Store, target: Selector, now: float) -> str:
    """Return the values to type, as `memory=8GB`; empty if `why` recommends none."""
    from d0ctl.show.why.advice import advice  # late: few retries need it

    selected = selection.choose(store, target, now=now)
    retry.keep_phases(selected, frozenset({Phase.FAILED}))
    raises = []
    for row in selection.packages(selected, MOST):
        attempts = one_package.attempts(store, row.id)
        package = browse.package(store, parse(row.path))
        more = advice(store, package, attempts[-1]).more if attempts else None
        raises += [more] if more else []
    largest = {more.option: more for more in sorted(raises)}
    return " ".join(str(more).removeprefix("--").replace(" ", "=") for more in largest.values())
