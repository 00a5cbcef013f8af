"""P1's peers on the same machine in the same run: what the registries have of them."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.measure import PROCESS_PATIENCE_S
from tests.bench.site import passing_home, ssh_nodes
from tests.support import CACHE, Missing, debian_program
from tests.support.openssh import find_client
from tests.support.sshd import Sshd

HYPERQUEUE = """
import sys, time
from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=2))
    client = cluster.client()
    began = time.time()
    job = Job()
    for _ in range(int(sys.argv[1])):
        job.program(["true"])
    client.wait_for_jobs([client.submit(job)])
    print(time.time() - began)
"""


def rate(count: int, run: Callable[[int], float]) -> float | str:
    """Packages a second of a tool; why there is none if it can't be had."""
    try:
        return count / run(count)
    except TimeoutError:  # of the measure as a whole
        raise
    except subprocess.CalledProcessError as error:  # its text has the whole command
        return f"it ended with exit code {error.returncode}"
    except (Missing, OSError, subprocess.SubprocessError) as error:
        return str(error)


def hyperqueue(count: int) -> float:
    """Seconds of so many `true` in HyperQueue's server and worker."""
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-c", HYPERQUEUE, str(count)],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,  # where it puts two files a task
            env={"PYTHONPATH": str(hyperqueue_folder())},
            timeout=PROCESS_PATIENCE_S,
        )
        return float(done.stdout.split()[-1])


def hyperqueue_folder() -> Path:
    """The folder with HyperQueue's Python package, from PyPI."""
    folder = CACHE / "hyperqueue"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
        subprocess.run([*pip, "hyperqueue"], check=True, capture_output=True)
    return folder


def gnu_parallel(count: int, nodes: int, slots: int) -> float:
    """Seconds of so many `true` by GNU parallel on the nodes that we use, too."""
    parallel = debian_program("parallel", "parallel")
    with passing_home() as home, ssh_nodes(home, nodes, cpus=slots) as sshds:
        folder = home.root.parent
        logins = ",".join(f"{slots}/node{number}" for number in range(len(sshds)))
        (folder / "ssh_config").write_text("".join(map(_host, range(len(sshds)), sshds)))
        began = time.monotonic()
        words = ["--ssh", f"{find_client()} -F {folder}/ssh_config", "-S", logins, "--will-cite"]
        subprocess.run(
            [str(parallel), *words, "true", ":::", *map(str, range(count))],
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROCESS_PATIENCE_S,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        )
        return time.monotonic() - began


def _host(number: int, sshd: Sshd) -> str:
    control = Path(sshd.folder) / "control"
    return (
        f"Host node{number}\n HostName {sshd.address}\n Port {sshd.port}\n User {sshd.user}\n"
        f" IdentityFile {sshd.identity}\n IdentitiesOnly yes\n StrictHostKeyChecking no\n"
        f" UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
        f" ControlMaster auto\n ControlPath {control}\n ControlPersist 5\n"
    )
