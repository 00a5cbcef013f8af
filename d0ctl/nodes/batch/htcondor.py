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
from d0ctl.nodes.batch.tools import Job, Phase
from d0ctl.nodes.ship import PYTHONS
from d0ctl.sitefile.spec import Pilots

NAMES: tuple[str, ...] = (
    "condor_submit", "condor_q", "condor_rm", "condor_ssh_to_job", "condor_version",
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
"""Lists the user's pilots, and prints the time there, because their begin is a time there."""

MOST_LOG = 8 << 20
"""How many bytes of an event log are read, from its end."""

IDLE, RUNNING, REMOVED, COMPLETED, HELD, TRANSFERRING, SUSPENDED = range(1, 8)
"""Values of JobStatus."""

BY_REQUEST = frozenset({1, 15, 16})
"""Codes of holds that a user asked for and may release: a queued pilot waits for that."""

HOLDS: Mapping[tuple[int, int], str] = {
    (34, 102): "it used more memory than it requested",
    (34, 104): "it used more disk than it requested",
}
HOLD_CODES: Mapping[int, str] = {
    1: "a user holds it",
    3: "a rule of the job holds it",
    4: "its credentials are not valid",
    6: "its machine can't start it",
    12: "its output was not transferred",
    13: "its input was not transferred",
    14: "its folder can't be opened",
    15: "it was submitted on hold",
    16: "its input is being spooled",
    19: "a hook of its machine failed",
    21: "a rule of its machine holds it",
    22: "its event log can't be written",
    23: "its account does not exist there",
    26: "a rule of the site holds it",
    34: "it used more than it requested",
    35: "its container image is not valid",
    46: "it ran for longer than allowed",
    47: "it ran for longer than allowed",
}
"""What the codes and subcodes of holds mean; for others there is only HTCondor's own text."""

TIME_LIMIT = "it was removed at its `wall-time`"
RULE = "The job attribute PeriodicRemove expression"
"""How HTCondor begins the reason of a removal that the description of the job asked for."""


def version(tool: str) -> str:
    """Return the command that prints the version of a tool, or that it exists."""
    if tool == "condor_version":
        return tool
    return f'sh -c "command -v {tool} || {{ echo there is no {tool} >&2; exit 1; }}"'


def submit(pilots: Pilots, name: str, count: int) -> tuple[str, bytes]:
    """Return the command that submits `count` pilots at once, and the description for its stdin."""
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
        "arguments": arguments(pilots.python),
        "environment": f'"D0CTL_PILOT={name}.$(ProcId)"',
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
        ),
    }
    description = "".join(f"{key} = {value}\n" for key, value in lines.items())
    return "condor_submit -terse", f"{description}queue {count}\n".encode()


@cache
def arguments(python: str = "") -> str:
    """Return the arguments of the shell that is a pilot, with all that it needs.

    So no file is left on the access point, and none is transferred.
    """
    program = zlib.compress((files("d0ctl_wrapper") / "pilot.py").read_bytes(), 9)
    pythons = " ".join((python,) if python else PYTHONS)
    run = '"import base64,sys,zlib;exec(zlib.decompress(base64.b64decode(sys.argv[1])))"'
    script = (
        "export PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}; "
        f"for python in {pythons}; do command -v $python >/dev/null 2>&1 "
        f"&& exec $python -I -S -c {run} {base64.b64encode(program).decode()}; done; exit 127"
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
    """Return the pilots of the queue. Raises D0Error if it is no queue."""
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
    phase, state, reason = _phase(ad)
    began, seconds, left_s = ad.get("JobCurrentStartDate"), ad.get("D0ctlSeconds"), None
    if phase is Phase.ALIVE and isinstance(began, int) and isinstance(seconds, int):
        left_s = float(seconds - (now - began))
    return Job(ad["id"], str(ad["ClusterId"]), int(ad["ProcId"]), ad["D0ctlPilot"], state, left_s,
               reason, phase)  # fmt: skip


def _phase(ad: Mapping[str, Any]) -> tuple[Phase, str, str]:
    """Return how far a job has come, in which state it is, and what it waits for."""
    status, has_run = ad.get("JobStatus"), bool(ad.get("NumJobStarts"))
    if status == IDLE and has_run:
        return Phase.STUCK, _evicted(ad), ""
    if status == IDLE:
        return Phase.WAITING, "idle", str(ad.get("LastRejMatchReason") or "not negotiated")
    if status == HELD:
        waits = ad.get("HoldReasonCode") in BY_REQUEST and not has_run
        held = _held(ad)
        return (Phase.WAITING, "held", held) if waits else (Phase.STUCK, held, "")
    if status == REMOVED:
        return Phase.OVER, _removed(ad), ""
    if status == COMPLETED:
        if ad.get("ExitBySignal"):
            return Phase.OVER, f"it was ended by signal {ad.get('ExitSignal', 'unknown')}", ""
        return Phase.OVER, f"it ended with exit code {ad.get('ExitCode', 'unknown')}", ""
    words = {RUNNING: "running", TRANSFERRING: "transferring output", SUSPENDED: "suspended"}
    return Phase.ALIVE, words.get(int(status or 0), f"status {status}"), ""


def _held(ad: Mapping[str, Any]) -> str:
    code, subcode = int(ad.get("HoldReasonCode", 0)), int(ad.get("HoldReasonSubCode", 0))
    words = HOLDS.get((code, subcode)) or HOLD_CODES.get(code)
    said = [part for part in (words, ad.get("HoldReason")) if part]
    return f"held: {': '.join(said) or 'no reason'} (code {code}, subcode {subcode})"


def _evicted(ad: Mapping[str, Any]) -> str:
    reason = ad.get("VacateReason")
    return f"evicted: {reason}" if reason else "evicted"


def _removed(ad: Mapping[str, Any]) -> str:
    reason = str(ad.get("RemoveReason") or "no reason")
    if reason.startswith(RULE):
        return _evicted(ad) if ad.get("LastJobStatus") == IDLE else TIME_LIMIT
    return f"removed: {reason}"


def job_id(array: str, index: int) -> str:
    """Return the id of a job of a cluster."""
    return f"{array}.{index}"


def cancel(jobs: Sequence[str]) -> str:
    """Return the command that ends jobs; one that has left the queue is no error.

    What stays in the queue is cancelled again, so other errors do no harm either.
    """
    return f'condor_rm -reason "by d0ctl" {" ".join(jobs)} || :'


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
    ends = {job: _phase(ad) for job, ad in ads.items()}
    return {job: end for job, (phase, end, _) in ends.items() if phase in (Phase.STUCK, Phase.OVER)}
