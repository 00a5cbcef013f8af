"""Where output goes may be shut, full, or tired of it."""

import subprocess

import pytest

from tests.support.site import Site
from tests.support.site.commands import D0CTL, EXAMPLES
from tests.support.waiting import PATIENCE_S


def in_shell(site: Site, words: str) -> "subprocess.CompletedProcess[str]":
    """Run `d0ctl` with redirections."""
    return subprocess.run(
        ["bash", "-c", f"exec {D0CTL} {words}"],
        env=site.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def test_a_full_disk_behind_stdout_is_reported_in_one_line(site: Site) -> None:
    done = in_shell(site, "status >/dev/full")

    assert done.returncode == 1
    assert done.stderr == "d0ctl: can't write the output: No space left on device\n"


@pytest.mark.parametrize("shut", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_job_runs_with_closed_standard_streams(site: Site, shut: str) -> None:
    done = in_shell(site, f"run {EXAMPLES / 'hello' / 'job.yaml'} {shut}")

    assert done.returncode == 0, done
    assert "Traceback" not in done.stderr
    assert (site.home.root / "results" / "hello" / "hello.txt").exists()
    assert site.d0ctl("doctor").code == 0
