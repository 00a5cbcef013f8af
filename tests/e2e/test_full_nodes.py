"""Nodes that can keep no file: `node add` names the fault of the disk, and leaves nothing."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.site.commands import fingerprint
from tests.support.users import make_read_only, mounted, needs_root


@needs_root
@pytest.mark.parametrize("via", ["fabric", "openssh"])
@pytest.mark.parametrize(("kind", "fault"), [("full", "its disk is full"),
                                             ("read-only", "its disk is read-only")])  # fmt: skip
def test_a_full_or_read_only_disk_of_a_node_is_reported(
    site: Site, tmp_path: Path, via: str, kind: str, fault: str
) -> None:
    sshd = site.start_sshd("farm")
    trust = ("--identity", sshd.identity, "--accept-key", fingerprint(sshd))

    with mounted(tmp_path / "disk", "64k") as disk:
        if kind == "read-only":
            make_read_only(disk)
        done = site.d0ctl(
            "node", "add", "farm", sshd.destination, *trust, "--dir", disk / "d0", "--via", via
        )

        assert done.code == 6, done
        fault_line, hint = done.err.splitlines()[-2:]
        assert fault_line.startswith(f"d0ctl: node `farm`: {fault}: `{disk}/d0/")
        assert fault_line.endswith("/farm/bin`")
        assert (
            hint == "free space or give write permission there, or add the node with another --dir"
        )
        assert [path for path in disk.rglob("*") if path.is_file()] == []
    assert [node["node"] for node in site.json("node", "list")["nodes"]] == ["localhost"]


@needs_root
def test_the_check_of_a_node_whose_disk_is_full_leaves_nothing_there(
    site: Site, tmp_path: Path
) -> None:
    sshd = site.start_sshd("farm")
    with mounted(tmp_path / "disk", "4m") as disk:
        site.add("farm", sshd, "--dir", disk / "d0")
        with suppress(OSError), (disk / "big").open("wb", buffering=0) as big:
            while big.write(b"x" * 10_000):
                pass

        done = site.d0ctl("node", "check", "farm")

        assert "its disk is full" in done.out + done.err
        assert not list(disk.rglob("check-*"))
