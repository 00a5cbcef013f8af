"""Time-outs of statuses of tasks, in task files and in the site file."""

import re
from pathlib import Path

import pytest

from d0ctl.agents import round as rounds
from d0ctl.errors import BadJobFile
from d0ctl.show.tasks import task_why
from d0ctl.store import Store, open_store
from d0ctl.store.tasks import views
from d0ctl.taskfile.spec import USUAL_TIMEOUTS
from d0ctl.taskfile.timeouts import STATUSES
from d0ctl.units import format_time
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.tasks.making import read, status_of, submit, work

SITE = "tasks: {timeouts: {running: {after: 2h, action: finish}, finishing: 1h}}"


def test_the_time_outs_of_the_site_hold_for_tasks_without_their_own(real_site: Site) -> None:
    real_site.ok("site", "apply", real_site.write(SITE, "site.yaml"), "--yes")
    exported = str(real_site.ok("site", "show"))
    assert "running:\n      after: 2h\n      action: finish" in exported
    assert "finishing:\n      after: 1h" in exported
    with open_store(real_site.home) as store:
        mine = submit(store, name="mine", more="timeouts: {running: {after: 3h, action: kill}}")
        other = submit(store, name="other")
        work(store)

        rounds.take(store, clock=lambda: NOW + 7200)
        assert (status_of(store, mine), status_of(store, other)) == ("running", "finishing")
        rounds.take(store, clock=lambda: NOW + 7200 + 3600)
        assert (status_of(store, mine), status_of(store, other)) == ("aborting", "finishing")
        notes = [row.note for row in views.log(store, other)]
        assert notes[-2:] == ["it was running for 2 h 00 min", "it was finishing for 1 h 00 min"]

    changed = SITE.replace("2h", "4h")
    difference = str(real_site.d0ctl("site", "diff", real_site.write(changed, "site.yaml")))
    assert "~ setting tasks: timeouts.running.after 2h -> 4h" in difference


def test_no_passing_status_lasts_unnoticed(store: Store) -> None:
    ask = store.connection.execute
    passing = {row[0] for row in ask("select name from task_status where is_ended = 0")}
    assert set(USUAL_TIMEOUTS) == set(STATUSES) == passing

    task = submit(store, inputs="{raw: {lines: none.txt}}")
    work(store)
    for after in (86399, 86400, 86400 + 600):
        work(store, NOW + after)
    notes = [row.note for row in views.log(store, task)]
    assert notes.count("it was pending for 1 d") == 1
    assert status_of(store, task) == "pending"
    assert "it may need you: it is pending for 1 d" in task_why.why(
        store, task, NOW + 86400).facts  # fmt: skip
    assert not any("need you" in fact for fact in task_why.why(store, task, NOW + 86399).facts)


def test_a_task_that_is_pending_for_too_long_is_killed_although_it_is_looked_up_again(
    store: Store,
) -> None:
    task = submit(store, inputs="{raw: {lines: none.txt}}",
                  more="timeouts: {pending: {after: 1h, action: kill}}")  # fmt: skip
    for after in range(0, 4201, 600):
        work(store, NOW + after)
    assert status_of(store, task) == "aborted"


def test_the_page_has_the_usual_times() -> None:
    page = (Path(__file__).parents[2] / "docs/tasks.md").read_text()
    rows = re.findall(r"^\| (`.*`) \| (\d+[hd]) \|$", page, re.MULTILINE)
    told = {name: after for names, after in rows for name in re.findall(r"`(\w+)`", names)}
    assert told == {name: format_time(after) for name, after in USUAL_TIMEOUTS.items()}


@pytest.mark.parametrize(
    ("timeouts", "fault"),
    [
        ("{done: 1d}", "`done` is no status that can time out"),
        ("{runing: 1d}", "did you mean `running`"),
        ("{running: soon}", "`running` takes"),
        ("{running: {action: kill}}", "a time-out needs `after`, as in `after: 1d`"),
        ("{running: {after: 1d, action: explode}}", "`action` takes one of `pause`, `finish`"),
        ("7d", "`timeouts` takes statuses of tasks"),
    ],
)
def test_a_time_out_that_can_not_be_is_refused(real_site: Site, timeouts: str, fault: str) -> None:
    with pytest.raises(BadJobFile) as caught:
        read(more=f"timeouts: {timeouts}")
    assert fault in str(caught.value.faults)

    answer = real_site.d0ctl(
        "site", "check", real_site.write(f"tasks: {{timeouts: {timeouts}}}", "x.yaml")
    )
    assert answer.code == 2
    assert fault in str(answer)
