"""What tests of `why` ask."""

import time

from d0ctl.select import parse
from d0ctl.show.why import package
from d0ctl.show.why.common import Explanation
from d0ctl.store.views import browse
from tests.support.site import Site

NOW = time.time()


def why(site: Site, path: str, now: float | None = None) -> Explanation:
    """The explanation of a package, now or at another time."""
    view = browse.package(site.store, parse(path))
    return package.package(site.store, view, time.time() if now is None else now)
