"""Names of jobs and their parts, of nodes and software, for suggestions and completion."""

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


def lines(store: Store, job: str, stage: int) -> int:
    """Return how many lines a stage has; none if it does not exist."""
    return int(store.value("number_of_lines", job=job, stage=stage) or 0)


def packages(store: Store, job: str, stage: int, line: int) -> int:
    """Return how many packages a line has; none if it does not exist."""
    return int(store.value("number_of_packages", job=job, stage=stage, line=line) or 0)


def files(store: Store, job: str, beginning: str, limit: int) -> list[str]:
    """Return names of files of a job with this beginning, in order."""
    rows = store.rows("job_file_names", job=job, first=beginning, last=f"{beginning}\U0010ffff",
                      limit=limit)  # fmt: skip
    return [row["name"] for row in rows]


def results(store: Store, job: str, beginning: str, limit: int) -> list[str]:
    """Return names of final outputs of a job with this beginning, in order."""
    rows = store.rows("job_result_names", job=job, first=beginning, last=f"{beginning}\U0010ffff",
                      limit=limit)  # fmt: skip
    return [row["name"] for row in rows]


def software(store: Store) -> list[str]:
    """Return the software of the catalogue, as NAME/VERSION."""
    return [row["title"] for row in store.rows("software_titles")]
