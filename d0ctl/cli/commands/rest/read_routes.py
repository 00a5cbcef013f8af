"""What can be read: the documents that the command line prints with `--json`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from litestar import MediaType, get
from litestar.datastructures import State
from litestar.params import Parameter

from d0ctl import select
from d0ctl.cli import documents, package_documents
from d0ctl.cli.commands.looking import eta as eta_command
from d0ctl.cli.commands.looking import history as history_command
from d0ctl.cli.commands.looking.pages import explanation, metrics
from d0ctl.cli.commands.nodes import node as node_command
from d0ctl.cli.commands.rest.http_errors import RESPONSES
from d0ctl.cli.schemas import estimates, jobs, nodes, packages, reports
from d0ctl.cli.schemas import history as histories
from d0ctl.errors import BadUsage
from d0ctl.select import Selector
from d0ctl.store import opening
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, selection
from d0ctl.store.views.selection import located

Selection = Annotated[
    str,
    Parameter(description="What the command line takes: `reco001`, `reco001/2/1-10`, "
              "`reco001/2/*:failed`.", examples=[]),
]  # fmt: skip

MOST_PACKAGES = 10_000


@contextmanager
def _reading(state: State) -> Iterator[Store]:
    with opening.reader(state.home) as store, store.reading():
        yield store


def _job(text: str) -> Selector:
    """Read the name of one job. Raises BadUsage."""
    wanted = select.parse(text)
    if not wanted.is_one or wanted.level != "job":
        raise BadUsage(f"`{text}` is not one job")
    return wanted


@get("/jobs", summary="All jobs", operation_id="all_jobs", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def all_jobs(state: State) -> jobs.Jobs:
    """Return every job with its counts, as `d0ctl status --json`."""
    now = time.time()
    with _reading(state) as store:
        return documents.overview(store, browse.jobs(store), now)


@get("/jobs/{job:str}", summary="A job", operation_id="one_job", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def one_job(state: State, job: str) -> jobs.JobCard:
    """Return all about a job, as `d0ctl status JOB --json`."""
    with _reading(state) as store:
        return documents.job_card(store, browse.job(store, _job(job).job), time.time())


@get("/packages", summary="Packages", operation_id="some_packages", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def some_packages(
    state: State,
    selector: Selection,
    limit: Annotated[int, Parameter(ge=1, le=MOST_PACKAGES)] = 1_000,
) -> jobs.Packages:
    """Return the first of the packages that a selector names."""
    now = time.time()
    with _reading(state) as store:
        wanted = located(store, select.parse_all([selector]))
        selected = selection.choose(store, wanted, now=now, lenient=True)
        rows = selection.packages(selected, limit)
        return {"packages": [documents.package_row(row, now) for row in rows]}


@get("/package", summary="A package", operation_id="one_package", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def one_package(state: State, selector: Selection) -> packages.Package:
    """Return all about a package: `reco001/2/3/1`."""
    with _reading(state) as store:
        wanted = located(store, select.parse(selector))
        if not wanted.is_one or wanted.level != "package":
            raise BadUsage(f"`{selector}` is not one package", hint="e.g. reco001/2/3/1")
        return package_documents.package(store, browse.package(store, wanted), time.time())


@get("/why", summary="Why something is as it is", operation_id="why", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def why(state: State, selector: Selection) -> reports.Explanation:
    """Say why a job, package, node or file is in its state, as `d0ctl why --json`."""
    with _reading(state) as store:
        found = explanation.explained(store, selector, None, None, time.time())
        return explanation.document(found)


@get("/history", summary="Failures and changes", operation_id="history", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def history(state: State, selector: Selection) -> histories.History:
    """Return failures by reason, and each change of a package, as `d0ctl history --json`."""
    with _reading(state) as store:
        return history_command.document(store, select.parse_all([selector]))


@get("/jobs/{job:str}/eta", summary="When a job ends", operation_id="estimate", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def estimate(state: State, job: str) -> estimates.Eta:
    """Estimate when a job ends, as `d0ctl eta --json`."""
    now = time.time()
    with _reading(state) as store:
        return eta_command.estimated(store, browse.job(store, _job(job).job), now)


@get("/nodes", summary="Nodes", operation_id="all_nodes", responses=RESPONSES,
     sync_to_thread=True)  # fmt: skip
def all_nodes(state: State) -> nodes.Nodes:
    """Return every node, as `d0ctl node list --json`."""
    with _reading(state) as store:
        return {"nodes": [node_command.document(*row) for row in node_command.in_use(store)]}


@get("/metrics", summary="Metrics for Prometheus", operation_id="metrics", responses=RESPONSES,
     media_type=MediaType.TEXT, sync_to_thread=True)  # fmt: skip
def prometheus(state: State) -> str:
    """Return packages, failures and nodes, as `d0ctl report metrics`."""
    with _reading(state) as store:
        return metrics.text(store, time.time())


HANDLERS: list[Any] = [all_jobs, one_job, some_packages, one_package, why, history, estimate,
                       all_nodes, prometheus]  # fmt: skip
