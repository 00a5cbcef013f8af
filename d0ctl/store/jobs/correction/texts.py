"""The job file of a job, and the one that it had before its last correction."""

import json
import re
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.submit import JobText, text_of

_MATCH = r"""(?:["']?\s*,?\s*["']?match["']?:\s*"""
_MATCH += r"""(?:"([^"\\]*)"|'([^']*)'|([^\s"'{}\[\],#]+)(?=[ \t]*(?:$|[\n,}\]#]))))?"""
"""The `match` behind a `from`, of which one group has the pattern; else they are empty."""


def previous_text(store: Store, job: int) -> JobText | None:
    """Return the job file that a job had before; None if it was not corrected."""
    known = _previous(store, job)
    if known is None:
        return None
    return JobText(known["text"], Path(known["directory"]), known["source"], known["parameters"])


def _previous(store: Store, job: int) -> dict[str, Any] | None:
    packed = store.value("previous_job_text", job=job)
    found: dict[str, Any] | None = packed and json.loads(zlib.decompress(packed))
    return found


def has_text(store: Store, job: int, spec: JobSpec) -> bool:
    """Return whether a job has this job file with these parameters already."""
    texts = parameter_texts(spec)
    return text_of(store, job) == JobText(spec.text, Path(spec.directory), spec.source, texts)


def parameter_texts(spec: JobSpec) -> dict[str, str]:
    """Return the parameters of a job file that are texts, as `--set` has them."""
    return {name: value for name, value in spec.parameters.items() if isinstance(value, str)}


def keep_text(store: Store, job: int, spec: JobSpec, *, is_back: bool) -> None:
    """Record the new job file of a job and the previous one; the row of the job is left alone.

    `is_back` says that the new one is the one before, so that the other is taken back.
    """
    if has_text(store, job, spec):
        return
    before, earlier = text_of(store, job), _previous(store, job)
    taken_back = earlier and earlier.get("taken_back")
    if before is None or before.text != spec.text:
        taken_back = before.text if before is not None and is_back else None
    known = before and {
        **before._asdict(), "directory": str(before.directory), "taken_back": taken_back,
    }  # fmt: skip
    store.change(
        "correct_job_text",
        job=job,
        text=zlib.compress(spec.text.encode()),
        previous=known and zlib.compress(json.dumps(known).encode()),
    )


def is_changed_on_disk(store: Store, job: int) -> bool:
    """Return whether the job file of a job was changed after the job was submitted or updated.

    One that a person has taken back counts as changed once it is edited again.
    """
    return differs_on_disk(store, job) and not is_taken_back(store, job)


def differs_on_disk(store: Store, job: int) -> bool:
    """Return whether the job file on disk is another one than the job has, also one taken back."""
    known = text_of(store, job)
    return known is not None and _text_on_disk(known) not in (None, known.text)


def is_taken_back(store: Store, job: int) -> bool:
    """Return whether the job file on disk is the one that `update --previous` has taken back."""
    previous = _previous(store, job)
    text = None if previous is None else previous.get("taken_back")
    return text is not None and _text_on_disk(text_of(store, job)) == text


def _text_on_disk(known: JobText | None) -> str | None:
    """Return the present text of a job file; None if it has none or it can't be read."""
    if known is None or not known.has_file:
        return None
    path = Path(known.source)
    try:
        data = path.read_bytes() if path.is_file() else None
    except (OSError, ValueError):
        return None
    return None if data is None else data.decode("utf-8-sig", errors="replace")


def reads_gone(store: Store, job: int) -> bool:
    """Return whether a job has read files of jobs that were removed or archived since."""
    return store.row("needs_gone", job=job) is not None


def are_additions_read(store: Store, job: int, *, since: float) -> bool:
    """Return whether other jobs need lines that a job has got since then, so that these stay."""
    return store.row("additions_read", job=job, since=since) is not None


class Follower(NamedTuple):
    """A job that takes files of a stage of another one."""

    id: int
    name: str


class ChangedStage(NamedTuple):
    """A stage whose lines or files change: its name, and the files that come or go, if known."""

    name: str = ""
    files: Collection[str] = ()


def followers(
    store: Store, job: int, name: str, stages: Mapping[int, ChangedStage]
) -> list[Follower]:
    """Return the other jobs whose job files take files of these stages of a job that come or go."""
    if not stages:
        return []
    rows = store.rows("readers_of_stages", job=job, stages=json.dumps([*stages]))
    return [Follower(*row) for row in rows if _takes_any(text_of(store, row["id"]), name, stages)]


def _takes_any(known: JobText | None, name: str, stages: Mapping[int, ChangedStage]) -> bool:
    """Return whether a job file takes files of one of these stages, as far as its text says."""
    entry = rf"(?<![\w.-]){re.escape(name)}/([\w.-]*){_MATCH}"
    for stage, *quoted in re.findall(entry, known.text) if known else ():
        changed = [of for seq, of in stages.items() if stage in ("", str(seq), of.name or stage)]
        pattern = re.sub(r"\{[^{}]*\}", "*", "".join(quoted)) or "*"
        if any(_may_match(of.files, pattern) for of in changed):
            return True
    return False


def _may_match(files: Collection[str], pattern: str) -> bool:
    """Return whether one of these files matches; names of late outputs are not known yet."""
    return not files or any(fnmatchcase(name, pattern) or "*" in name for name in files)


def _takes_stage(known: JobText | None, name: str, stage: str) -> bool:
    path = rf"(?<![\w.-]){re.escape(name)}/{re.escape(stage)}(?![\w.-])"
    return known is not None and re.search(path, known.text) is not None


class RenamedStage(NamedTuple):
    """A stage that gets another name, and the other jobs whose job files have the former one."""

    old: str
    new: str
    readers: Sequence[Follower]


def renamed(
    store: Store, job: int, name: str, stages: Iterable[tuple[int, str, str]]
) -> list[RenamedStage]:
    """Return the stages of a job that other job files read by a name that they lose: of each its
    number, its name and the new one.
    """
    found = list[RenamedStage]()
    for seq, old, new in stages:
        rows = store.rows("readers_of_stages", job=job, stages=json.dumps([seq]))
        readers = [Follower(*row) for row in rows if _takes_stage(text_of(store, row["id"]),
                                                                  name, old)]  # fmt: skip
        found += [RenamedStage(old, new, readers)] if readers else []
    return found


def names_in(store: Store, job: int, other: str) -> list[str]:
    """Return the stages of another job, by `from: JOB/STAGE` in the job file of a job."""
    known = text_of(store, job)
    taken = rf"\bfrom[\"']?:\s*[\"']?{re.escape(other)}/([\w.-]+)"
    return [] if known is None else list(dict.fromkeys(re.findall(taken, known.text)))
