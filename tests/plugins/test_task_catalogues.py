"""Bad days of a catalogue: it is down, answers nonsense, or is asked again while it is read."""

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from d0ctl.show.tasks import task_why
from d0ctl.store import Store
from d0ctl.store.tasks import state, views
from tests.plugins.conftest import Add
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.support.waiting import wait_until
from tests.tasks.making import contents, status_of, submit, work
from tests.tasks.test_commands import act, end, phases

CODE = """
import subprocess

def it(query):
    "Ask the command of the lab, which prints a file and its size on each line."
    asked = subprocess.run(["sh", query], capture_output=True, text=True)
    if asked.returncode:
        raise OSError(asked.stderr.strip())
    for line in asked.stdout.splitlines():
        name, size = line.split()
        yield {"file": name, "size": size}
"""

HOUR = 3600.0

DOWN = "echo 'connection refused' >&2; exit 1"

LOOKING = "{raw: {catalogue: lab COMMAND}}"


@pytest.fixture
def lab(tmp_path: Path, add: Add) -> Path:
    """The command of a catalogue."""
    add("catalogue", "lab", CODE)
    return tmp_path / "ask.sh"


def reco(store: Store, lab: Path, says: str, **more: Any) -> int:
    """A task over the files of the catalogue."""
    lab.write_text(says)
    return submit(store, lab.parent, inputs=LOOKING.replace("COMMAND", str(lab)), **more)


def test_a_catalogue_that_is_down_for_an_hour_is_asked_less_and_less_often(
    store: Store, lab: Path
) -> None:
    times = lab.with_name("times")
    task = reco(store, lab, f"echo >> {times}; {DOWN}")
    for minute in range(61):
        work(store, NOW + 60 * minute)
        assert status_of(store, task) == "pending"
    asked = len(times.read_text())
    assert 6 <= asked <= 15, "after 10 s, 20 s, 40 s and so on, and then every 10 min"
    assert "OSError: connection refused" in task_why.why(store, task, NOW + HOUR).answer

    lab.write_text("echo a.raw 5; echo b.raw 7")
    work(store, NOW + HOUR + 600)
    assert (status_of(store, task), phases(store)) == ("running", {"ready": 2})


def test_a_catalogue_that_is_down_is_asked_at_once_by_incexec(store: Store, lab: Path) -> None:
    task = reco(store, lab, DOWN)
    for minute in range(30):
        work(store, NOW + 60 * minute)

    lab.write_text("echo a.raw 5")
    act(store, "task incexec")
    work(store, NOW + 60 * 29)
    assert status_of(store, task) == "running"


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("echo a.raw many", "row 1 has `many` where a whole number is needed"),
        ("echo a.raw 5; echo a.raw 5", "it has the file `a.raw` twice"),
        ("printf 'a\\033b 5\\n'", "it has a file with the name 'a\\x1bb'"),
    ],
)
def test_a_catalogue_that_answers_nonsense_breaks_the_task(
    store: Store, lab: Path, says: str, why: str
) -> None:
    task = reco(store, lab, says)
    work(store)

    assert (status_of(store, task), contents(store)) == ("broken", {})
    assert views.task(store, "demo").note == f"dataset `raw`: {why}"


def test_nonsense_in_mid_task_changes_no_file(store: Store, lab: Path) -> None:
    task = reco(store, lab, "echo a.raw 5", split="{wait-for-input: yes}")
    work(store)
    lab.write_text("echo a.raw 6; echo b.raw many")
    work(store, NOW + 60)
    assert (status_of(store, task), contents(store)) == ("running", {"a.raw": "picked"})

    lab.write_text("echo a.raw 5; echo b.raw 6")
    work(store, NOW + 120)
    assert contents(store) == {"a.raw": "picked", "b.raw": "picked"}


def d0ctl(store: Store, *words: str) -> str:
    """A command line for a shell."""
    return shlex.join([sys.executable, "-m", "d0ctl", "--home", str(store.home.root), *words])


def meanwhile(store: Store, lab: Path, *words: str) -> str:
    """A catalogue that reads its files; before it answers, one arrives, and a user types this."""
    once = lab.with_name("once")
    arrives = f"echo b.raw 7 >> {lab.parent}/files"
    return (f"cat {lab.parent}/files > {lab.parent}/answer\n"
            f"test -e {once} || {{ touch {once}; {arrives}; {d0ctl(store, *words)}; }} >&2\n"
            f"cat {lab.parent}/answer\n")  # fmt: skip


def test_an_incexec_while_a_look_is_in_progress_takes_the_new_file(store: Store, lab: Path) -> None:
    lab.with_name("files").write_text("a.raw 5\n")
    task = reco(store, lab, "echo a.raw 5", split="{wait-for-input: yes}")
    work(store)
    lab.write_text(meanwhile(store, lab, "task", "incexec", "demo"))

    work(store, NOW + 60)
    assert lab.with_name("once").exists()
    work(store, NOW + 60)
    assert contents(store) == {"a.raw": "picked", "b.raw": "picked"}
    assert status_of(store, task) == "running"


def test_an_incexec_that_comes_with_a_failing_look_is_done_after_it(
    store: Store, lab: Path
) -> None:
    lab.with_name("files").write_text("a.raw many\n")
    task = reco(store, lab, "echo a.raw 5", split="{wait-for-input: yes}")
    work(store)
    then = f"printf 'a.raw 5\\nb.raw 7\\n' > {lab.parent}/files"
    text = meanwhile(store, lab, "task", "incexec", "demo")
    lab.write_text(text.replace(f"echo b.raw 7 >> {lab.parent}/files", then))

    work(store, NOW + 60)
    work(store, NOW + 60)
    assert contents(store) == {"a.raw": "picked", "b.raw": "picked"}
    assert status_of(store, task) == "running"


def test_a_task_does_not_end_before_a_look_that_was_asked_for(store: Store, lab: Path) -> None:
    lab.with_name("files").write_text("a.raw 5\n")
    task = reco(store, lab, "cat " + str(lab.with_name("files")))
    work(store)
    end(store)
    work(store)
    assert status_of(store, task) == "done"

    lab.write_text(meanwhile(store, lab, "task", "incexec", "demo").replace(
        d0ctl(store, "task", "incexec", "demo"), send_event(store)))  # fmt: skip
    act(store, "task incexec")
    work(store)
    assert contents(store) == {"a.raw": "finished", "b.raw": "picked"}
    assert status_of(store, task) == "running"


def send_event(store: Store) -> str:
    """A command that asks for a look as the event `file-arrived` does."""
    code = (
        "from d0ctl.config import Home; from d0ctl.store import open_store\n"
        "from d0ctl.store.tasks import feeding\nfrom pathlib import Path\n"
        f"with open_store(Home(Path({str(store.home.root)!r}))) as store, store.writing():\n"
        "    feeding.look_again(store, 1, now=0, name='raw')\n"
    )
    return shlex.join([sys.executable, "-c", code])


def test_a_process_that_hung_in_a_look_does_not_end_the_look_of_another(
    store: Store, lab: Path
) -> None:
    code = (
        "from d0ctl.config import Home; from d0ctl.store import open_store\n"
        "from d0ctl.agents import round; from pathlib import Path\n"
        f"with open_store(Home(Path({str(store.home.root)!r}))) as store:\n"
        f"    round.take(store, clock=lambda: {NOW + state.LONGEST_HOLD_S})\n"
    )
    other = shlex.join([sys.executable, "-c", code])
    lab.with_name("files").write_text("a.raw 5\n")
    text = meanwhile(store, lab).replace(d0ctl(store), other)
    task = reco(store, lab, text)

    work(store)
    assert contents(store) == {"a.raw": "picked", "b.raw": "picked"}
    assert status_of(store, task) == "running"
    assert phases(store) == {"ready": 2}


ONE_LOOK = """\
mkdir {here}/look.$$
set -- {here}/look.*
echo $# >> {here}/at-once
until [ -e {here}/go ]; do sleep 0.05; done
rmdir {here}/look.$$
echo a.raw 5
"""

TASK = """
task: {name}
inputs: {{raw: {{catalogue: lab {ask}}}}}
process: {{run: "true"}}
"""


def test_no_more_looks_are_in_progress_at_once_than_there_are_agents(
    bare_site: Site, add: Add, tmp_path: Path
) -> None:
    add("catalogue", "lab", CODE)
    ask, at_once = tmp_path / "ask.sh", tmp_path / "at-once"
    ask.write_text(ONE_LOOK.format(here=tmp_path))
    settings = bare_site.write("defaults: {task-agents: 2}", "site.yaml")
    bare_site.ok("site", "apply", settings, "--yes")
    names = ["one", "two", "three", "four", "five"]
    for name in names:
        bare_site.ok("task", "submit", bare_site.write(TASK.format(name=name, ask=ask), "t.yaml"))

    bare_site.start_daemon()
    wait_until(lambda: at_once.exists() and len(at_once.read_text().split()) == 2, what="two look")
    (tmp_path / "go").touch()

    wait_until(
        lambda: all(bare_site.json("task", "status", name)["files"] for name in names),
        what="all have looked",
    )
    counts = [int(count) for count in at_once.read_text().split()]
    assert max(counts) == 2
    assert len(counts) >= len(names)
