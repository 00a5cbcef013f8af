"""The transport to a pilot: each command goes through a step of its allocation.

The host of the pilot (`d0ctl_wrapper.pilot`) starts the commands; the step passes it its stdin,
stdout and stderr. So no port is open, and processes of a command outlive the step.
"""

import base64
import json
import shlex
from pathlib import Path

from d0ctl.nodes.transports.download import Download, Limits
from d0ctl.nodes.transports.shell_commands import ask_home, copy_in, copy_out
from d0ctl.nodes.transports.transport import IO_TIMEOUT_S, Stream, Transport

SRUN = "srun --jobid={job} --overlap --nodes=1 --ntasks=1 --mem=0 --quiet"

HAND_OVER = "; ".join([
    "import array, json, os, socket, struct, sys, time",
    "host = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)",
    'job = os.environ.get("D0CTL_PILOT") or os.environ["SLURM_JOB_ID"]',
    'name = chr(0) + "d0ctl-pilot-%d-%s" % (os.getuid(), job)',
    "tries = (host.connect_ex(name) == 0 or time.sleep(0.1) for _ in range(100))",
    'any(tries) or sys.exit("nothing answers in the allocation")',
    "peer = host.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)",
    'struct.unpack("3i", peer)[1] == os.getuid() or sys.exit("another user answers")',
    'streams = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]',
    "host.sendmsg([json.dumps(sys.argv[1:]).encode()], streams)",
    "sys.exit(int(host.recv(9) or 255))",
])  # fmt: skip
"""Passes the streams of a step and a command to the host, and waits for the command to end.

It is the same text for sh, bash, tcsh and fish.
"""

UNPACK = "import base64,json,sys;sys.argv[1:]=json.loads(base64.b64decode(sys.argv[1]));"


def _slurm_step(job: str, python: str, command: str) -> str:
    return f"exec {SRUN.format(job=job)} {python} -I -S -c '{HAND_OVER}' {command}"


def _condor_step(job: str, python: str, command: str) -> str:
    """Return the command that runs another in a job, as one word without quotes in it.

    It is split into words four times: by the login shell, by ssh, and twice by HTCondor's own
    script on the machine of the job.
    """
    encoded = base64.b64encode(json.dumps(shlex.split(command)).encode()).decode()
    program = base64.b64encode(f"{UNPACK}{HAND_OVER}".encode()).decode()
    run = "import base64,sys;exec(base64.b64decode(sys.argv.pop(1)))"
    return f"exec condor_ssh_to_job {job} 'exec {python} -I -S -c \"{run}\" {program} {encoded}'"


class PilotTransport:
    """An allocation, reached by the tools of its batch system on a login node.

    `close` closes the connection to that, too.
    """

    def __init__(
        self,
        login: Transport,
        kind: str,
        job: str,
        python: str = "",
        io_timeout: float = IO_TIMEOUT_S,
    ) -> None:
        self._login, self._job, self._io_timeout = login, job, io_timeout
        self._step = _condor_step if kind == "htcondor" else _slurm_step
        self._python = python or "python3"

    def home(self) -> str:
        """Return the home directory that the user has there."""
        return ask_home(self, f"can't enter the allocation of job {self._job}", self._io_timeout)

    def start(self, command: str) -> Stream:
        """Start `command`, which the login shell splits into words."""
        arguments = command.removeprefix("exec ")
        return self._login.start(self._step(self._job, self._python, arguments))

    def put(self, source: Path, target: str) -> None:
        """Copy a file to `target`, with new folders of mode 700 and the file's mode 600."""
        copy_in(self, source, target, self._io_timeout)

    def get(self, source: str, target: Path, limits: Limits) -> None:
        """Copy the file at `source` to `target`, within the limits."""
        copy_out(self, source, Download(source, target, limits), self._io_timeout)

    def close(self) -> None:
        """End the streams and the connection to the login node."""
        self._login.close()
