"""A node where the PATH of the account lacks basic programs of the system."""

import shutil
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.nodes.node_check import Finding, check
from d0ctl.nodes.transports.transport import Address
from tests.nodes.conftest import trust
from tests.support.sshd import Sshd

PROGRAMS = ("cat", "chmod", "env", "ls", "mkdir", "mv", "rm", "sh", "sleep", "wc")


def failure(tmp_path: Path, missing: str, *, shell: str = "bash", sftp: bool = True) -> Finding:
    """The only problem that a check finds at a node whose PATH has the programs but this one."""
    path = tmp_path / "min"
    path.mkdir()
    for name in (*PROGRAMS, "python3"):
        if name != missing and (program := shutil.which(name, path="/usr/bin:/bin")):
            (path / name).symlink_to(program)
    home = Home(tmp_path / "home")
    home.create()
    with Sshd(tmp_path / "north", shell=shell, sftp=sftp) as sshd:
        session = sshd.folder / "session"
        session.write_text(sshd.session_script().replace("cd ", f"PATH={path}; cd ", 1))
        trust(home.known_hosts, sshd)
        there = str(tmp_path / "there")
        address = Address("north", "ssh", sshd.destination, str(sshd.identity), there)
        findings = [*check(home, address, "site")]
    (finding,) = [finding for finding in findings if finding.ok is False]
    return finding


SHELLS = pytest.mark.parametrize("shell", ["bash", "dash", "zsh", "fish"])


@SHELLS
def test_without_mv_the_check_blames_the_path_and_not_python(tmp_path: Path, shell: str) -> None:
    found = failure(tmp_path, "mv", shell=shell)

    assert found.detail.startswith("node `north` can't take the wrapper: can't copy a file: ")
    assert found.detail.endswith(("mv", "mv: not found"))
    assert "python" not in found.detail + found.advice
    assert found.advice.startswith("check the PATH that a start-up file of the account there")
    assert not [path for path in (tmp_path / "there").rglob("*") if path.is_file()]


@SHELLS
def test_without_rm_the_check_says_where_its_files_remain(tmp_path: Path, shell: str) -> None:
    found = failure(tmp_path, "rm", shell=shell)

    (folder,) = (tmp_path / "there").glob("*/check-*")
    assert found.what == "removal of files"
    assert found.detail.startswith(f"files of this check remain in `{folder}`: ")
    assert found.advice.startswith("check the PATH that a start-up file of the account there")


@pytest.mark.parametrize("program", ["mkdir", "chmod", "wc"])
def test_without_sftp_a_missing_program_for_the_copy_is_named(tmp_path: Path, program: str) -> None:
    found = failure(tmp_path, program, sftp=False)

    assert f"{program}: not found" in found.detail
    assert found.advice.startswith("check the PATH that a start-up file of the account there")
