"""The log of a failed attempt starts with its standard error, also if its node does not answer."""

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.support.building import production
from tests.support.site import Site
from tests.tui.conftest import Desk, Open
from tests.tui.test_undoing import act

ERRORS = "Traceback:\nno calibration\n"


def fail_on_a_gone_node(site: Site, path: str) -> None:
    """An attempt fails on a node that does not answer by now."""
    registry.add(site.store, Address("gone", "ssh", "emmy@127.0.0.1:1"), cpus=1)
    site.up("gone", machine_id="gone")
    site.launch(path, "gone")
    site.end(path, "failed", reason="exit-code", exit_code=1, binary=1, stderr=ERRORS)


def fail_here(site: Site, path: str, *, out: str, err: str) -> None:
    """An attempt fails on this machine."""
    site.up(base=str(site.store.home.root / "base"))
    attempt = site.launch(path)
    folder = site.store.home.root / "base" / "attempts" / str(attempt)
    folder.mkdir(parents=True)
    (folder / "1.out").write_text(out)
    (folder / "1.err").write_text(err)
    site.end(path, "failed", reason="exit-code", exit_code=1, binary=1, stderr=err)


def test_the_last_errors_of_a_log_that_cannot_be_read_are_shown(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    fail_on_a_gone_node(site, "prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("binary 1/1 stderr", "unreadable", "this log can't be read: ",
                        "only its last lines are known; r tries again",
                        "Traceback:", "no calibration")  # fmt: skip
        await desk.press("r")
        await desk.sees("this log can't be read: ", "no calibration")
        await desk.press("s")
        await desk.sees("binary 1/1 stdout", "its contents are unknown")
        await desk.misses("no calibration")

    dashboard(script, start="prod/1/1/1")


def test_the_stream_of_each_attempt_is_chosen_by_what_it_printed(
    site: Site, dashboard: Open
) -> None:
    site.submit(production())
    fail_here(site, "prod/1/1/1", out="", err="the disk is full\n")
    act(site, "retry", "prod/1/1/1")
    fail_here(site, "prod/1/1/1", out="only a greeting\n", err="")
    act(site, "retry", "prod/1/1/1")
    fail_on_a_gone_node(site, "prod/1/1/1")

    async def script(desk: Desk) -> None:
        await desk.press("t")
        await desk.sees("attempt 3 on gone  binary 1/1 stderr", "no calibration")
        await desk.press("a")
        await desk.sees("attempt 2 on localhost  binary 1/1 stdout", "only a greeting")
        await desk.misses("unreadable", "no calibration")
        await desk.press("a")
        await desk.sees("attempt 1 on localhost  binary 1/1 stderr", "the disk is full")
        await desk.press("s")
        await desk.sees("attempt 1 on localhost  binary 1/1 stdout", "nothing was printed")

    dashboard(script, start="prod/1/1/1")
