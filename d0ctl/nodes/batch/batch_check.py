"""The check of a batch system: a pilot of its own goes through every step of a real one."""

import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress

from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.nodes import node_check
from d0ctl.nodes.batch.call import ToolFailed, call
from d0ctl.nodes.batch.kinds import tools_of
from d0ctl.nodes.batch.tools import Job, Phase, Tools
from d0ctl.nodes.link import Site, base_of
from d0ctl.nodes.node_check import Finding
from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.transport import Transport
from d0ctl.sitefile.spec import Pilots

LOOKS_S = 2.0
"""How often to check in the queue whether the pilot runs."""

SHARE = "name a folder as `dir` that the login node and all machines share, or take `mode: pilot`"

Describe = Callable[[str], str]
"""Describes why a job waits."""


def check(
    home: Home, name: str, pilots: Pilots, site: str, wait_s: float, describe: Describe
) -> Iterator[Finding]:
    """Check a batch system, yield the findings one by one, and leave nothing behind.

    A pilot that does not begin within `wait_s` is cancelled; the checks that need it are skipped.
    """
    try:
        with closing(connect(pilots.address(name), home.known_hosts)) as login:
            yield from _on_login_node(home, login, name, pilots, site, wait_s, describe)
    except D0Error as error:
        yield Finding(False, "login node", str(error), error.hint or "")


def _on_login_node(
    home: Home,
    login: Transport,
    name: str,
    pilots: Pilots,
    site: str,
    wait_s: float,
    describe: Describe,
) -> Iterator[Finding]:
    tools = tools_of(pilots.kind)
    for tool in tools.NAMES:
        try:
            version = call(login, tools.version(tool)).strip()
        except ToolFailed as error:
            yield Finding(False, "tools", str(error),
                          "put it on the PATH of a login without a terminal")  # fmt: skip
            return
    yield Finding(True, "tools", version)
    batch = f"d0ctl-{site}-check-{uuid.uuid4().hex[:8]}"
    try:
        array = tools.submitted(call(login, *tools.submit(pilots, batch, 1)))
    except D0Error as error:
        yield Finding(False, "submission", str(error), "d0ctl site show   # shows the request")
        return
    try:
        yield Finding(True, "submission", f"job {array} was accepted")
        job = yield from _begun(login, tools, batch, wait_s, describe)
        if job is not None:
            yield from node_check.check(home, pilots.address(batch, job.id), site)
            if pilots.mode != "pilot":
                yield _shared(home, login, pilots, name, site, job.id)
    finally:
        with suppress(D0Error):
            call(login, tools.cancel([tools.job_id(array, 0)]))


def _shared(
    home: Home, login: Transport, pilots: Pilots, name: str, site: str, job: str
) -> Finding:
    """Look on the machine of a job for a file that the login node has made."""
    nodes_site = Site(site, home.nodes, home.known_hosts, home.dropbox)
    folder = base_of(pilots.address(name), nodes_site, login.home())
    file = f"{folder}/shared-{uuid.uuid4().hex[:12]}"
    try:
        call(login, f"mkdir -p -m 700 {folder}")
        call(login, f"touch {file}")
        with closing(connect(pilots.address(name, job), home.known_hosts)) as machine:
            call(machine, f'sh -c "test -e {file} && rm {file}"')
        call(login, f"test ! -e {file}")
    except ToolFailed:
        return Finding(False, "shared folder", f"{folder} is not the same on its machine as on the"
                       " login node", SHARE)  # fmt: skip
    except D0Error as error:
        return Finding(False, "shared folder", str(error), SHARE)
    finally:
        for end in (f"rm -f {file}", f"rmdir {folder}"):
            with suppress(D0Error):  # it is not empty if packages have run
                call(login, end)
    return Finding(True, "shared folder", f"{folder}: both have seen what the other did")


def _begun(
    login: Transport, tools: Tools, batch: str, wait_s: float, describe: Describe
) -> Generator[Finding, None, Job | None]:
    """Wait until the pilot runs; return its job, None if it does not."""
    began = time.monotonic()
    while True:
        queue = tools.read_queue(call(login, tools.QUEUE))
        job = next((job for job in queue if job.name == batch), None)
        waited = time.monotonic() - began
        if job is not None and job.phase is Phase.ALIVE:
            yield Finding(True, "queue", f"it began after {waited:.1f} s")
            return job
        if job is not None and job.phase is not Phase.WAITING:
            yield Finding(False, "queue", f"it ended at once: {job.state}")
            return None
        if waited >= wait_s:
            yield Finding(
                None,
                "queue",
                f"it did not begin within {wait_s:g} s and was cancelled:"
                f" {describe(job.reason) if job is not None else 'it is not in the queue'}",
                "the rest was not checked; --wait 1h waits longer",
            )
            return None
        time.sleep(min(LOOKS_S, wait_s - waited))
