"""What Slurm's tools are asked, and what is read in their answers."""

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from d0ctl.errors import D0Error
from d0ctl.nodes.batch import call, slurm
from d0ctl.nodes.batch.tools import Job, Phase
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.sitefile.spec import Pilots
from tests.nodes.conftest import Opener
from tests.support.sshd import Sshd


@pytest.mark.parametrize(
    ("pilots", "option"),
    [
        (Pilots(partition="long"), "--partition=long"),
        (Pilots(account="hep"), "--account=hep"),
        (Pilots(qos="high"), "--qos=high"),
        (Pilots(constraint="rome|milan"), '--constraint="rome|milan"'),
        (Pilots(options=("--exclude=n[1-4]",)), '"--exclude=n[1-4]"'),
        (Pilots(cpus=8), "--cpus-per-task=8"),
        (Pilots(memory=2 * 2**30), "--mem=2048M"),
        (Pilots(gpus=2), "--gres=gpu:2"),
        (Pilots(wall_time=7200), "--time=120"),
        (Pilots(wall_time=90), "--time=2"),
    ],
)
def test_keys_of_a_cluster_are_what_sbatch_is_asked_for(pilots: Pilots, option: str) -> None:
    words = slurm.submit(pilots, "d0ctl-x-1", 3)[0].split()

    assert option in words
    assert {"--job-name=d0ctl-x-1", "--array=0-2", "--no-requeue"} <= set(words)
    assert option == "--cpus-per-task=8" or "--cpus-per-task=1" in words


def test_a_pilot_runs_by_the_python_of_its_cluster(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho $1 $2 $3\n")
    python.chmod(0o755)

    done = subprocess.run(["sh"], input=slurm.script(str(python)), capture_output=True, check=True)

    assert done.stdout == b"-I -S -c\n"


def test_the_script_of_a_pilot_is_small() -> None:
    assert len(slurm.script()) < 8192


def test_the_queue_is_read_whatever_it_contains() -> None:
    text = (
        "71|70|1|RUNNING|1-02:03:04|None|d0ctl-x-1\n"
        "70|70|2|PENDING|0:30|ReqNodeNotAvail, UnavailableNodes:n[1-3]|d0ctl-x-1\n"
        "80|80|N/A|PENDING|UNLIMITED|Priority|a|name\n"
        "slurm_load_jobs error\n\n"
    )

    assert slurm.read_queue(text) == [
        Job("71", "70", 1, "d0ctl-x-1", "RUNNING", 93784.0, "None", Phase.ALIVE),
        Job(
            "70",
            "70",
            2,
            "d0ctl-x-1",
            "PENDING",
            30.0,
            "ReqNodeNotAvail, UnavailableNodes:n[1-3]",
            Phase.WAITING,
        ),
        Job("80", "80", 0, "a|name", "PENDING", None, "Priority", Phase.WAITING),
    ]


def test_accounts_show_how_jobs_have_ended() -> None:
    # As the manual of sacct describes it.
    text = "70_0|CANCELLED by 1000\n70_1|TIMEOUT\n70_2|RUNNING\n70_[3-4]|PENDING\n\nnote\n"

    assert slurm.read_accounts(text) == {"70_0": "CANCELLED by 1000", "70_1": "TIMEOUT"}
    assert slurm.accounts(Pilots(), ["70_0", "70_1"]).endswith(" --jobs=70_0,70_1")


@pytest.mark.parametrize(("output", "array"), [("12\n", "12"), ("note\n12;farm\n", "12")])
def test_sbatch_names_the_array(output: str, array: str) -> None:
    assert slurm.submitted(output) == array


def test_output_without_an_id_is_no_array() -> None:
    with pytest.raises(D0Error, match="not the id of a job"):
        slurm.submitted("Submitted batch job\n")


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("welcome\nd0ctl-begin\n1\n2\nd0ctl-end\n", "1\n2\n"),
        ("welcome\nd0ctl-begin\n1\n", None),
        ("welcome\n", None),
    ],
)
def test_only_a_tool_that_succeeded_counts(text: str, output: str | None) -> None:
    assert call.printed(text) == output


def test_a_broken_connection_is_not_a_failed_tool() -> None:
    assert call.has_failed("welcome\nd0ctl-begin\n1\nd0ctl-failed\n")
    assert not call.has_failed("welcome\nd0ctl-begin\n1\n")
    assert not call.has_failed("welcome\nd0ctl-begin\n1\nd0ctl-end\n")


@pytest.mark.parametrize("via", ["local", "fabric", "openssh"])
def test_a_tool_that_does_not_read_its_input_fails_with_its_own_error(
    via: str, sshd: Sshd, reach: Opener, tmp_path: Path
) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\nexec <&-\necho no such account >&2\nexit 1\n")
    tool.chmod(0o755)

    with closing(LocalTransport("login") if via == "local" else reach(sshd, via)) as login:
        with pytest.raises(call.ToolFailed, match="no such account"):
            call.call(login, str(tool), b"#" * 4_000_000)
