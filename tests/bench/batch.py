"""P14: packages of `true` in pilots of a real Slurm, beside ssh nodes of the same size."""

import os
import shlex
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from d0ctl.store import open_store
from tests.bench.bounds import rounds
from tests.bench.measure import Figure, Options
from tests.bench.site import d0ctl, daemon, job_file, passing_home, ssh_nodes, wait_done
from tests.bench.throughput import beside, medium
from tests.support.slurm import TOOLS, Slurm

NODES, SLOTS = 2, 32
PACKAGES = 1_000
ROUNDS = 3

SITE = """\
clusters:
  batch: {{kind: slurm, cpus: {cpus}, poll: 1s, idle: 10m, max-running: {nodes}, dir: {folder}}}
"""

WARM = "job: warm\nstages: [{{lines: [{{for: {{i: {{range: [1, {count}]}}}}, run: sleep 3}}]}}]\n"
"""Packages that need all slots of all pilots for a moment, so that all pilots are up."""


def measure(options: Options) -> Iterator[Figure]:
    """The rates of pilots that are up and of ssh nodes, which take turns, and calls of tools."""
    over_ssh, over_slurm, calls = [], [], []
    for _ in rounds(ROUNDS, options.within_s * 0.7):
        over_ssh.append(_over_ssh())
        rate, called = _over_slurm()
        over_slurm.append(rate)
        calls.append(called)
    what = f"{PACKAGES} packages, {NODES} pilots of {SLOTS} slots"
    yield medium("P14", what, over_slurm, "ssh nodes x0.9")
    name = f"{PACKAGES} packages, {NODES} ssh nodes of {SLOTS} slots"
    yield from beside("P14", name, over_slurm, "the ssh nodes", [*over_ssh])
    yield Figure("P14", "  calls of Slurm's tools, without those for the queue",
                 float(max(calls)), "", "10")  # fmt: skip


def _over_ssh() -> float:
    """Packages a second of ssh nodes, from submission to the last commit."""
    with (
        passing_home() as home,
        ssh_nodes(home, NODES, cpus=SLOTS),
        daemon(home, NODES),
        open_store(home, read_only=True) as store,
    ):
        began = time.monotonic()
        order(d0ctl(home, "submit", job_file(home.root.parent, PACKAGES)))
        wait_done(store, PACKAGES)
        return PACKAGES / (time.monotonic() - began)


def _over_slurm() -> tuple[float, int]:
    """The same of pilots, and how often tools were called."""
    with ExitStack() as stack:
        home = stack.enter_context(passing_home())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="d0ctl-bench-")))
        slurm = stack.enter_context(Slurm(folder / "slurm", NODES, SLOTS))
        variables = around(folder, slurm)
        described = folder / "site.yaml"
        described.write_text(SITE.format(cpus=SLOTS, nodes=NODES, folder=folder / "pilots"))
        order(d0ctl(home, "site", "apply", described, "--yes"), variables)
        order(d0ctl(home, "node", "remove", "localhost"), variables)
        stack.enter_context(daemon(home, 0, variables))
        store = stack.enter_context(open_store(home, read_only=True))
        warm = folder / "warm.yaml"
        warm.write_text(WARM.format(count=NODES * SLOTS))
        order(d0ctl(home, "submit", warm), variables)
        wait_done(store, NODES * SLOTS)
        before = calls(folder)
        began = time.monotonic()
        order(d0ctl(home, "submit", job_file(folder, PACKAGES)), variables)
        wait_done(store, PACKAGES, 2)
        rate = PACKAGES / (time.monotonic() - began)
        return rate, (calls(folder) - before)["other"]


def around(folder: Path, slurm: Slurm) -> dict[str, str]:
    """Put a tool before each of Slurm's that notes its call; return the environment."""
    shims = folder / "tools"
    shims.mkdir()
    for tool in TOOLS:
        real = shlex.quote(str(slurm.tools / tool))
        shim = shims / tool
        shim.write_text(f'#!/bin/sh\necho {tool} >>{shims}/calls\nexec {real} "$@"\n')
        shim.chmod(0o755)
    (shims / "calls").touch()
    return os.environ | slurm.variables | {"PATH": f"{shims}:{slurm.variables['PATH']}"}


def calls(folder: Path) -> Counter[str]:
    """How often the queue was read, and other tools were called."""
    lines = (folder / "tools/calls").read_text().splitlines()
    return Counter("queue" if line == "squeue" else "other" for line in lines)


def order(command: list[str], variables: dict[str, str] | None = None) -> None:
    """Run a command of d0ctl."""
    subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
