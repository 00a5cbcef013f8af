"""Commands shown for jobs of an archive, which can only be read."""

import re
from shlex import quote

READING = re.compile(r"\bd0ctl (?=(?:status|why|history|report|export|results|file list)\b)")

RUNNING = re.compile(r"d0ctl (?:clone|retry|update)\b")
"""Commands that run packages of a job again, which archived jobs can't do."""


def is_possible(command: str, archive: str) -> bool:
    """Return whether a command works on an archive; all do if `archive` is empty."""
    return not archive or bool(READING.match(command))


def in_archive(text: str, archive: str) -> str:
    """Return a text whose commands read the archive."""
    return READING.sub(f"d0ctl --archive {quote(archive)} ", text) if archive else text


def replaced(job: str) -> str:
    """Say of a result of an archived job that it is not there, and what is."""
    return f"missing, as results/{job} has other files now, such as of a later job of this name"


def run_again(typed: str, job: str, archive: str) -> str | None:
    """Say how an archived job runs again, if the typed command runs jobs; else None."""
    if not RUNNING.match(typed):
        return None
    export = f"d0ctl --archive {quote(archive)} export {quote(job)}"
    return f"to run it again, submit what `{export}` prints"
