"""Matches of a word: files, nodes, jobs, stages and reasons, a limited number of each."""

from collections.abc import Iterable

from msgspec import Struct

from d0ctl.model import Phase
from d0ctl.store.connection import Row, Store
from d0ctl.units import count

MOST = 20
"""How many of each kind are found."""


class Found(Struct, frozen=True):
    """A match with its kind, name and remark; for a file also its job and maker."""

    kind: str
    name: str
    about: str = ""
    job: str = ""
    package: int | None = None


def jobs(store: Store, word: str) -> list[Found]:
    """Jobs and tasks by name or title."""
    rows = store.rows("outline_search_jobs", word=word, limit=MOST)
    return [Found("task", row["name"], f"{row['task']}  {row['title']}") if row["task"]
            else Found("job", row["name"], row["title"]) for row in rows]  # fmt: skip


def stages(store: Store, word: str) -> list[Found]:
    """Stages by name."""
    rows = store.rows("outline_search_stages", word=word, limit=MOST)
    return [Found("stage", f"{row['job']}/{row['seq']}", row["name"]) for row in rows]


def nodes(store: Store, word: str) -> list[Found]:
    """Nodes by name."""
    rows = store.rows("outline_search_nodes", word=word, limit=MOST)
    return [Found("node", row["name"], row["state"]) for row in rows]


def reasons(store: Store, word: str) -> list[Found]:
    """Reasons of recent failures."""
    rows = store.rows("outline_search_reasons", word=word, limit=MOST)
    return [Found("reason", row["reason"], f"{row['n']} failed lately") for row in rows]


def packages(store: Store, word: str) -> list[Found]:
    """Return names of packages by stage."""
    rows = store.rows("outline_search_packages", word=word, limit=MOST)
    return [
        Found(
            "package",
            row["name"],
            f"of {row['job']}/{row['seq']}",
            job=f"{row['job']}/{row['seq']}",
        )
        for row in rows
    ]


def named(store: Store, job: str, stage: int, name: str) -> list[int]:
    """Return the ids of the packages of a stage by their name."""
    rows = store.rows("outline_named", job=job, stage=stage, name=name, limit=100_000)
    return sorted(row["id"] for row in rows)


def messages(store: Store, word: str) -> list[Found]:
    """Return the messages of recent failures that contain a word, as one match."""
    rows = store.rows("outline_search_messages", word=word, limit=2000)
    if not rows:
        return []
    failed = count(len(rows), "package")
    return [Found("message", word, f"{failed} failed lately, e.g. {rows[0]['message']}")]


def failed_saying(store: Store, word: str) -> list[int]:
    """Return the ids of packages with recent failures whose messages contain a word."""
    return sorted(row["id"] for row in store.rows("outline_search_messages", word=word, limit=2000))


def failed_for(store: Store, reason: str) -> list[int]:
    """Return the ids of packages that failed recently for a reason."""
    return sorted(row["id"] for row in store.rows("outline_failed_for", reason=reason, limit=2000))


def files(store: Store, of_jobs: Iterable[int], word: str) -> list[Found]:
    """Return files of some jobs whose names begin with the word."""
    files_found: list[Found] = []
    for job in of_jobs:
        rows = store.rows(
            "outline_search_files", job=job, begin=word, end=word + "\U0010ffff", limit=MOST
        )
        files_found += [Found("file", row["name"], _state(row), row["job"], row["package"])
                  for row in rows]  # fmt: skip
        if len(files_found) >= MOST:
            break
    return files_found[:MOST]


def _state(file: Row) -> str:
    if file["present"]:
        return "exists"
    return "removed" if file["phase"] in (Phase.DONE, Phase.TRANSFERRING) else "not made yet"
