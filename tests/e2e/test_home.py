"""A home where a database can break is refused, with the line that helps."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.site import Site


@pytest.fixture
def site(newcomer: Site) -> Site:
    """A user with no home yet."""
    return newcomer


LAUNCHER = """\
import sys
from pathlib import Path
from d0ctl import access
table, real = Path(sys.argv.pop(1)), access.file_system
access.file_system = lambda path: real(path, table)
from d0ctl.cli import main
main()
"""
"""The program on a machine whose table of mounts is another."""


@pytest.mark.parametrize("kind", ["nfs4", "lustre", "fuse.sshfs"])
def test_a_home_on_a_network_disk_is_refused(site: Site, tmp_path: Path, kind: str) -> None:
    table = tmp_path / "mounts"
    table.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/home {site.folder} {kind} rw 0 0\n")
    job = site.write("stages: [{lines: [{run: 'true'}]}]")

    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, str(table), "submit", str(job)],
        env=site.environment,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 5, done
    first, second = done.stderr.splitlines()
    assert first == (
        f"d0ctl: the home `{site.home.root}` is on a network disk ({kind}), "
        "where a database can break"
    )
    assert re.fullmatch(r"export D0CTL_HOME=/var/tmp/d0ctl-\d+", second.strip())
    assert not site.home.root.exists()
