"""What must be true of a task after a run, whatever happened to its agents."""

from collections import Counter
from collections.abc import Iterator

from tests.chaos import checks
from tests.chaos.field import Field
from tests.chaos.tasks import production
from tests.chaos.tasks.production import BAD, ask
from tests.chaos.work import JOB

QUERIES = {
    "files whose package has ended, or that two hold": """
        select content.name, content.status, package.phase
          from content left join package on package.id = content.package_id
         where content.output = 0 and content.status in ('picked', 'running')""",
    "files with other than one attempt that counts": """
        select content.name, content.status, count(content_attempt.number)
          from content
          left join content_attempt on content_attempt.content_id = content.id
           and content_attempt.outcome = 'finished'
         where content.output = 0
         group by content.id
        having count(content_attempt.number) <> (content.name <> 'bad')""",
    "attempts that are not numbered from 1": """
        select content.name, content.attempts, count(content_attempt.number)
          from content join content_attempt on content_attempt.content_id = content.id
         group by content.id
        having content.attempts <> count(*) or min(number) <> 1 or max(number) <> count(*)""",
    "attempts without an end": "select content_id, number from content_attempt where ended is null",
    "counts of files that are wrong": """
        select dataset_id, status, n from dataset_count where n > 0
        except select dataset_id, status, count(*) from content group by 1, 2""",
    "packages that are not those that the task has counted": """
        select task.made, count(line.id), max(line.seq)
          from task join stage on stage.job_id = task.job_id join line on line.stage_id = stage.id
         group by task.id having task.made <> count(line.id) or task.made <> max(line.seq)""",
    "statuses that do not follow each other": """
        select id, old, new from task_log
         where old is not (select former.new from task_log as former
                            where former.task_id = task_log.task_id and former.id < task_log.id
                            order by former.id desc limit 1)""",
    "statuses that may not follow each other": """
        select old, new from task_log where old <> new
        except select old, new from task_transition""",
    "outputs that are not there": """
        select content.name, content.status from content
         where output = 1 and status not in ('finished', 'failed')""",
    "files in several packages that were successful": """
        select content_id, count(*) from content_attempt
          join package on package.id = content_attempt.package_id and package.phase = 'done'
         group by content_id having count(*) > 1""",
}
"""What is wrong, and the rows that show it."""


def check(field: Field) -> Iterator[str]:
    """Everything that is wrong after the daemon was stopped."""
    status, expected = production.status(field), set(production.names(field)) - {BAD}
    if status != "finished":
        yield f"the task is {status}"
    found = Counter(dict(ask(field, "select name, status from content where output = 0")).values())
    if found != {"finished": len(expected), "failed": 1}:
        yield f"files are {dict(found)}"
    results = Counter(
        word for path in (field.home.results / JOB).glob("*") for word in path.read_text().split()
    )
    if results != dict.fromkeys(expected, 1):
        wrong = {name: results[name] for name in {*results, *expected} if results[name] != 1}
        yield f"in the results there are not once: {wrong}"
    for what, query in QUERIES.items():
        if rows := ask(field, query):
            yield f"{what}: {rows}"
    yield from checks.of_any_work(field)


def counted_twice(field: Field) -> int:
    """How many files count in several packages."""
    return len(ask(field, QUERIES["files in several packages that were successful"]))
