"""The benchmark of a node, and what of its answer is believed."""

import json
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes import frame_checks
from d0ctl.nodes.transports.transport import Address
from d0ctl.nodes.visits.benchmark import STANDARD, measure, speed
from tests.support.sshd import Sshd


@pytest.mark.long
def test_a_node_behind_ssh_is_about_as_fast_as_this_machine(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    with Sshd(tmp_path / "north") as sshd:
        home.known_hosts.write_text(sshd.known_hosts_line + "\n")
        far = Address("north", "ssh", sshd.destination, str(sshd.identity), str(tmp_path / "far"))

        ratio = measure(home, far, "site") / measure(home, Address("here", "local"), "site")

    assert 0.2 < ratio < 5


def test_a_standard_cpu_has_speed_1_and_one_that_takes_half_the_time_2() -> None:
    assert speed(dict(STANDARD)) == 1.0
    assert speed({task: 2 * rate for task, rate in STANDARD.items()}) == 2.0


@pytest.mark.parametrize("rate", [0, -1, 1e300, "fast", None, True])
def test_a_rate_that_no_cpu_has_is_refused(rate: object) -> None:
    frame = {"kind": "benchmarked", "id": 1, "rates": dict.fromkeys(STANDARD, rate)}

    with pytest.raises(NodeUnreachable):
        frame_checks.read(json.dumps(frame).encode())


def test_the_fastest_rates_that_are_believed_make_a_speed_that_a_site_file_can_say() -> None:
    assert speed(dict.fromkeys(STANDARD, 1e9)) == 1000.0
    assert speed(dict.fromkeys(STANDARD, 1e-3)) == 0.01
