"""`why` of exit codes 126 and 127 says which command it was and what to do about it."""

from pathlib import Path

from tests.cli.building import Site, job, line, package
from tests.cli.conftest import Type


def why(site: Site, d0ctl: Type, folder: Path, said: str, code: int, *needs: str) -> str:
    """What `why` says of a package whose shell printed this and ended so."""
    site.submit(job(("a", [line(package("x", needs=needs))]), directory=str(folder)))
    site.fail("prod/1/1/1", reason="software-missing", exit_code=code, stderr=f"{said}\n",
              detail=f"binary 1 (sim) ended with exit code {code}")  # fmt: skip
    return d0ctl("why", "prod/1/1/1").stdout


def test_a_script_beside_the_job_file_that_is_no_input_is_named(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "sim.sh").write_text("exit 0\n")

    told = why(site, d0ctl, tmp_path, "1.sh: line 1: ./sim.sh: No such file or directory", 127)

    assert "`sim.sh` is beside the job file but is no input, so it is not on the node" in told
    assert "add `inputs: sim.sh` to the job file" in told


def test_a_command_that_is_not_on_the_path_is_named_with_its_node(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    told = why(site, d0ctl, tmp_path, "1.sh: line 1: geant9: command not found", 127)

    assert "`geant9` is not on the PATH of node `localhost`" in told


def test_a_script_without_its_exec_bit_comes_with_chmod(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "sim.sh").write_text("exit 0\n")

    told = why(site, d0ctl, tmp_path, "1.sh: line 1: ./sim.sh: Permission denied", 126)

    assert f"`./sim.sh` is not executable: chmod +x {tmp_path / 'sim.sh'}" in told


def test_an_absolute_path_that_is_not_there_says_on_which_node(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    told = why(site, d0ctl, tmp_path, "1.sh: 1: /opt/reco/bin/reco: not found", 127)

    assert "`/opt/reco/bin/reco` does not exist on node `localhost`" in told


def test_what_the_message_says_already_is_not_printed_again(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.fail("prod/1/1/1", stderr="boom\n", detail="binary 1 ended with exit code 3: boom")

    assert d0ctl("why", "prod/1/1/1").stdout.count("boom") == 1
