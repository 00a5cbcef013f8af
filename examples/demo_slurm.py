"""`make demo-slurm`: run the Z production on a node reached by ssh and in Slurm.

There its packages share allocations; with `MODE=direct` each has a job of its own.

Slurm is a real one of two small machines, started for the demo on loopback. However it ends,
daemon, node and Slurm are stopped; the results stay.
"""

import shutil
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from demo_ssh import JOB, PYTHON, Site, finish, fresh_site

from tests.support.slurm import Slurm
from tests.support.sshd import Sshd

SITE = """\
clusters:
  batch:
    {{kind: slurm, mode: {mode}, cpus: 1, wall-time: 1h, poll: 1s, idle: 20s, max-running: 1,
     max-jobs: 1, dir: {folder}}}
"""


def produce(mode: str) -> Site:
    """Run the production on all of them; return the site, with its results."""
    site = fresh_site("slurm")
    with ExitStack() as stack:
        # munge takes no socket in a folder that others may write to, nor one with a long path.
        engine = Path(tempfile.mkdtemp(prefix="d0ctl-slurm."))
        stack.callback(shutil.rmtree, engine, ignore_errors=True)
        slurm = stack.enter_context(Slurm(engine, nodes=2, cpus=1))
        site.environment |= slurm.variables
        site.add("north", stack.enter_context(Sshd(site.folder / "north")))
        described = site.folder / "site.yaml"
        described.write_text(SITE.format(mode=mode, folder=site.folder / "pilots"))
        site.d0ctl("site", "apply", described, "--yes")
        site.d0ctl("cluster", "check", "batch")
        with site.daemon():
            site.d0ctl("submit", JOB, "--set", f"python={PYTHON}")
            site.d0ctl("wait", "zpeak")
            site.d0ctl("status", "zpeak")
    return site


if __name__ == "__main__":
    sys.exit(finish(partial(produce, *sys.argv[1:])))
