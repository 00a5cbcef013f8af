"""The feeder: what it finds in datasets, and what it does on bad days."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl.agents import round as rounds
from d0ctl.errors import BadJobFile
from d0ctl.show.tasks import task_why
from d0ctl.store import Store
from d0ctl.store.tasks import state
from tests.support.jobs import NOW
from tests.tasks.making import contents, read, status_of, submit, work
from tests.tasks.test_commands import act


def test_numbers_become_pseudo_files(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 30000]}}")
    rounds.take(store, clock=lambda: NOW)

    assert sum(state.counts(store, task).values()) == 30000


def test_files_that_match_are_recorded_with_their_sizes(store: Store, tmp_path: Path) -> None:
    for name in ("b.raw", "a.raw"):
        (tmp_path / name).write_text(name * 3)
    submit(store, tmp_path, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]')
    work(store)

    rows = store.connection.execute("select name, size from content where output = 0 order by seq")
    assert [tuple(row) for row in rows] == [("a.raw", 15), ("b.raw", 15)]


def test_a_dataset_without_files_is_pending_and_looked_up_again(
    store: Store, tmp_path: Path
) -> None:
    task = submit(store, tmp_path, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]')
    work(store)
    assert status_of(store, task) == "pending"

    (tmp_path / "a.raw").touch()
    work(store)
    assert status_of(store, task) == "pending"
    work(store, NOW + 60)
    assert contents(store).keys() == {"a.raw"}


def test_a_missing_list_is_reported_beside_the_task_file(store: Store, tmp_path: Path) -> None:
    task = submit(store, tmp_path, inputs="{raw: {lines: files.txt}}")
    work(store)

    found = state.task(store, task)
    assert found is not None
    assert found.waits == "dataset `raw`: there is no file `files.txt` beside the task file"


def test_a_missing_input_is_reported_beside_the_task_file(store: Store, tmp_path: Path) -> None:
    task = submit(store, tmp_path, files="[reco.sh]")
    work(store)

    found = state.task(store, task)
    assert found is not None
    assert found.status == "broken"
    assert "no package makes `reco.sh`, and it is not beside the task file" in str(found.note)


def test_a_csv_file_with_nonsense_breaks_the_task(store: Store, tmp_path: Path) -> None:
    (tmp_path / "files.csv").write_text("file,size\na.raw,12\nb.raw,many\n")
    task = submit(store, tmp_path, inputs="{raw: {csv: files.csv}}", files='["{files}"]')
    work(store)

    assert status_of(store, task) == "broken"
    found = state.task(store, task)
    assert found is not None
    assert found.note == "dataset `raw`: row 2 has `many` where a whole number is needed"


def test_a_file_of_another_size_than_its_table_says_is_broken_until_it_is_whole(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "files.csv").write_text("file,size\na.raw,3\nb.raw,12\nc.raw,\n")
    for name in ("a.raw", "b.raw", "c.raw"):
        (tmp_path / name).write_text("abc")
    task = submit(store, tmp_path, inputs="{raw: {csv: files.csv}}", files='["{files}"]',
                  output="out-{package.index}.txt")  # fmt: skip
    work(store)
    assert contents(store) == {"a.raw": "picked", "b.raw": "broken", "c.raw": "picked"}
    assert "1 file of dataset `raw` is broken" in task_why.why(store, task, NOW).facts

    (tmp_path / "b.raw").write_text("twelve bytes")
    act(store, "task incexec")
    work(store)
    assert contents(store)["b.raw"] == "picked"


def test_a_file_that_a_dataset_has_twice_breaks_the_task(store: Store, tmp_path: Path) -> None:
    task = submit(store, tmp_path, inputs="{raw: [a.raw, a.raw]}")
    work(store)

    assert status_of(store, task) == "broken"


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"inputs": "{raw: {glob: x, list: [y]}}"}, "dataset `raw` needs one source of"),
        ({"inputs": "{raw: {glop: x}}"}, "did you mean `glob`"),
        ({"inputs": "{raw: {range: [3]}}"}, "`range` takes the first and the last number"),
        ({"split": "{files-per-package: 0}"}, "`files-per-package` takes a whole number, 1 or"),
        ({"split": "{file-per-package: 2}"}, "did you mean `files-per-package`"),
        ({"split": "{codes: 'NF=2,QQ=1'}"}, "`QQ=1` is no code with a value"),
        ({"split": "{codes: NF=x}"}, "code `NF` can't have the value `x`"),
        ({"more": "goal: much"}, "`goal` takes a fraction"),
        ({"more": "gaol: 97%"}, "did you mean `goal`"),
        ({"more": "stages: []"}, "a task has no key `stages`"),
        ({"run": "echo {flies}"}, "did you mean"),
        ({"files": "[{list: far.txt}]"}, "no file `far.txt` beside the task file"),
    ],
)
def test_each_fault_has_its_position(parts: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadJobFile) as caught:
        read(**parts)

    assert len(caught.value.faults) >= 1
    assert any(fault in line for line in caught.value.faults), caught.value.faults
    assert all(line.startswith("task.yaml:") for line in caught.value.faults)


def test_codes_mean_what_words_mean() -> None:
    by_words = read(split="{files-per-package: 5, gigabytes-per-package: 2, max-packages: 7}")
    by_codes = read(split="{codes: 'NF=5,NG=2,MN=7'}")

    assert by_words.rules == by_codes.rules


def test_a_code_that_has_no_meaning_here_is_a_warning() -> None:
    assert "code `GB` changes nothing here" in read(split="{codes: GB=1}").warnings[0]


def test_a_task_that_waits_for_input_takes_files_that_come_later(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "a.raw").touch()
    task = submit(store, tmp_path, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]',
                  split="{wait-for-input: yes}")  # fmt: skip
    work(store)
    (tmp_path / "b.raw").touch()
    work(store, NOW + 59)
    assert contents(store) == {"a.raw": "picked"}

    work(store, NOW + 60)
    assert contents(store) == {"a.raw": "picked", "b.raw": "picked"}
    assert status_of(store, task) == "running"
