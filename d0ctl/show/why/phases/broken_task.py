"""How a broken task is submitted again, once its file has been corrected."""

from pathlib import Path
from shlex import quote

from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.submit import free_name
from d0ctl.store.tasks import state
from d0ctl.store.tasks.state import Task
from d0ctl.store.tasks.views import TaskSummary


def add(store: Store, task: Task | TaskSummary, explanation: Explanation) -> None:
    """Add the commands for a broken task; one that has made packages stays, with its results."""
    whole = state.task(store, task.id)
    if whole is None or whole.status != "broken":
        return
    file = quote(whole.source) if Path(whole.source).is_absolute() else "FILE"
    submit = f"d0ctl task submit {file}"
    explanation.facts.append("correct its file, then submit it again")
    explanation.commands += (
        [f"{submit} --as {free_name(store, whole.name)}"]
        if whole.made
        else [f"d0ctl remove {whole.name}", submit]
    )
