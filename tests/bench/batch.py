"""P14: packages of `true` in pilots of a real Slurm, beside ssh nodes of the same size."""

import os
import shlex
import subprocess
import tempfile
import time
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
        _submit(d0ctl(home, "submit", job_file(home.root.parent, PACKAGES)))
        wait_done(store, PACKAGES)
        return PACKAGES / (time.monotonic() - began)


def _over_slurm() -> tuple[float, int]:
    """The same of pilots, and how often tools were called."""
    with ExitStack() as stack:
        home = stack.enter_context(passing_home())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="d0ctl-bench-")))
        slurm = stack.enter_context(Slurm(folder / "slurm", NODES, SLOTS))
        path = _counted(folder, slurm)
        around = os.environ | slurm.variables | {"PATH": path}
        described = folder / "site.yaml"
        described.write_text(SITE.format(cpus=SLOTS, nodes=NODES, folder=folder / "pilots"))
        _submit(d0ctl(home, "site", "apply", described, "--yes"), around)
        stack.enter_context(daemon(home, 0, around))
        store = stack.enter_context(open_store(home, read_only=True))
        warm = folder / "warm.yaml"
        warm.write_text(WARM.format(count=NODES * SLOTS))
        _submit(d0ctl(home, "submit", warm), around)
        wait_done(store, NODES * SLOTS)
        called = _calls(folder)
        began = time.monotonic()
        _submit(d0ctl(home, "submit", job_file(folder, PACKAGES)), around)
        wait_done(store, PACKAGES, 2)
        rate = PACKAGES / (time.monotonic() - began)
        return rate, _calls(folder) - called


def _counted(folder: Path, slurm: Slurm) -> str:
    """Put a tool before each of Slurm's that notes its call; return the PATH."""
    shims = folder / "tools"
    shims.mkdir()
    for tool in TOOLS:
        real = shlex.quote(str(slurm.tools / tool))
        shim = shims / tool
        shim.write_text(f'#!/bin/sh\necho {tool} >>{shims}/calls\nexec {real} "$@"\n')
        shim.chmod(0o755)
    (shims / "calls").touch()
    return f"{shims}:{slurm.variables['PATH']}"


def _calls(folder: Path) -> int:
    lines = (folder / "tools/calls").read_text().splitlines()
    return sum(line != "squeue" for line in lines)


def _submit(command: list[str], around: dict[str, str] | None = None) -> None:
    subprocess.run(command, env=around, check=True, stdout=subprocess.DEVNULL)
