"""Stands in for HTCondor's tools, whose daemons can't be had here: a queue in a file.

    python condor_tools.py FOLDER TOOL [argument...]

`Pool` imports it instead, so that python keeps its compiled form.

Jobs are processes of this machine. Options and output are those that d0ctl uses, in the form that
HTCondor's sources and manual give them. Without a daemon, each call looks after the jobs.
"""

import fcntl
import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

IDLE, RUNNING, REMOVED, COMPLETED, HELD = range(1, 6)

Ad = dict[str, Any]


class Queue:
    """The jobs, those that have left, and how many may run at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: list[Ad] = []
        self.left: list[Ad] = []
        self.slots = 2
        self.next = 1

    @classmethod
    @contextmanager
    def locked(cls, folder: Path) -> Iterator["Queue"]:
        """Keep other tools out, and write what has changed."""
        record, queue = folder / "queue.json", cls(folder)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if record.exists():
                vars(queue).update(json.loads(record.read_text()))
            queue._reap()
            yield queue
            queue._start()
            kept = {key: value for key, value in vars(queue).items() if key != "folder"}
            record.with_suffix(".new").write_text(json.dumps(kept))
            record.with_suffix(".new").replace(record)

    def submit(self, text: str) -> str:
        """Add the jobs of a description; return their ids as `condor_submit -terse` does."""
        described, _, queued = text.partition("\nqueue ")
        keys = dict(line.split(" = ", 1) for line in described.splitlines())
        variable, _, table = queued.partition(" from (\n")
        items = table.splitlines()[:-1] if table else [""] * int(queued)
        count, cluster = len(items), self.next
        self.next += 1
        if 'OpSys == "none"' in keys["requirements"]:
            sys.exit("ERROR: no such system")
        for proc, item in enumerate(items):
            self.jobs.append({
                "ClusterId": cluster, "ProcId": proc, "JobStatus": IDLE, "NumJobStarts": 0,
                "D0ctlPilot": json.loads(keys["+D0ctlPilot"]),
                "D0ctlSeconds": int(keys["+D0ctlSeconds"]),
                "log": keys.get("log", ""),
                "args": unquoted(keys["arguments"].replace(f"$({variable})", item)),
                "env": unquoted(keys.get("environment", '""').replace("$(ProcId)", str(proc))),
                "JobPrio": int(keys.get("priority", "0")),
                "JobBatchName": keys["batch_name"],
                "RequestCpus": int(keys["request_cpus"]),
            })  # fmt: skip
        return f"{cluster}.0 - {cluster}.{count - 1}"

    def named(self, job: str) -> Ad | None:
        """The job of that id."""
        return next((ad for ad in self.jobs if f"{ad['ClusterId']}.{ad['ProcId']}" == job), None)

    def leave(self, ad: Ad, **more: Any) -> None:
        """Let a job leave the queue."""
        self.kill(ad)
        self.jobs.remove(ad)
        self.left.append({**ad, **more})
        if ad["log"]:
            job = f"({ad['ClusterId']:03}.{ad['ProcId']:03}.000)"
            reason = more.get("RemoveReason", "unknown")
            with Path(ad["log"]).open("a") as log:
                log.write(f"009 {job} 2026-11-23 10:00:00 Job was aborted.\n\t{reason}\n...\n")

    def kill(self, ad: Ad) -> None:
        """End all processes of a job at once, found by their environment and their parents.

        They are stopped first, so that a wrapper can't report the death of its binary.
        """
        if not ad["NumJobStarts"]:
            return
        mark = f"{ad['env'][0]}\0".encode()
        stopped: set[int] = set()
        while more := {pid for pid in parents() if mark in environment(pid)} - stopped:
            stopped |= send(signal.SIGSTOP, with_children(more | stopped))
        send(signal.SIGKILL, stopped)

    def _reap(self) -> None:
        for ad in [ad for ad in self.jobs if ad["JobStatus"] == RUNNING]:
            if not lives(ad["pid"]):
                self.leave(ad, JobStatus=COMPLETED, ExitCode=1, ExitBySignal=False)

    def _start(self) -> None:
        """Start idle jobs, unless they have run: they require that they have not."""
        import subprocess  # takes longer than a call that starts nothing

        for ad in self.jobs:
            running = sum(one["JobStatus"] == RUNNING for one in self.jobs)
            if ad["JobStatus"] == IDLE and not ad["NumJobStarts"] and running < self.slots:
                scratch = self.folder / f"dir_{ad['ClusterId']}_{ad['ProcId']}"
                scratch.mkdir()
                ad["env"].insert(0, f"_CONDOR_SCRATCH_DIR={scratch}")
                job = subprocess.Popen(
                    ["/bin/sh", *ad["args"]], cwd=scratch, start_new_session=True,
                    env=dict(pair.split("=", 1) for pair in ad["env"]), stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                ad.update(pid=job.pid, JobStatus=RUNNING, NumJobStarts=1,
                          JobCurrentStartDate=int(time.time()))  # fmt: skip
            elif ad["JobStatus"] == IDLE and not ad["NumJobStarts"]:
                ad["LastRejMatchReason"] = "no match found"


def unquoted(text: str) -> list[str]:
    """Return the words of arguments or an environment in the syntax with double quotes."""
    inner = text[1:-1].replace('""', '"')
    pieces = re.findall(r"'((?:[^']|'')*)'|(\S+)", inner)
    return [quoted.replace("''", "'") or plain for quoted, plain in pieces]


def parents() -> dict[int, int]:
    """The processes that run, and their parents; zombies are not among them."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(path.parent.name)] = int(parent)
    return found


def lives(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def with_children(roots: set[int]) -> set[int]:
    """These processes and all below them."""
    found, all_parents = set(roots), parents()
    while more := {pid for pid, parent in all_parents.items() if parent in found} - found:
        found |= more
    return found


def send(number: int, pids: set[int]) -> set[int]:
    """Send a signal to processes; those that have ended are no fault."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return pids


def environment(pid: int) -> bytes:
    """The environment with which a process began."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def shown(ads: list[Ad], attributes: str) -> str:
    """The jobs as the tools print them with `-json -attributes`."""
    wanted = attributes.split(",")
    return json.dumps([{key: ad[key] for key in wanted if key in ad} for ad in ads], indent=0)


def call(folder: Path, tool: str, arguments: list[str]) -> None:
    """Do what a tool does."""
    with Queue.locked(folder) as queue:
        if tool == "condor_submit":
            print(queue.submit(sys.stdin.read()))
        elif tool == "condor_q":
            print(shown(queue.jobs, arguments[arguments.index("-attributes") + 1]))
        elif tool == "condor_history":
            ended = [ad for ad in queue.left if f"{ad['ClusterId']}.{ad['ProcId']}" in arguments]
            print(shown(ended, arguments[arguments.index("-attributes") + 1]))
        elif tool == "condor_rm":
            reason = arguments[1] if arguments[0] == "-reason" else "via condor_rm"
            found = [ad for ad in map(queue.named, arguments) if ad]
            for ad in found:
                queue.leave(ad, JobStatus=REMOVED, RemoveReason=f"{reason} (by user emmy)")
            if not found:
                sys.exit("Couldn't find/remove all jobs")
        elif tool == "condor_prio":
            for ad in filter(None, map(queue.named, arguments[2:])):
                ad["JobPrio"] = int(arguments[1])
        elif tool == "condor_version":
            print("$CondorVersion: 0.0.0 stand-in $")
        elif tool == "set":  # not of HTCondor: change a job, or the number of slots
            named, changes = queue.named(arguments[0]), json.loads(arguments[1])
            if named is None:
                vars(queue).update(changes)
            else:
                queue.kill(named)
                named.update(changes)
        elif tool == "clear":
            for ad in [*queue.jobs]:
                queue.leave(ad, JobStatus=REMOVED)
        elif tool == "jobs":
            print(json.dumps([{**ad, "id": f"{ad['ClusterId']}.{ad['ProcId']}"}
                              for ad in queue.jobs]))  # fmt: skip
        elif tool == "condor_ssh_to_job":
            job = queue.named(arguments[0])
            if job is None or job["JobStatus"] != RUNNING:
                sys.exit("Failed to find a running job")
            around = dict(pair.split("=", 1) for pair in job["env"])
    if tool == "condor_ssh_to_job":
        # As HTCondor's own script on the machine of a job does it.
        around["SSH_ORIGINAL_COMMAND"] = " ".join(arguments[1:])
        os.execve("/bin/bash", ["bash", "-c", "eval ${SSH_ORIGINAL_COMMAND}"], around)


def main() -> None:
    """Do what the command line says."""
    call(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])


if __name__ == "__main__":
    main()
