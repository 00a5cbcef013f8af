"""Failed packages that a retry lets read files which were changed since."""

from collections.abc import Collection, Iterator, Sequence

from d0ctl.actions import undo
from d0ctl.actions.wording import MOST_NAMED
from d0ctl.model import Phase
from d0ctl.select.condense import condense
from d0ctl.store.jobs.correction.comparison import Place
from d0ctl.units import count


def failed_readers(job: str, failed: Collection[Place], files: Sequence[str]) -> Iterator[str]:
    """Say how many packages failed with these files as they were before, and what retries them.

    If it takes too many selectors to name them, the command is for all that failed in the job.
    """
    if failed:
        targets = condense(f"{job}/{package.path}" for package in failed)
        exact = [str(target) for target in targets] if len(targets) <= MOST_NAMED else []
        retry = undo.command("retry", exact or [f"{job}:{Phase.FAILED}"])
        as_before = "it as it was" if len(files) == 1 else "them as they were"
        yield f"{count(len(failed), 'failed package')} read {as_before} before: {retry}"
