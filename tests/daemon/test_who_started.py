"""Who started and stopped the daemon, as its history says."""

from d0ctl.store.history import logbook
from tests.support.site import Site


def test_history_names_who_stopped_and_started_the_daemon(site: Site) -> None:
    site.start_daemon()
    for verb in ("stop", "start", "start", "restart", "stop"):
        site.ok("daemon", verb)

    with site.opened(read_only=True) as store:
        deeds = [deed for deed in logbook.actions(store, 0.0, 9) if "daemon" in deed.verb]
    assert [(deed.verb, deed.actor != "d0ctl") for deed in deeds] == [
        ("daemon stop", True), ("daemon start", True), ("daemon stop", True),
        ("daemon start", True), ("daemon stop", True), ("daemon start", False),
    ]  # fmt: skip
