"""All commands agree on whether production can move without a person."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from d0ctl.config import Home
from d0ctl.daemon.drive import drive as drive_job
from d0ctl.daemon.steps.notifications import collect
from d0ctl.model import Address
from d0ctl.schedule.standstill import DELIBERATE, Cause
from d0ctl.store import lifecycle
from d0ctl.store.connection import as_json
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.nodes.standstill import is_settled
from d0ctl.store.views import browse
from tests.cli.conftest import Type
from tests.support.acting import act
from tests.support.building import document, job, line, package
from tests.support.rows import change, count
from tests.support.site import Site


@dataclass(frozen=True)
class World:
    """A site with a job `prod`: what stops it, and whether only a person can help.

    `retries` tells that a `run` tries the node again before it gives up.
    """

    make: Callable[[Site], None]
    cause: Cause | None
    settled: bool
    text: str = ""
    retries: bool = False


def simple(site: Site, **more: object) -> None:
    """One package that is ready, on a node that is up."""
    site.up()
    site.submit(job(("a", [line(package("x", **more))])))  # type: ignore[arg-type]


def runs(site: Site) -> None:
    """One that runs."""
    simple(site)
    site.launch("prod/1/1/1")


def silent(site: Site, seconds: float) -> None:
    """Its node is down for a while."""
    simple(site)
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=time.time() - seconds)


def drained(site: Site) -> None:
    """A person drained its node."""
    simple(site)
    act(site.store, "node drain", "localhost", actor="ada", note="new disks", now=time.time())


def runs_on_drained(site: Site) -> None:
    """One that still runs on such a node."""
    runs(site)
    act(site.store, "node drain", "localhost", actor="ada", note="new disks", now=time.time())


def bound(site: Site) -> None:
    """It wants a node that was drained, beside one that is up."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    act(site.store, "node drain", "far", actor="ada", note=None, now=time.time())
    simple(site, nodes=("far",))


def full_cache(site: Site) -> None:
    """It wants more disk than is left in the cache of its node."""
    simple(site, disk=8_000_000)
    change(site.store, "cluster", {"name": "control"}, capacity=20_000_000, cached=13_000_000)


def no_node(site: Site) -> None:
    """There is no node."""
    site.submit(job(("a", [line(package("x"))])))
    registry.forget(site.store, "localhost", now=time.time())


def hold(site: Site, name: str = "prod") -> None:
    """A person holds a job."""
    number = browse.job(site.store, name).id
    with site.store.writing():
        site.store.change("hold_job", job=number, actor="ada", note=None, now=time.time())


def held(site: Site) -> None:
    """A job that is held."""
    simple(site)
    hold(site)


def held_on_drained(site: Site) -> None:
    """A job that is held, and no node takes packages."""
    drained(site)
    hold(site)


def held_package(site: Site) -> None:
    """A package that a person holds."""
    simple(site)
    with site.store.writing():
        selected = site.store.select([site.id_of("prod/1/1/1")])
        lifecycle.hold(selected, actor="ada", note=None, now=time.time())


def other(site: Site, **more: object) -> None:
    """It reads a file of another job."""
    site.up()
    site.submit(job(("a", [line(package("x", **more))]), name="raw"))  # type: ignore[arg-type]
    site.submit(job(("a", [line(package("y", needs=["raw:x"]))])))


def other_held(site: Site) -> None:
    """That other job is held."""
    other(site)
    hold(site, "raw")


def other_package_held(site: Site) -> None:
    """The package of the other job is held by the policy."""
    other(site)
    with site.store.writing():
        change(
            site.store,
            "package",
            {"id": site.id_of("raw/1/1/1")},
            phase="held",
            actor="policy",
            note="exit-code",
        )


def failed(site: Site) -> None:
    """A failed one."""
    simple(site)
    site.fail("prod/1/1/1")


def blocked(site: Site) -> None:
    """One that waits for a failed one."""
    site.up()
    site.submit(job(("a", [line(package("x"))]), ("b", [line(package("y", needs=["x"]))])))
    site.fail("prod/1/1/1")


WORLDS = {
    "ready": World(simple, None, False),
    "runs": World(runs, None, False),
    "runs on a drained node": World(runs_on_drained, None, False),
    "node just down": World(lambda site: silent(site, 5), Cause.NO_NODE_UP, False),
    "node long down": World(
        lambda site: silent(site, 86400),
        Cause.NO_NODE_UP,
        True,
        "`localhost` has been down for",
        retries=True,
    ),
    "node drained": World(drained, Cause.NO_NODE_UP, True, "`localhost` is drained (new disks)"),
    "bound": World(bound, Cause.NO_FITTING_NODE, True, "`far` is drained"),
    "impossible": World(
        lambda site: simple(site, cpus=64), Cause.IMPOSSIBLE, True, "4 CPUs, needs 64"
    ),
    "full cache": World(full_cache, Cause.NO_SPACE, True, "7.0 MB of its cache left, needs 8.0 MB"),
    "no node": World(no_node, Cause.NO_NODE, True, "there are no nodes"),
    "held": World(held, Cause.HELD, True, "is held"),
    "held on a drained node": World(held_on_drained, Cause.HELD, True, "is held"),
    "held package": World(held_package, Cause.HELD, True, "is held"),
    "waits for another": World(other, None, False),
    "other held": World(other_held, Cause.OTHER_JOB, True, "`raw`, which is held or paused"),
    "other package held": World(
        other_package_held, Cause.OTHER_JOB, True, "`raw`, of which packages are held"
    ),
    "other impossible": World(
        lambda site: other(site, cpus=64), Cause.OTHER_JOB, True, "4 CPUs, needs 64"
    ),
    "failed": World(failed, None, True, "`prod` failed: "),
    "blocked": World(blocked, None, True, "`prod` failed: "),
}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_all_commands_agree_on_whether_a_job_can_move(
    home: Home, site: Site, d0ctl: Type, world: World
) -> None:
    world.make(site)
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
        said = {"host": "mail.lab.example", "grid-control": ["grid@lab.example"]}
        site.store.change("keep_setting", name="mail", value=as_json(said))
        collect(site.store, now=time.time())
    number = browse.job(site.store, "prod").id

    checked = document(d0ctl("status", "--check", "--json").stdout)
    shown = d0ctl("status").stdout
    why = d0ctl("why", "prod").stdout
    waited = d0ctl("wait", "prod", *([] if world.settled else ["--timeout", "0.1s"]))
    mailed = count(site.store, "problem", kind="stands-still", subject_id=0) > 0

    assert checked["stopped"].get("prod") == world.cause
    stops = world.cause is not None
    row = next(one for one in shown.splitlines() if one.startswith("prod"))
    assert ("stands still" in row or " held" in row) is stops
    assert mailed is (checked["state"] == "standstill")
    if stops:
        diagnosed = document(d0ctl("doctor", "--json").stdout)
        assert mailed is (diagnosed["standstill"] is not None)
    assert (checked["cause"] in DELIBERATE) is (stops and not mailed)
    assert waited.exit_code == 1
    assert ("has not ended" not in waited.stderr) is world.settled
    assert world.text in waited.stdout
    assert is_settled(site.store, number, now=time.time()) is world.settled
    if world.cause is Cause.OTHER_JOB:
        assert "waits for files of `raw`" in why
        assert "stands still" in row
    if world.settled and not world.retries:
        drive_job(home, number, lambda counts: None, _never())
        ran = d0ctl("run", "prod")
        assert ran.exit_code == 1
        assert world.text in ran.stderr or "stands still" not in waited.stdout


def test_a_job_that_a_person_paused_does_not_stand_still_while_no_node_takes_packages(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x"))]), name="other"))
    drained(site)
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    d0ctl("pause", "prod", "--for", "1h")

    checked = document(d0ctl("status", "--check", "--json").stdout)
    alone = d0ctl("status", "prod", "--check")
    why = d0ctl("why", "prod").stdout

    assert (checked["state"], checked["stopped"]["prod"]) == ("standstill", Cause.PAUSED)
    assert checked["stopped"]["other"] == Cause.NO_NODE_UP
    assert (alone.exit_code, alone.stdout) == (0, "`prod` is paused: 0 of 1 package done\n")
    assert why.startswith("nothing of job `prod` starts: job `prod` has been paused by ")
    assert "stands still" not in why and "`localhost` drained (new disks)" in why


def test_why_of_a_job_that_waits_for_another_says_what_stops_both(site: Site, d0ctl: Type) -> None:
    other(site)
    for text in ("no daemon is running", "0 of 1 node takes packages"):
        why = d0ctl("why", "prod").stdout
        assert d0ctl("status", "prod", "-q").stdout.startswith("`prod` is submitted and stands st")
        assert why.startswith("job `prod` stands still: ") and text in why, why
        assert "waits for file `x` of `raw/1/1/1`, which is ready" in why
        with site.store.writing():
            leases.take_lease(site.store, "daemon", now=time.time())
        d0ctl("node", "drain", "localhost", "--yes")


def _never() -> threading.Event:
    return threading.Event()


def test_a_part_that_cannot_move_ends_the_wait_while_the_rest_moves(
    site: Site, d0ctl: Type
) -> None:
    site.up()
    wide = [line(package("x", cpus=64)), line(package("z"))]
    site.submit(job(("a", wide), ("b", [line(package("y"))]), ("c", [line(package("w", cpus=64))])))
    site.launch("prod/2/1/1")

    for part in ("prod/3", "prod/1/1", "prod/1/1/1", "prod/3/1/*"):
        waited = d0ctl("wait", part)

        assert waited.exit_code == 1
        assert waited.stdout == (
            f"`{part}` stands still: 1 package is ready, and no node can take it: "
            "`localhost` is ruled out (4 CPUs, needs 64)\n"
        )
    for part in ("prod/1", "prod/2", "prod"):
        assert "has not ended" in d0ctl("wait", part, "--timeout", "0.1s").stderr


def test_a_finished_part_is_successful_although_the_rest_stands_still(
    site: Site, d0ctl: Type
) -> None:
    site.up()
    site.submit(job(("a", [line(package("x"))]), ("b", [line(package("y", cpus=64))])))
    site.finish("prod/1/1/1")

    assert d0ctl("wait", "prod/1").stdout == "`prod/1` is successful\n"
    assert d0ctl("wait", "prod/1").exit_code == 0
