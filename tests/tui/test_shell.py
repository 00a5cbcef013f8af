"""A shell on a node, from the dashboard: it says why there is none."""

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.support.building import production
from tests.support.site import Site
from tests.tui.test_terminal import PROGRAM, Open, terminal  # noqa: F401


def test_a_node_that_refuses_the_connection_is_named(
    site: Site,
    terminal: Open,  # noqa: F811
) -> None:
    site.submit(production())
    with site.store.writing():
        registry.add(site.store, Address("gone", "ssh", "emmy@127.0.0.1:1"), cpus=1)
    site.up("gone", machine_id="gone")
    site.launch("prod/1/1/1", "gone")
    site.end("prod/1/1/1", "failed", reason="exit-code", exit_code=1)
    screen = terminal(PROGRAM, "tui", "prod/1/1/1", size=(30, 120))
    screen.sees(b"exit-code")

    before = screen.type(b"!")

    screen.sees(b"the connection to `gone` failed: `d0ctl node check gone` says why", before)
