"""The one builder of what tests run on: a home, its store, nodes, and the programs of d0ctl.

A test takes what it needs of a `Site`, and nothing else is started. From the quickest on:

* `finish`, `fail` and their like move packages through the store; no node is asked.
* `link_nodes` adds simulated nodes, whose messages and orders a test loses, delays or doubles.
* `start_daemon`, `add` and `d0ctl` run the real programs: daemon, relays, wrappers, sshds.
"""

import json
import time
from pathlib import Path
from typing import Any, Self

from d0ctl.jobfile.spec import JobSpec
from d0ctl.store import Store
from d0ctl.store.jobs.submission.submit import submit
from tests.support.site.daemons import Daemons
from tests.support.site.machines import Machines
from tests.support.site.simulated_node import Node as Node
from tests.support.site.simulation import Simulation


class Site(Simulation, Daemons):
    """A site of d0ctl in a folder: its home, the account of its user, and its nodes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.make_account()

    @classmethod
    def of(cls, store: Store, *nodes: str, cpus: int | None = None) -> Self:
        """The site of an open store; with `cpus`, its nodes are up and have that many slots."""
        site = cls.__new__(cls)
        Machines.__init__(site, store.home.root.parent, store)
        if cpus is not None:
            site.link_nodes(*nodes, cpus=cpus)
        return site

    def submit(self, job: JobSpec | str, *words: str, **more: Any) -> str:
        """Submit a job, or as a user does the text of a job file; its name."""
        if isinstance(job, str):
            return str(json.loads(self.ok("submit", self.write(job), "--json", *words))["job"])
        with self.opened() as store:
            return submit(store, job, now=time.time(), actor="me", **more)
