"""Variables of a final stage about the rest of its job."""

from d0ctl.model import Phase, by_status, roll_up, without
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import counts_of
from d0ctl.store.stage_order import final_counts


def variables(store: Store, job: int) -> dict[str, str]:
    """Return the state of a job without its final stages, as variables of the environment."""
    rest = without(counts_of(store, job), final_counts(store, job).get(job, {}))
    counts = {name.upper(): str(number) for name, number in by_status(rest).items()}
    return {
        "D0CTL_JOB_STATE": str(roll_up(rest, blocked=True)),
        **{f"D0CTL_JOB_{name}": counts[name] for name in GIVEN},
        "D0CTL_JOB_DROPPED": str(rest.get(Phase.DROPPED, 0)),
    }


GIVEN = ("SUCCESSFUL", "FAILED", "CANCELED", "UNSCHEDULED")
"""The statuses whose counts it gets; packages not scheduled by then never run."""
