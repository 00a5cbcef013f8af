"""What HTCondor's tools are asked, and what is read in their answers.

Descriptions are read by HTCondor's own code, from its Python bindings.
"""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import classad2
import htcondor2
import pytest

from d0ctl.errors import D0Error
from d0ctl.nodes.batch import condor_states, htcondor
from d0ctl.nodes.batch.tools import Job, Phase, Tasks
from d0ctl.sitefile.spec import Pilots
from tests.support.condor_tools import unquoted


def described(pilots: Pilots, count: int = 3) -> Any:
    """The description of pilots, as HTCondor reads it."""
    return htcondor2.Submit(htcondor.submit(pilots, "d0ctl-x-1", count)[1].decode())


@pytest.mark.parametrize(
    ("pilots", "command", "value"),
    [
        (Pilots("htcondor", account="group_hep.emmy"), "accounting_group", "group_hep.emmy"),
        (Pilots("htcondor", rank="Mips"), "rank", "Mips"),
        (Pilots("htcondor", concurrency_limits="db:2,x"), "concurrency_limits", "db:2,x"),
        (Pilots("htcondor", cpus=8), "request_cpus", "8"),
        (Pilots("htcondor", memory=2 * 2**30), "request_memory", "2048"),
        (Pilots("htcondor", event_log="/var/x.log"), "log", "/var/x.log"),
        (Pilots("htcondor", gpus=2), "request_gpus", "2"),
        (Pilots("htcondor", disk=5 * 2**30), "request_disk", str(5 * 2**20)),
        (Pilots("htcondor", wall_time=90), "MY.D0ctlSeconds", "90"),
        (Pilots("htcondor"), "transfer_executable", "false"),
    ],
)
def test_keys_of_a_cluster_are_what_htcondor_reads(
    pilots: Pilots, command: str, value: str
) -> None:
    submit = described(pilots)

    assert submit[command] == value
    assert submit["MY.D0ctlPilot"] == '"d0ctl-x-1"'
    assert submit.getQArgs() == "3"


def decides(pilots: Pilots, command: str, **job: int | str) -> bool:
    """What an expression of the description is for a job."""
    ad = classad2.ClassAd(job)
    ad["Result"] = classad2.ExprTree(described(pilots)[command])
    return bool(ad.eval("Result"))


def test_a_pilot_starts_once_and_where_the_site_wants_it() -> None:
    pilots = Pilots("htcondor", requirements='OpSys == "LINUX" || false')

    assert decides(pilots, "requirements", OpSys="LINUX", NumJobStarts=0)
    assert decides(pilots, "requirements", OpSys="LINUX")
    assert not decides(pilots, "requirements", OpSys="LINUX", NumJobStarts=1)
    assert not decides(pilots, "requirements", OpSys="WINDOWS", NumJobStarts=0)


def test_a_pilot_is_removed_at_its_wall_time_and_after_an_eviction() -> None:
    pilots, now = Pilots("htcondor", wall_time=3600), int(time.time())
    running: dict[str, int | str] = {"JobStatus": 2, "NumJobStarts": 1}

    assert not decides(pilots, "periodic_remove", JobStatus=1, NumJobStarts=0)
    assert not decides(pilots, "periodic_remove", **running)
    assert not decides(pilots, "periodic_remove", **running, JobCurrentStartDate=now - 600)
    assert decides(pilots, "periodic_remove", **running, JobCurrentStartDate=now - 4000)
    assert decides(pilots, "periodic_remove", JobStatus=1, NumJobStarts=1)
    held: dict[str, int | str] = {"JobStatus": 5, "NumJobStarts": 1}
    assert not decides(pilots, "periodic_remove", **held, EnteredCurrentStatus=now)
    assert decides(pilots, "periodic_remove", **held, EnteredCurrentStatus=now - 4000)


def test_a_pilot_runs_by_the_python_of_its_cluster(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho $1 $2 $3\n")
    python.chmod(0o755)
    words = unquoted(described(Pilots("htcondor", python=str(python)))["arguments"])

    done = subprocess.run(["/bin/sh", *words], capture_output=True, check=True)

    assert done.stdout == b"-I -S -c\n"


TASKS = Tasks("/shared/bin/w.pyz", "/shared/base", (12, 40))


def test_jobs_of_packages_take_their_attempts_from_a_table() -> None:
    asked = Pilots("htcondor", cpus=3, memory=2**30, wall_time=90)
    command, description = htcondor.submit_tasks(asked, "d0ctl-x-1-a.b", TASKS, htcondor.nice(70))
    submit = htcondor2.Submit(description.decode())

    assert command == "condor_submit -terse"
    assert [item["D0ctlAttempt"] for item in submit.itemdata()] == ["12", "40"]
    assert submit["MY.D0ctlPilot"] == '"d0ctl-x-1-a.b"'
    assert (submit["request_cpus"], submit["request_memory"]) == ("3", "1024")
    assert (submit["priority"], submit["MY.D0ctlSeconds"]) == ("20", "90")
    assert "$(D0ctlAttempt)" in submit["arguments"]
    assert "D0CTL_PILOT" not in description.decode()


def test_the_job_of_a_package_starts_its_wrapper(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nfor word do echo "$word"; done\necho $HOME\n')
    python.chmod(0o755)
    asked = Pilots("htcondor", python=str(python), wall_time=90)
    text = htcondor.submit_tasks(asked, "x", TASKS, 0)[1].decode()
    words = unquoted(htcondor2.Submit(text)["arguments"].replace("$(D0ctlAttempt)", "40"))

    done = subprocess.run(["/bin/sh", *words], capture_output=True, check=True, text=True,
                          env={"_CONDOR_SCRATCH_DIR": "/scratch"})  # fmt: skip

    *options, program, path, base, attempt, seconds, home = done.stdout.splitlines()
    assert options == ["-I", "-S", "-c"]
    assert "import main;main()" in program
    assert (path, base, attempt, seconds) == (TASKS.path, TASKS.base, "40", "90")
    assert home == "/scratch"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (condor_states.TIME_LIMIT, "wall-time"),
        ("removed: via condor_rm (by user root)", "killed"),
        ("held: it used more memory than it requested (code 34, subcode 102)", "out-of-memory"),
        ("held: it used more disk than it requested (code 34, subcode 104)", "disk-full"),
        ("held: it ran for longer than allowed (code 46, subcode 0)", "wall-time"),
        ("held: a user holds it (code 1, subcode 0)", "killed"),
        ("held: new (code 99, subcode 0)", "platform-failure"),
        ("evicted: Startd was shutdown", "platform-failure"),
        ("it ended with exit code 0", "platform-failure"),
        ("it is not in the queue any more", "platform-failure"),
    ],
)
def test_the_end_of_a_job_is_a_reason(state: str, reason: str) -> None:
    assert htcondor.reason(state) == reason


def test_the_description_of_pilots_is_small() -> None:
    assert len(htcondor.submit(Pilots("htcondor"), "d0ctl-x-1", 1)[1]) < 5000


PILOT: dict[str, Any] = {"ClusterId": 12, "ProcId": 3, "D0ctlPilot": "d0ctl-x-1"}


def read(**more: Any) -> Job:
    """A pilot as the queue shows it, at the time 1000 of the access point."""
    (job,) = htcondor.read_queue(f"{json.dumps([{**PILOT, **more}], indent=0)}\n1000\n")
    return job


def test_a_running_pilot_has_what_is_left_of_its_time() -> None:
    job = read(JobStatus=2, JobCurrentStartDate=400, D0ctlSeconds=3600, NumJobStarts=1)

    assert job == Job("12.3", "12", 3, "d0ctl-x-1", "running", 3000.0, "", Phase.ALIVE)
    assert htcondor.job_id(job.array, job.index) == job.id


@pytest.mark.parametrize(
    ("ad", "phase", "state", "reason"),
    [
        ({"JobStatus": 1}, Phase.WAITING, "idle", "not negotiated"),
        ({"JobStatus": 1, "LastRejMatchReason": "no match found"}, Phase.WAITING, "idle",
         "no match found"),
        ({"JobStatus": 1, "NumJobStarts": 1}, Phase.STUCK, "evicted", ""),
        ({"JobStatus": 1, "NumJobStarts": 1, "VacateReason": "Startd was shutdown"}, Phase.STUCK,
         "evicted: Startd was shutdown", ""),
        ({"JobStatus": 6}, Phase.ALIVE, "transferring output", ""),
        ({"JobStatus": 7}, Phase.ALIVE, "suspended", ""),
        ({"JobStatus": 5, "HoldReasonCode": 1, "HoldReason": "via condor_hold (by user root)"},
         Phase.WAITING, "held",
         "held: a user holds it: via condor_hold (by user root) (code 1, subcode 0)"),
        ({"JobStatus": 5, "HoldReasonCode": 1, "NumJobStarts": 1}, Phase.STUCK,
         "held: a user holds it (code 1, subcode 0)", ""),
        ({"JobStatus": 5, "HoldReasonCode": 34, "HoldReasonSubCode": 104}, Phase.STUCK,
         "held: it used more disk than it requested (code 34, subcode 104)", ""),
        ({"JobStatus": 5, "HoldReasonCode": 99, "HoldReason": "new"}, Phase.STUCK,
         "held: new (code 99, subcode 0)", ""),
        ({"JobStatus": 5}, Phase.STUCK, "held: no reason (code 0, subcode 0)", ""),
        ({"JobStatus": 3, "RemoveReason": "via condor_rm (by user root)"}, Phase.OVER,
         "removed: via condor_rm (by user root)", ""),
        ({"JobStatus": 3, "LastJobStatus": 2, "RemoveReason":
          "The job attribute PeriodicRemove expression 'x' evaluated to TRUE"}, Phase.OVER,
         "it was removed at its `wall-time`", ""),
        ({"JobStatus": 3, "LastJobStatus": 1, "RemoveReason":
          "The job attribute PeriodicRemove expression 'x' evaluated to TRUE"}, Phase.OVER,
         "evicted", ""),
        ({"JobStatus": 3, "LastJobStatus": 5, "RemoveReason":
          "The job attribute PeriodicRemove expression 'x' evaluated to TRUE"}, Phase.OVER,
         "it was removed as it was held", ""),
        ({"JobStatus": 4, "ExitBySignal": False, "ExitCode": 127}, Phase.OVER,
         "it ended with exit code 127", ""),
        ({"JobStatus": 4, "ExitBySignal": True, "ExitSignal": 9}, Phase.OVER,
         "it was ended by signal 9", ""),
    ],
)  # fmt: skip
def test_each_state_of_a_job_is_understood(
    ad: dict[str, Any], phase: Phase, state: str, reason: str
) -> None:
    job = read(**ad)

    assert (job.phase, job.state, job.reason) == (phase, state, reason)


@pytest.mark.parametrize("output", ["1000\n", "[\n]\n1000\n"])
def test_an_empty_queue_has_no_jobs(output: str) -> None:
    assert htcondor.read_queue(output) == []


@pytest.mark.parametrize("output", ["", "[\n]\n", "[{\n1000\n", "[{}]\n1000\n", "[1]\n1000\n"])
def test_output_that_is_no_queue_is_no_answer(output: str) -> None:
    with pytest.raises(D0Error, match="printed"):
        htcondor.read_queue(output)


def test_the_history_shows_how_jobs_have_ended() -> None:
    text = """[
{ "ClusterId": 12, "ProcId": 0, "JobStatus": 3, "RemoveReason": "via condor_rm (by user root)" },
{ "ClusterId": 12, "ProcId": 1, "JobStatus": 2 }
]
"""

    assert htcondor.read_accounts(text) == {"12.0": "removed: via condor_rm (by user root)"}
    assert htcondor.read_accounts("Error: no history") == {}
    assert htcondor.accounts(Pilots("htcondor"), ["12.0", "12.1"]).endswith(" 12.0 12.1")


@pytest.mark.parametrize("output", ["12.0 - 12.4\n", "WARNING: x\n12.0 - 12.0\n"])
def test_condor_submit_names_the_cluster(output: str) -> None:
    assert htcondor.submitted(output) == "12"


def test_output_without_an_id_is_no_cluster() -> None:
    with pytest.raises(D0Error, match="not the ids of jobs"):
        htcondor.submitted("Submitting job(s)\n")


def test_commands_have_nothing_that_a_login_shell_would_change() -> None:
    for command in (
        htcondor.QUEUE, htcondor.cancel(["12.0"]), htcondor.reorder(["12.0"], 5),
        htcondor.accounts(Pilots("htcondor"), ["12.0"]),
        htcondor.submit(Pilots("htcondor"), "x", 1)[0],
        *(htcondor.version(tool) for tool in htcondor.NAMES),
    ):  # fmt: skip
        assert not set("'!\n") & set(command)
