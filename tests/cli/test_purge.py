"""`file purge`: what it says of files that it does not remove."""

import time

from d0ctl.store.jobs import unneeded_files
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.rows import change
from tests.support.site import Site

PURGE = ("file", "purge", "prod:gen-1", "--dry-run")


def without_cached_copies(site: Site, result: int = 0) -> None:
    """Make `gen-1`, have it read, and remove its copies in caches."""
    site.up()
    site.submit(production(lines=1))
    change(site.store, "file", {"name": "gen-1"}, result=result)
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    with site.store.writing():
        unneeded_files.clean_up(site.store, now=time.time())


def test_files_in_results_are_not_purged(site: Site, d0ctl: Type) -> None:
    without_cached_copies(site, result=1)

    refused = d0ctl(*PURGE)

    assert refused.exit_code == 4
    assert (
        "no file of `prod:gen-1` can be purged: 1 file in results/, which purge does not remove\n"
    ) in refused.stderr


def test_stored_files_are_not_purged(site: Site, d0ctl: Type) -> None:
    without_cached_copies(site)
    change(site.store, "file", {"name": "gen-1"}, stored='["dcache:/gen-1"]', present=1)

    assert "1 file in stores, which purge does not remove" in d0ctl(*PURGE).stderr


def test_files_that_are_gone_have_no_copy(site: Site, d0ctl: Type) -> None:
    without_cached_copies(site)

    assert "can be purged: no copy is kept" in d0ctl(*PURGE).stderr
