"""Events that tests of notifications make."""

from typing import Any

from d0ctl.store.nodes import contact, placement
from tests.support.building import job, line, package
from tests.support.rows import change
from tests.support.site import Site

NOW = 2e9


def many(number: int, **more: Any) -> Any:
    """A job of packages that need nothing."""
    return job(("make", [line(package(f"f{i}")) for i in range(number)]), **more)


def fail(site: Site, path: str, reason: str = "exit-code", **more: Any) -> None:
    """Let a package fail."""
    site.fail(path, reason=reason, **more)


def held_by_policy(site: Site) -> None:
    """Let failures by exit code be held."""
    with site.store.writing():
        site.store.change("keep_setting", name="policy", value='{"exit-code": {"hold": true}}')


def down(site: Site, error: str = "no route to host") -> None:
    """The node does not answer."""
    with site.store.writing():
        contact.down(site.store, 1, error, now=NOW)


def end(site: Site, now: float = NOW) -> None:
    """Let the remaining packages fail, so that the job stands still."""
    fail(site, "prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=now)


def moves_again(site: Site) -> None:
    """A person has it tried again."""
    with site.store.writing():
        change(site.store, "package", phase="ready", node_id=None, actor="eve")
        placement.advance(site.store, now=NOW)


def release(site: Site, path: str) -> None:
    """A person releases a package."""
    with site.store.writing():
        change(site.store, "package", {"id": site.id_of(path)}, phase="ready", actor="eve")
