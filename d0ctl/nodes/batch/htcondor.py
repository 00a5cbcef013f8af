"""HTCondor's commands, for the login shell of an access point, and their output."""

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from d0ctl.errors import D0Error
from d0ctl.nodes.batch import condor_log
from d0ctl.nodes.batch.condor_states import HELD, IDLE, RUNNING, phase_of
from d0ctl.nodes.batch.condor_states import reason as reason
from d0ctl.nodes.batch.tools import PRIORITY, PROGRAM, Job, Phase, Tasks
from d0ctl.nodes.ship import PYTHONS
from d0ctl.sitefile.spec import Pilots

NAMES: tuple[str, ...] = (
    "condor_submit", "condor_q", "condor_rm", "condor_prio", "condor_ssh_to_job", "condor_version",
)  # fmt: skip

_ENDS = (
    "JobStatus", "ExitBySignal", "ExitCode", "ExitSignal", "RemoveReason", "HoldReason",
    "HoldReasonCode", "HoldReasonSubCode", "NumJobStarts", "VacateReason", "LastJobStatus",
)  # fmt: skip
_ATTRIBUTES = ",".join([
    "ClusterId", "ProcId", "D0ctlPilot", "D0ctlSeconds", "JobCurrentStartDate",
    "LastRejMatchReason", *_ENDS,
])  # fmt: skip

QUEUE = f'condor_q -constraint "isString(D0ctlPilot)" -json -attributes {_ATTRIBUTES} && date +%s'
"""Lists the user's jobs of d0ctl, and prints the time there, as their begin is one."""

LARGEST_ARRAY = 1000
"""How many jobs are submitted at once."""

MOST_LOG = 8 << 20
"""How many bytes of an event log are read, from its end."""

HELD_S = 3600
"""After this time HTCondor removes jobs that have run and are held: d0ctl's order may be lost."""

_SUBMIT = "condor_submit -terse"

_ATTEMPT = "D0ctlAttempt"
"""The variable of a description that is the attempt of each job."""


def version(tool: str) -> str:
    """Return the command that prints the version of a tool, or that it exists."""
    if tool == "condor_version":
        return tool
    return f'sh -c "command -v {tool} || {{ echo there is no {tool} >&2; exit 1; }}"'


def submit(pilots: Pilots, name: str, count: int) -> tuple[str, bytes]:
    """Return the command that submits `count` pilots at once, and the description for its stdin."""
    own = {
        "arguments": arguments(pilots.python),
        "environment": f'"D0CTL_PILOT={name}.$(ProcId)"',
    }
    return _SUBMIT, f"{_description(pilots, name, own)}queue {count}\n".encode()


def submit_tasks(asked: Pilots, name: str, tasks: Tasks, lower: int) -> tuple[str, bytes]:
    """Return the command that submits jobs of packages at once, and the description for its stdin.

    Each job takes the number of its attempt from a table.
    """
    own = {"arguments": task_arguments(asked, tasks), "priority": f"{-lower}"}
    table = "".join(f"{attempt}\n" for attempt in tasks.attempts)
    description = f"{_description(asked, name, own)}queue {_ATTEMPT} from (\n{table})\n"
    return _SUBMIT, description.encode()


def nice(priority: int) -> int:
    """Return by how much a job comes after others of the user; HTCondor lets users raise it."""
    return PRIORITY - priority


def is_impossible(error: str) -> bool:
    """Return whether a submission was refused as no machine meets the request; it never is.

    Jobs that no machine fits stay in the queue, and `why` says so.
    """
    return False


def _description(pilots: Pilots, name: str, own: Mapping[str, str]) -> str:
    seconds = math.ceil(pilots.wall_time)
    never_again = "(MY.NumJobStarts ?: 0) == 0"
    asked = {
        "request_memory": f"{math.ceil(pilots.memory / 2**20)}" if pilots.memory else "",
        "request_disk": f"{math.ceil(pilots.disk / 2**10)}" if pilots.disk else "",
        "request_gpus": f"{pilots.gpus}" if pilots.gpus else "",
        "accounting_group": pilots.account,
        "rank": pilots.rank,
        "concurrency_limits": pilots.concurrency_limits,
        "log": pilots.event_log,
    }
    lines = {
        "universe": "vanilla",
        "executable": "/bin/sh",
        "transfer_executable": "false",
        **own,
        "should_transfer_files": "YES",
        "when_to_transfer_output": "ON_EXIT",
        "transfer_output_files": '""',
        "notification": "never",
        "batch_name": name,
        "+D0ctlPilot": f'"{name}"',
        "+D0ctlSeconds": f"{seconds}",
        "request_cpus": f"{pilots.cpus}",
        **{key: value for key, value in asked.items() if value},
        "requirements": (
            f"({pilots.requirements}) && ({never_again})" if pilots.requirements else never_again
        ),
        "periodic_remove": (
            f"(JobStatus == {RUNNING} && time() - (JobCurrentStartDate ?: time()) > {seconds})"
            f" || (JobStatus == {IDLE} && (NumJobStarts ?: 0) > 0)"
            f" || (JobStatus == {HELD} && (NumJobStarts ?: 0) > 0"
            f" && time() - EnteredCurrentStatus > {HELD_S})"
        ),
    }
    return "".join(f"{key} = {value}\n" for key, value in lines.items())


@cache
def arguments(python: str = "") -> str:
    """Return the arguments of the shell that is a pilot, with all that it needs.

    So no file is left on the access point, and none is transferred.
    """
    program = zlib.compress((files("d0ctl_wrapper") / "pilot.py").read_bytes(), 9)
    run = "import base64,sys,zlib;exec(zlib.decompress(base64.b64decode(sys.argv[1])))"
    return _shell(python, run, base64.b64encode(program).decode())


def task_arguments(asked: Pilots, tasks: Tasks) -> str:
    """Return the arguments of the shell that runs an attempt from the shared folder."""
    arguments = f"{tasks.path} {tasks.base} $({_ATTEMPT}) {math.ceil(asked.wall_time)}"
    return _shell(asked.python, PROGRAM, arguments, "export HOME=${HOME:-$_CONDOR_SCRATCH_DIR}; ")


def _shell(python: str, program: str, arguments: str, first: str = "") -> str:
    pythons = " ".join((python,) if python else PYTHONS)
    script = (
        f"export PATH=${{PATH:-/usr/local/bin:/usr/bin:/bin}}; {first}"
        f"for python in {pythons}; do command -v $python >/dev/null 2>&1 "
        f'&& exec $python -I -S -c "{program}" {arguments}; done; exit 127'
    )
    doubled = script.replace("'", "''").replace('"', '""')
    return f"\"-c '{doubled}'\""


def submitted(output: str) -> str:
    """Return the id of the cluster that was submitted. Raises D0Error."""
    last = output.strip().rpartition("\n")[2]
    cluster = last.partition(" ")[0].partition(".")[0]
    if not (cluster.isascii() and cluster.isdigit()):
        raise D0Error(f"condor_submit printed {last[:80]!r}, not the ids of jobs")
    return cluster


def read_queue(output: str) -> list[Job]:
    """Return the jobs of the queue. Raises D0Error if it is no queue."""
    text, _, clock = output.strip().rpartition("\n")
    if not (clock.isascii() and clock.isdigit()):
        raise D0Error(f"condor_q printed {output.strip()[-80:]!r}, not its jobs and the time")
    return [_job(ad, int(clock)) for ad in _ads(text) if isinstance(ad.get("D0ctlPilot"), str)]


def _ads(text: str) -> list[dict[str, Any]]:
    """Return the jobs that a tool printed; older versions print nothing if there are none."""
    try:
        found = json.loads(text) if text.strip() else []
        return [{**ad, "id": f"{int(ad['ClusterId'])}.{int(ad['ProcId'])}"} for ad in found]
    except (ValueError, TypeError, KeyError) as error:
        raise D0Error(f"HTCondor printed {text.strip()[:80]!r}, not its jobs") from error


def _job(ad: Mapping[str, Any], now: int) -> Job:
    phase, state, reason = phase_of(ad)
    began, seconds, left_s = ad.get("JobCurrentStartDate"), ad.get("D0ctlSeconds"), None
    if phase is Phase.ALIVE and isinstance(began, int) and isinstance(seconds, int):
        left_s = float(seconds - (now - began))
    return Job(ad["id"], str(ad["ClusterId"]), int(ad["ProcId"]), ad["D0ctlPilot"], state, left_s,
               reason, phase)  # fmt: skip


def job_id(array: str, index: int) -> str:
    """Return the id of a job of a cluster."""
    return f"{array}.{index}"


def cancel(jobs: Sequence[str]) -> str:
    """Return the command that ends jobs; one that has left the queue is no error.

    What stays in the queue is cancelled again, so other errors do no harm either.
    """
    return f'condor_rm -reason "by d0ctl" {" ".join(jobs)} || :'


def reorder(jobs: Sequence[str], lower: int) -> str:
    """Return the command that sets the priority of jobs; one that has left is no error."""
    return f"condor_prio -p {-lower} {' '.join(jobs)} || :"


def accounts(pilots: Pilots, jobs: Sequence[str]) -> str:
    """Return the command that asks how jobs have ended: the end of their log, or the history."""
    if pilots.event_log:
        return f"tail -c {MOST_LOG} {pilots.event_log}"
    wanted = f"ClusterId,ProcId,{','.join(_ENDS)}"
    return f"condor_history -limit {len(jobs)} -json -attributes {wanted} {' '.join(jobs)}"


def read_accounts(output: str) -> dict[str, str]:
    """Return how jobs have ended, by their ids."""
    try:
        is_history = output.lstrip()[:1] in ("", "[")
        ads = {ad["id"]: ad for ad in _ads(output)} if is_history else condor_log.jobs(output)
    except D0Error:
        return {}
    ends = {job: phase_of(ad) for job, ad in ads.items()}
    return {job: end for job, (phase, end, _) in ends.items() if phase in (Phase.STUCK, Phase.OVER)}
