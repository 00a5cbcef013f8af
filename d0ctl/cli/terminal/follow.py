"""`d0ctl logs -f`: the logs of a package as they grow, from one attempt to the next."""

import time
from functools import partial

from d0ctl.cli.terminal.output import say
from d0ctl.cli.terminal.tail import Tail
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.select import Selector
from d0ctl.show import following
from d0ctl.show.visits import visiting
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView

LOOK_S = 0.2
"""How often the database is read while nothing runs."""

FINAL = frozenset({Status.SUCCESSFUL, Status.FAILED, Status.CANCELED})


class Following:
    """The logs of one package, attempt by attempt."""

    def __init__(
        self, store: Store, wanted: Selector, attempt: int | None, names: list[str], lines: int
    ) -> None:
        self._store = store
        self._wanted = wanted
        self._number = attempt
        self._tail = Tail(store, names, lines)

    def run(self) -> None:
        """Print until the package, or the requested attempt, has ended."""
        tried: AttemptView | None = self._await_first()
        while tried is not None:
            self._tail.print(tried, partial(self._has_ended, tried))
            tried = None if self._number else self._await_next(tried)
        if self._tail.is_empty:
            say(following.printed_nothing(self._wanted.brief, self._number))

    def _await_first(self) -> AttemptView:
        """Wait for the requested attempt, or for any."""
        is_reported = False
        while True:
            package = self._package()
            tries = one_package.attempts(self._store, package.id)
            if _is_final(package) or (tries and (self._number or 0) <= tries[-1].number):
                return visiting.attempt_of(self._store, package, self._number)
            if not is_reported:
                is_reported = True
                say(following.not_launched(package))
                self._warn_without_driver()
            time.sleep(LOOK_S)

    def _await_next(self, previous: AttemptView) -> AttemptView | None:
        """Wait for the attempt after one that has ended; None if there will be none."""
        is_reported = False
        while True:
            package = self._package()
            tried = visiting.attempt_of(self._store, package, None)
            if tried.number > previous.number:
                say(following.begun(tried))
                return tried
            if _is_final(package):
                return None
            if tried.ended is None and not any_driver(self._store):
                say(following.NOT_RECORDED)
                return None
            if tried.ended is not None and not is_reported:
                is_reported = True
                say(following.between(tried, package.phase))
            time.sleep(LOOK_S)

    def _has_ended(self, tried: AttemptView) -> bool:
        tries = one_package.attempts(self._store, self._package().id)
        return any(attempt.id == tried.id and attempt.ended is not None for attempt in tries)

    def _package(self) -> PackageView:
        return browse.package(self._store, self._wanted)

    def _warn_without_driver(self) -> None:
        if not any_driver(self._store):
            from d0ctl.show.cards.daemon import no_daemon

            say(no_daemon(self._store, [self._wanted.job]))


def _is_final(package: PackageView) -> bool:
    return STATUS_OF[Phase(package.phase)] in FINAL
