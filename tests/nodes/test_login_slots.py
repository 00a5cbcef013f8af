"""Many logins by one gateway, which drops those who come when too many are not yet in."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from d0ctl.nodes.transports.resolve import AT_ONCE
from d0ctl.nodes.transports.transport import Address
from tests.nodes.conftest import SshdStarter, trust
from tests.nodes.reaching import SSH, home_of

NODES = 12


@SSH
def test_no_login_by_a_gateway_is_dropped_as_few_come_at_a_time(
    start_sshd: SshdStarter, known_hosts: Path, ssh_config: Path, via: str
) -> None:
    gateway = start_sshd("gateway", more_settings=(f"MaxStartups {AT_ONCE}:100:{AT_ONCE}",))
    node = start_sshd("node", more_settings=(f"MaxStartups {NODES * 2}",))
    trust(known_hosts, gateway)
    trust(known_hosts, node)
    node.authorize(gateway.folder / "identity.pub")
    ssh_config.write_text(
        f"IdentityFile {gateway.identity}\n"
        f"Host 127.0.0.1\n  ProxyJump {gateway.user}@localhost:{gateway.port}\n"
    )
    with known_hosts.open("a") as file:
        file.write(gateway.known_hosts_line.replace("127.0.0.1", "localhost"))
    addresses = [Address(f"n{n}", destination=node.destination, via=via) for n in range(NODES)]

    with ThreadPoolExecutor(NODES) as pool:
        homes = list(pool.map(lambda address: home_of(address, known_hosts), addresses))

    assert homes == [str(node.home)] * NODES
    assert "drop connection" not in gateway.log()
