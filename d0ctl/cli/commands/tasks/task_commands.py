"""`d0ctl task`: work that is defined by its data."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import changing, options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import draw, emit, emit_json, say
from d0ctl.show.tasks import task_card as card

if TYPE_CHECKING:
    from d0ctl.store.tasks.views import TaskSummary
    from d0ctl.taskfile.spec import TaskSpec

app = group("Submit, show or change tasks, which process the files of datasets.", Actions)

Name = Annotated[
    str,
    typer.Argument(metavar="TASK", autocompletion=completion.job_names, help="A task's name."),
]


@app.command(cls=Changing)
def submit(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A task file; `-` is stdin.")],
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the task; may be repeated."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Name of the task (default: by its file)."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Submit a task and leave it to the daemon."""
    from d0ctl.show.cards.daemon import no_daemon
    from d0ctl.store.nodes.leases import LEASE, living_holder
    from d0ctl.store.tasks import submission

    spec = _read(file, set)
    for warning in spec.warnings:
        say(warning)
    if changing.is_rehearsal():
        task_name = name or spec.name
        if json:
            emit_json({"task": task_name, "datasets": len(spec.datasets), "dry_run": True})
        else:
            emit(card.would_submit(task_name, spec))
        return
    with session.open_or_create() as store:
        task_name, aside = submission.submit(
            store, spec, now=time.time(), actor=session.actor(), name=name, note=changing.reason()
        )
        needed = "" if living_holder(store, LEASE) is not None else no_daemon(store, [task_name])
    if aside is not None:
        say(card.moved_aside(str(aside)))
    if json:
        emit_json({"task": task_name, "datasets": len(spec.datasets)})
    else:
        emit(card.submitted(task_name))
    if needed:
        say(needed)


def _read(file: str, values: list[str] | None) -> "TaskSpec":
    """Read a task file with the names that the site knows. Raises BadJobFile, BadUsage."""
    from d0ctl.actions.jobs.submit import NO_HOME
    from d0ctl.actions.option import pairs
    from d0ctl.cli.commands.running.intake import store_if_any
    from d0ctl.jobfile.source import text_of
    from d0ctl.store.views.job_files.known_names import known_names
    from d0ctl.taskfile import reader

    target = changing.job_file(file)
    path = Path(target.brief)
    text = target.text if target.text is not None else text_of(path, "task file")
    folder = path.parent if target.text is None else Path.cwd()
    with store_if_any() as store:
        known = known_names(store) if store is not None else NO_HOME
        return reader.read_text(text, target.brief, folder, pairs(values or []), known,
                                is_new=True)  # fmt: skip


@app.command("list")
def list_tasks(json: options.Json = False) -> None:
    """Show the tasks, the newest first."""
    from d0ctl.store.tasks import views

    summaries: list[TaskSummary] = []
    if session.has_home():
        with session.reader() as store, store.reading():
            summaries = views.tasks(store)
    if json:
        from d0ctl.cli.documents import task_document

        emit_json({"tasks": [task_document(task) for task in summaries]})
    else:
        draw(card.put_list, summaries, time.time())


@app.command()
def status(task: Name, json: options.Json = False) -> None:
    """Show a task, its datasets, and how many of their files have each status."""
    from d0ctl.store.tasks import views

    with session.reader() as store, store.reading():
        summary = views.task(store, task)
        datasets = views.datasets(store, summary.id)
        remains = views.remains(store, summary.id)
    if json:
        from d0ctl.cli.documents import task_card

        emit_json(task_card(summary, datasets, remains))
    else:
        draw(card.put, summary, datasets, remains, time.time())


@app.command()
def why(
    task: Name,
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A file of one of its datasets, by its name there."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Say why a task, or one of its files, has its status, and what it waits for."""
    from d0ctl.cli.commands.looking.pages.explanation import document
    from d0ctl.show.explanation import answer
    from d0ctl.show.tasks import file_why, task_why
    from d0ctl.store.tasks import views

    with session.reader() as store, store.reading():
        number = views.task(store, task).id
        if file is None:
            explanation = task_why.why(store, number, time.time())
        else:
            explanation = file_why.why(task, views.file(store, number, file), time.time())
    if json:
        emit_json(document(explanation))
    else:
        draw(answer, explanation)


@app.command()
def history(task: Name, json: options.Json = False) -> None:
    """Show every change of the status of a task."""
    from d0ctl.store.tasks import views

    with session.reader() as store, store.reading():
        summary = views.task(store, task)
        rows = views.log(store, summary.id)
    if json:
        from d0ctl.cli.documents import task_change

        emit_json({"task": summary.name, "changes": [task_change(row) for row in rows]})
    else:
        draw(card.put_history, rows, time.time())
