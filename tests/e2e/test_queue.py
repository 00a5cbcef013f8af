"""A daemon that is killed between an event from a queue and its acknowledgement."""

from pathlib import Path

from d0ctl.events import event_file
from tests.support.mosquitto import Mosquitto, line_to
from tests.support.site import Site


def test_an_event_that_a_killed_daemon_did_not_acknowledge_counts_once(
    site: Site, tmp_path: Path
) -> None:
    event_file.make_key(site.home)
    key = event_file.read_key(site.home.event_key)
    text = event_file.made("node-down", ["localhost"], sender="nagios", reason="new disk", key=key)

    def drained() -> bool:
        found = site.ask("select note from action where actor = 'nagios'")
        assert found in ([], [("new disk",)])
        return bool(found)

    with Mosquitto(tmp_path / "broker") as broker, line_to(broker) as line:
        said = broker.said | {"port": line.port}
        keys = ", ".join(f"{key}: {value}" for key, value in said.items())
        site.ok("site", "apply", site.write(f"event-queue: {{{keys}}}\n", "site.yaml"))
        line.is_cut = True
        site.start_daemon()
        site.wait(lambda: " listening to `" in site.log())
        assert broker.publish(text)
        assert line.cut.wait(120)
        site.wait(drained)
        site.kill_daemon()

        line.is_cut = False
        site.start_daemon()

        site.wait(lambda: " of nagios has come again" in site.log())
        assert drained()
        assert site.rejected() == {}
