"""Names of jobs, stages and nodes, for suggestions and completion."""

from d0ctl.store.connection import Store


def jobs(store: Store) -> list[str]:
    """Return the names of jobs, the newest first; bounded."""
    return [row["name"] for row in store.rows("job_names")]


def stages(store: Store, job: str) -> list[int]:
    """Return the numbers of the stages of a job; none if there is no job of that name."""
    return [row["seq"] for row in store.rows("stage_numbers", job=job)]


def nodes(store: Store) -> list[str]:
    """Return the names of all nodes."""
    return [row["name"] for row in store.rows("node_names")]
