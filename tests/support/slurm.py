"""A Slurm of our own: munge, a controller and node daemons on loopback, all in one folder."""

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tests.support import beside, debian_program
from tests.support.openssh import free_port
from tests.support.waiting import wait_until

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge")
CONTROLLER = "slurmctld"
TOOLS = ("srun", "sbatch", "squeue", "scancel", "scontrol", "sinfo")


class Slurm:
    """A batch system with `nodes` machines of `cpus` CPUs; use it as a context manager."""

    def __init__(self, folder: Path, nodes: int = 2, cpus: int = 4) -> None:
        self.folder = folder
        self._nodes = [f"s{number}" for number in range(1, nodes + 1)]
        self._controller = debian_program("slurmctld-wlm", *PACKAGES)
        self._running: list[subprocess.Popen[bytes]] = []
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        """The controller, and the daemon of each node by its name."""
        self.tools = beside(self._controller, "srun").parent
        for tool in (*TOOLS, "munged", "slurmd-wlm", "slurmstepd-wlm"):
            beside(self._controller, tool)
        for part in ("state", "munge", *self._nodes):
            (folder / part).mkdir(parents=True, mode=0o700)
        folder.chmod(0o700)
        self.settings = folder / "slurm.conf"
        self.settings.write_text(self._settings(cpus))

    @property
    def variables(self) -> dict[str, str]:
        """What a login shell of this site has in its environment."""
        path = f"{self.tools}:{os.environ.get('PATH', os.defpath)}"
        return {"SLURM_CONF": str(self.settings), "PATH": path}

    def call(self, *command: str) -> str:
        """What a tool of Slurm prints."""
        done = subprocess.run(
            [str(self.tools / command[0]), *command[1:]], env=os.environ | self.variables,
            check=True, text=True, capture_output=True,
        )  # fmt: skip
        return done.stdout

    @contextmanager
    def without(self, node: str) -> Iterator[None]:
        """Let a machine fail, and bring it back."""
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
        yield
        with suppress(subprocess.CalledProcessError):  # it may have come back by itself
            self.call("scontrol", "update", f"NodeName={node}", "State=RESUME")
        wait_until(lambda: "down" not in self._states(), what="the machine is back")

    @contextmanager
    def without_controller(self) -> Iterator[None]:
        """Kill the controller, and start it again.

        It has saved its jobs before: it gives the numbers of others again, and drains their nodes.
        """
        since, state = time.time(), self.folder / "state/job_state"
        held = self.call("sbatch", "--parsable", "--hold", "--output=/dev/null", "--wrap=true")
        wait_until(
            lambda: state.exists() and state.stat().st_mtime > since, 60, "it saves its jobs"
        )
        self.kill(CONTROLLER)
        yield
        self.start(CONTROLLER)
        wait_until(self._answers, what="the controller answers")
        self.call("scancel", held.strip())

    @property
    def daemons(self) -> list[str]:
        """The daemons that run."""
        return sorted(self._daemons)

    def kill(self, name: str) -> None:
        """Kill the controller, or the daemon of a node."""
        process = self._daemons.pop(name)
        process.kill()
        process.wait()
        self._running.remove(process)

    def start(self, name: str) -> None:
        """Start the controller, or the daemon of a node."""
        if name == CONTROLLER:
            self._daemons[name] = self._start("slurmctld-wlm", "-D")
        else:
            stepd = beside(self._controller, "slurmstepd-wlm")
            self._daemons[name] = self._start("slurmd-wlm", "-D", "-N", name, "-d", str(stepd))

    def clear(self) -> None:
        """End all jobs, which would outlive their node daemons; return when they are gone."""

        def is_idle() -> bool:
            # scancel does not know single jobs of an array by their own numbers
            jobs = set(self.call("squeue", "--noheader", "--format=%F").split())
            if jobs:
                self.call("scancel", *jobs)
            return not jobs

        wait_until(is_idle, what="Slurm is idle")

    def __enter__(self) -> Self:
        key = self.folder / "munge/key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o600)
        munge = self.folder / "munge"
        self._start(
            "munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={key}",
            f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", f"--log-file={munge}/log",
        )  # fmt: skip
        wait_until((munge / "socket").exists, what="munge listens")
        for name in (CONTROLLER, *self._nodes):
            self.start(name)
        wait_until(self._is_idle, what="the nodes of Slurm are idle")
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.clear()
        finally:
            for process in reversed(self._running):
                process.kill()
                process.wait()

    def _start(self, name: str, *more: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.out").open("ab") as log:
            process = subprocess.Popen(
                [str(beside(self._controller, name)), *more],
                env=os.environ | self.variables,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._running.append(process)
        return process

    def _answers(self) -> bool:
        try:
            return bool(self._states())
        except subprocess.CalledProcessError:
            return False

    def _is_idle(self) -> bool:
        try:
            return self._states() == ["idle"] * len(self._nodes)
        except subprocess.CalledProcessError:
            return False

    def _states(self) -> list[str]:
        return self.call("sinfo", "--noheader", "--partition=main", "--Node", "--format=%T").split()

    def _settings(self, cpus: int) -> str:
        host, user = socket.gethostname().partition(".")[0], Path("/proc/self").owner()
        plugins = next(
            path.parent
            for root in (self._controller.parents[1], Path("/usr"))
            for path in root.glob("**/slurm*/auth_munge.so")
        )
        folder = self.folder
        nodes = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port('127.0.0.1')}"
            f" CPUs={cpus} RealMemory=2000"
            for node in self._nodes
        ]
        return "\n".join([
            "ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={free_port('127.0.0.1')}", f"FirstJobId={free_port('127.0.0.1')}",
            f"SlurmUser={user}", f"SlurmdUser={user}",
            "AuthType=auth/munge", "CredType=cred/munge", f"AuthInfo=socket={folder}/munge/socket",
            f"PluginDir={plugins}", f"StateSaveLocation={folder}/state",
            f"SlurmdSpoolDir={folder}/%n", f"SlurmctldPidFile={folder}/slurmctld.pid",
            f"SlurmdPidFile={folder}/%n.pid", f"SlurmctldLogFile={folder}/slurmctld.log",
            f"SlurmdLogFile={folder}/%n.log", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "MpiDefault=none", "SwitchType=switch/none",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none", "JobCompType=jobcomp/none",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU_Memory",
            "SchedulerParameters=sched_interval=1,bf_interval=1",
            "SlurmdParameters=config_overrides", "ReturnToService=2",
            "KillWait=1", "InactiveLimit=0",
            "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE", *nodes,
            f"PartitionName=main Nodes={','.join(self._nodes)} Default=YES MaxTime=INFINITE"
            " PriorityTier=1",
            f"PartitionName=urgent Nodes={','.join(self._nodes)} MaxTime=INFINITE"
            " PriorityTier=9",
            "",
        ])  # fmt: skip
