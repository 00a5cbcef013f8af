"""Lists of jobs that Snakemake prints by `--dag` or `--d3dag`, as job files."""

import json
import re
import shlex
from pathlib import Path

from msgspec import Struct, field

from d0ctl.importers.draft import Draft, Entry, Unreadable, label

_NODE = re.compile(r'^[^\S\n]*(\d{1,9})[^\S\n]*\[[^\S\n]*label[^\S\n]*=[^\S\n]*'
                   r'"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)  # fmt: skip
_EDGE = re.compile(r"^[^\S\n]*(\d{1,9})[^\S\n]*->[^\S\n]*(\d{1,9})\b", re.MULTILINE)

MOST_WILDCARDS = 100
"""The most wildcards of a job; jobs behind it may have them, too."""


SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")
"""Where Snakemake looks for its rules."""

Wildcards = dict[str, str]


class _Job(Struct):
    """A job of a list: its rule, and its wildcards without those of earlier jobs."""

    rule: str
    wildcards: Wildcards
    before: list[str] = field(default_factory=list)


def read(text: str, path: Path, draft: Draft) -> None:
    """Put the jobs of a list into a draft. Raises Unreadable."""
    labels, edges = _from_json(text, path) if text.lstrip().startswith("{") else _from_dot(text)
    if not labels:
        raise Unreadable(f"{path.name}: there is no job in it")
    jobs = {key: _job(label) for key, label in labels.items()}
    if any(len(job.wildcards) > MOST_WILDCARDS for job in jobs.values()):
        raise Unreadable(f"{path.name}: a job has more than {MOST_WILDCARDS} wildcards")
    for before, behind in dict.fromkeys(edges):
        if before not in jobs or behind not in jobs:
            raise Unreadable(f"{path.name}: an arrow goes from or to a job that is not listed")
        jobs[behind].before.append(before)
    _add_wildcards(jobs, path, draft)
    lines: dict[str, tuple[str, Entry]] = {}
    folder = path.parent.resolve()
    files = [folder / name for name in SNAKEFILES]
    rules = next((file for file in files if file.is_file()), files[0])
    where = f"--directory {shlex.quote(str(folder))} --snakefile {shlex.quote(str(rules))}"
    for key, job in jobs.items():
        values = [f"{name}={value}" for name, value in sorted(job.wildcards.items())]
        target = f"{job.rule}:{','.join(values)}"
        line: Entry = {
            "name": label(" ".join(values) or key),
            "run": f"snakemake --cores 1 --nolock {where} --allowed-rules "
            f"{shlex.quote(job.rule)} --target-jobs {shlex.quote(target)}",
        }
        lines[key] = draft.add(label(job.rule), line), line
    for key, job in jobs.items():
        if job.before:
            lines[key][1]["after"] = [lines[before][0] for before in job.before]
    if not rules.is_file():
        draft.leave_out(path.name, "there is no `Snakefile` beside it, which each line reads")
    draft.leave_out(path.name, "the list has no commands and files: each line calls `snakemake` in "
                    "the folder of the list, which all nodes have to share")  # fmt: skip


def _job(label: list[str]) -> _Job:
    rule, *wildcards = [word.strip() for word in label if word.strip()] or ["rule"]
    pairs = (wildcard.partition(":") for wildcard in wildcards)
    return _Job(rule, {name.strip(): value.strip() for name, _, value in pairs})


def _add_wildcards(jobs: dict[str, _Job], path: Path, draft: Draft) -> None:
    """Add the wildcards that a list omits because an earlier job has the same.

    Raises Unreadable if two jobs of a rule seem to be the same.
    """
    rules: dict[str, list[_Job]] = {}
    for key in _in_order(jobs):
        rules.setdefault(jobs[key].rule, []).append(jobs[key])
    for rule, members in rules.items():
        offers = [_offered(job, jobs) for job in members]
        names = {name for job in members for name in job.wildcards}
        common = set.intersection(*(set(offer) for offer in offers)) - names
        is_guess = len(members) == 1 and not names
        for added in (names, common):
            if not names or not _differ(members):
                for job, offer in zip(members, offers, strict=True):
                    own = {name: offer[name] for name in added & set(offer)}
                    job.wildcards = {**own, **job.wildcards}
        if not _differ(members):
            raise Unreadable(
                f"{path.name}: it does not say which wildcards the jobs of rule `{rule[:60]}` "
                "have, as `snakemake --dag` does"
            )
        if common and is_guess:
            guessed = ", ".join(f"`{name[:60]}`" for name in sorted(common))
            draft.leave_out(path.name, f"rule `{rule[:60]}` is taken to have {guessed}, as the "
                            "job before it; the list does not say so")  # fmt: skip


def _differ(jobs: list[_Job]) -> bool:
    """Return whether all jobs of a rule have different wildcards."""
    return len({tuple(sorted(job.wildcards.items())) for job in jobs}) == len(jobs)


def _in_order(jobs: dict[str, _Job]) -> list[str]:
    """Return the jobs, each after its predecessors; all the same if there is a cycle."""
    waits = {key: len(set(job.before)) for key, job in jobs.items()}
    behind: dict[str, list[str]] = {}
    for key, job in jobs.items():
        for before in set(job.before):
            behind.setdefault(before, []).append(key)
    ready = [key for key, number in waits.items() if not number]
    for key in ready:
        for follower in behind.get(key, ()):
            waits[follower] -= 1
            if not waits[follower]:
                ready.append(follower)
    return [*ready, *(key for key, number in waits.items() if number)]


def _offered(job: _Job, jobs: dict[str, _Job]) -> Wildcards:
    """Return the wildcards that a job may share with its predecessors: those with one value."""
    values: dict[str, set[str]] = {}
    for before in job.before:
        for name, value in jobs[before].wildcards.items():
            values.setdefault(name, set()).add(value)
    return {name: min(found) for name, found in values.items() if len(found) == 1}


def _from_dot(text: str) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    labels = {
        key: re.split(r"\\n|\n", label.replace('\\"', '"')) for key, label in _NODE.findall(text)
    }
    return labels, _EDGE.findall(text)


def _from_json(text: str, path: Path) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    try:
        document = json.loads(text)
        labels: dict[str, list[str]] = {}
        for node in document["nodes"]:
            value = node.get("value", {})
            key = str(node.get("id", value.get("jobid")))
            labels[key] = str(value.get("label") or value.get("rule") or node.get("label")).split(
                "\n"
            )
        links = document.get("links", document.get("edges", []))
        pairs = [(str(link.get("u", link.get("source"))), str(link.get("v", link.get("target"))))
                 for link in links]  # fmt: skip
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{path.name}: it is not a list of `snakemake --d3dag`") from error
    return labels, pairs
