"""Slurm's commands, for the login shell of a login node, and their output."""

import math
import re
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from d0ctl.errors import D0Error
from d0ctl.nodes.batch.tools import PRIORITY, PROGRAM, Job, Phase, Tasks
from d0ctl.nodes.ship import PYTHONS
from d0ctl.sitefile.spec import Pilots

NAMES: tuple[str, ...] = ("sbatch", "squeue", "scancel", "scontrol", "srun")

QUEUE = 'squeue --user=$(id -u) --array --noheader --states=all --format="%A|%F|%K|%T|%L|%r|%j"'
"""Lists the user's jobs, including those that ended minutes ago."""

_ARRAY_JOB = re.compile(r"\d+(;.*)?", re.ASCII)
_LEFT = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", re.ASCII)

WAITING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"})
ALIVE = frozenset({"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"})
"""States of jobs that have not ended: before their allocation, and in it."""


def version(tool: str) -> str:
    """Return the command that prints the version of a tool."""
    return f"{tool} --version"


ENDS = {
    "TIMEOUT": "wall-time", "DEADLINE": "wall-time", "OUT_OF_MEMORY": "out-of-memory",
    "CANCELLED": "killed",
}  # fmt: skip
"""The reasons of ends of packages whose own jobs have ended so."""

IMPOSSIBLE = (
    "Requested node configuration is not available", "Memory specification can not be satisfied",
    "More processors requested than permitted", "Requested time limit is invalid",
)  # fmt: skip
"""Errors of sbatch that concern the request of a package, not all jobs."""

NICE = 100
"""By how much a job is lowered for each number that its priority is below the default."""

LARGEST_ARRAY = 1000
"""How many jobs are submitted at once: by default Slurm takes no array of more than 1001."""


def reason(state: str) -> str:
    """Return why a package has failed whose job has ended in a state without it."""
    return ENDS.get(state.partition(" ")[0], "platform-failure")


def is_impossible(error: str) -> bool:
    """Return whether a submission was refused as no machine meets the request."""
    return any(text in error for text in IMPOSSIBLE)


def nice(priority: int) -> int:
    """Return by how much Slurm should lower a job; it raises none without an administrator."""
    return NICE * max(0, PRIORITY - priority)


def submit(pilots: Pilots, name: str, count: int, lower: int = 0) -> tuple[str, bytes]:
    """Return the command that submits `count` pilots at once, and the script for its stdin.

    Slurm's priority of them is lowered by `lower`.
    """
    asked = {
        "partition": pilots.partition, "account": pilots.account, "qos": pilots.qos,
        "constraint": f'"{pilots.constraint}"' if pilots.constraint else "",
        "mem": f"{math.ceil(pilots.memory / 2**20)}M" if pilots.memory else "",
        "gres": f"gpu:{pilots.gpus}" if pilots.gpus else "", "nice": lower or "",
    }  # fmt: skip
    options = [f"--{key}={value}" for key, value in asked.items() if value]
    command = " ".join([
        "sbatch", "--parsable", f"--job-name={name}", f"--array=0-{count - 1}", "--nodes=1",
        "--ntasks=1", f"--cpus-per-task={pilots.cpus}",
        f"--time={math.ceil(pilots.wall_time / 60)}", "--no-requeue", "--input=/dev/null",
        "--output=/dev/null", "--comment=d0ctl", *options,
        *(f'"{option}"' for option in pilots.options),
    ])  # fmt: skip
    return command, script(pilots.python)


def submitted(output: str) -> str:
    """Return the id of the array that was submitted. Raises D0Error."""
    last = output.strip().rpartition("\n")[2]
    if not _ARRAY_JOB.fullmatch(last):
        raise D0Error(f"sbatch printed {last[:80]!r}, not the id of a job")
    return last.partition(";")[0]


def job_id(array: str, index: int) -> str:
    """Return the id of a job of an array."""
    return f"{array}_{index}"


def cancel(jobs: Sequence[str]) -> str:
    """Return the command that ends jobs; a job that has ended already is no error."""
    return f"scancel --quiet {' '.join(jobs)}"


def reorder(jobs: Sequence[str], lower: int) -> str:
    """Return the command that lowers queued jobs; users may raise them again up to the default.

    It fails for jobs that have begun, and does its work for the others.
    """
    return f"scontrol update JobId={','.join(jobs)} Nice={lower} || :"


def accounts(pilots: Pilots, jobs: Sequence[str]) -> str:
    """Return the command that asks how jobs have ended."""
    listed = ",".join(jobs)
    return f"sacct --noheader --parsable2 --allocations --format=JobID,State --jobs={listed}"


def read_accounts(output: str) -> dict[str, str]:
    """Return how jobs have ended, such as `CANCELLED by 1000`; accounts may be behind."""
    lines = (line.partition("|") for line in output.splitlines())
    return {
        job: state
        for job, _, state in lines
        if state and state.partition(" ")[0] not in WAITING | ALIVE
    }


def read_queue(output: str) -> list[Job]:
    """Return the jobs of the queue; other lines are ignored."""
    return [job for line in output.splitlines() if (job := _job(line))]


def _job(line: str) -> Job | None:
    fields = line.strip().split("|", 6)
    if len(fields) < 7 or not fields[0].isdigit():
        return None
    number, array, index, state, left, reason, name = fields
    seq = int(index) if index.isdigit() else 0
    phase = Phase.WAITING if state in WAITING else Phase.ALIVE if state in ALIVE else Phase.OVER
    return Job(number, array, seq, name, state, _seconds(left), reason, phase)


def _seconds(text: str) -> float | None:
    found = _LEFT.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


@cache
def script(python: str = "") -> bytes:
    """Return the batch script of a pilot, which contains everything it needs."""
    program = (files("d0ctl_wrapper") / "pilot.py").read_text()
    pythons = " ".join((python,) if python else PYTHONS)
    return (
        "#!/bin/sh\n"
        f"program={shlex.quote(program)}\n"
        f"for python in {pythons}; do\n"
        '    command -v "$python" >/dev/null 2>&1 && exec "$python" -I -S -c "$program"\n'
        "done\n"
        "exit 127\n"
    ).encode()


def submit_tasks(asked: Pilots, name: str, tasks: Tasks, lower: int) -> tuple[str, bytes]:
    """Return the command that submits an array whose jobs run these attempts, and its script."""
    command, _ = submit(asked, name, len(tasks.attempts), lower)
    return command, task_script(asked.python, tasks, math.ceil(asked.wall_time))


def task_script(python: str, tasks: Tasks, seconds: int) -> bytes:
    """Return the batch script of an array whose jobs run these attempts, one each.

    `seconds` is the time of a job.
    """
    pythons = " ".join((python,) if python else PYTHONS)
    return (
        "#!/bin/sh\n"
        f"set -- {' '.join(map(str, tasks.attempts))}\n"
        'shift "$SLURM_ARRAY_TASK_ID"\n'
        f"for python in {pythons}; do\n"
        '    command -v "$python" >/dev/null 2>&1 && exec "$python" -I -S -c'
        f' {shlex.quote(PROGRAM)} {tasks.path} {tasks.base} "$1" {seconds}\n'
        "done\n"
        "exit 127\n"
    ).encode()
