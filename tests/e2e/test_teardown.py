"""What a test leaves when it fails, and when it passes."""

from pathlib import Path

import pytest

from tests.support.homes import equip_nodes, make_home
from tests.support.site import Site
from tests.support.waiting import wait_until


@pytest.fixture
def busy(tmp_path: Path) -> Site:
    """A site with a daemon, and with a binary that starts a process after the other."""
    site = Site(tmp_path / "site")
    equip_nodes(make_home(site.home.root))
    site.start_daemon()
    record = site.folder / "record"
    site.submit(
        f"""\
job: endless
stages:
  - lines:
      - packages:
          - run: 'while true; do setsid sleep 300 & echo x >> {record}; sleep 0.01; done'
"""
    )
    wait_until(record.exists)
    return site


def test_after_a_failed_test_no_process_remains(busy: Site) -> None:
    busy.close(kills=True)

    assert busy.processes() == []
