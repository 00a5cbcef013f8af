"""Names of jobs and their parts, of nodes and software, for suggestions and completion; and of jobs
that are in an archive.
"""

from d0ctl.config import Home
from d0ctl.errors import Archived, Elsewhere
from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store


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


def archived(store: Store, name: str) -> Archived | None:
    """Return the error for a job that was moved to an archive, with all archives of that name.

    None if it is in none, and while an archive is read.
    """
    from d0ctl.select import WILD  # late: completion is to import little

    if store.home.archive or not (found := _having(store.home, name)):
        return None
    return Archived(name, found[0], others=found[1:], is_pattern=not WILD.isdisjoint(name))


def elsewhere(store: Store, name: str) -> Elsewhere | None:
    """Return the error for a job that the archive does not have; None if nothing else has it."""
    if not store.home.archive:
        return None
    with open_store(Home(store.home.root), read_only=True) as database:
        if database.rows("jobs", pattern=name):
            location = "in the database: leave out --archive"
        elif archives := _having(store.home, name):
            location = f"in archive `{archives[0]}`"
        else:
            return None
    return Elsewhere(f"there is no job `{name}` in archive `{store.home.archive}`, but {location}")


def _having(home: Home, name: str) -> list[str]:
    """Return the archives with jobs of a name or pattern, that of the last one first."""
    found = []
    for path in home.archives.glob("*.db"):
        with open_store(Home(home.root, archive=path.stem), read_only=True) as archive:
            found += [(row["submitted"], path.stem) for row in archive.rows("jobs", pattern=name)]
    return list(dict.fromkeys(archive for _, archive in sorted(found, reverse=True)))
