"""Files of other jobs in a job file, and rows of catalogues."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from d0ctl.jobfile.reader import read
from d0ctl.jobfile.site_names import KnownNames, OtherFile, OtherStage
from tests.jobfile.conftest import Faults, Read, launched

MADE = [OtherFile("mc:a/1.txt", 40), OtherFile("mc:a/2.txt", 70), OtherFile("mc:p-*", None, True)]


def stage_of(job: str, stage: str) -> OtherStage | None:
    """A job `mc` with a stage `gen`, one `split` that has a late output, and an empty one."""
    stages = {"gen": MADE[:2], "split": MADE, "none": []}
    return OtherStage(list(stages), stages.get(stage)) if job == "mc" else None


def cached(node: str, unread: bool) -> Sequence[OtherFile]:
    """The cache of a node, of which one file is not read."""
    return MADE[1:2] if unread else MADE[:2]


KNOWN = KnownNames(nodes=["farm"], stage_of=stage_of, cached=cached)


def inputs(folder: Path, line: str) -> list[list[tuple[str, bool]]]:
    """Return the inputs of each line, and whether they are required."""
    (folder / "job.yaml").write_text(f"stages: [{{lines: [{line}]}}]")
    (stage,) = read(folder / "job.yaml", known=KNOWN).stages
    return [
        [(input.file, input.required) for input in line.packages[0].binaries[0].inputs]
        for line in stage.lines
    ]


def test_from_takes_the_stage_of_another_job(folder: Path) -> None:
    both = [("mc:a/1.txt", False), ("mc:a/2.txt", False)]

    assert inputs(folder, "{run: 'x', inputs: {from: mc/gen}}") == [both]
    assert inputs(folder, "{run: 'x', inputs: {from: mc/gen, match: '*2*'}}") == [both[1:]]
    late = [*both, ("mc:p-*", False)]
    assert inputs(folder, "{run: 'x', inputs: {from: mc/split}}") == [late]
    line = "{for: {g: {from: mc/gen, match: 'a/*', by: 80}}, run: 'x {g}', inputs: '{g}'}"
    assert inputs(folder, line.replace("80", "80 B")) == [both[:1], both[1:]]


def test_groups_take_what_a_cache_has(folder: Path) -> None:
    line = "{for: {g: {cache: farm, unread: yes, by: 9}}, run: 'x {g}', inputs: '{g}'}"
    assert inputs(folder, line) == [[("mc:a/2.txt", False)]]
    line = "{run: 'x', inputs: {cache: farm, match: '*1.txt', required: yes}}"
    assert inputs(folder, line) == [[("mc:a/1.txt", True)]]


def test_first_and_last_are_names_in_the_working_directory(job: Read, folder: Path) -> None:
    (folder / "a").mkdir()
    for name in ("1.txt", "2.txt"):
        (folder / "a" / name).write_text("raw")
    text = """
stages:
  - lines:
      - for: {g: {SOURCE, by: 2}}
        layout: flat
        run: sort < {g.first} > {g.last.stem}.x
        inputs: "{g}"
        outputs: "{g.last.stem}.x"
"""

    for source in ("from: mc/gen", "list: ['mc:1.txt', 'mc:2.txt']", "glob: a/*"):
        (line,) = job(text.replace("SOURCE", source), KNOWN).stages[0].lines
        assert launched(line) == "sort < 1.txt > 2.x"
        assert line.packages[0].binaries[0].outputs[0].file == "2.x"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{from: mcc/gen}", "there is no job `mcc`"),
        ("{from: mc/genn}", "job `mc` has no stage `genn` (did you mean `gen`?)"),
        ("{from: mc/reco}", "job `mc` has no stage `reco`: it has `gen`"),
        ("{from: mc/none}", "stage `none` of job `mc` has no output that others can read"),
        ("{from: mc/gen, match: x}", "no output of stage `mc/gen` matches `x`"),
        ("{from: mc/gen, unread: yes}", "`unread` needs `cache`"),
        ("{cache: farn}", "there is no node `farn` (did you mean `farm`?)"),
        ("{cache: farm, match: x}", "the cache of node `farm` has no file that matches `x`"),
        ("{cache: farm, unread: maybe}", "`unread` takes `yes` or `no`, not `maybe`"),
        ("{cache: farm, glob: x}", "`glob` can't be combined with `cache`"),
        ("{catalogue: csv no.csv}", "catalogue `csv`: there is no file `no.csv`"),
        ("{catalogue: csv runs.csv energi > 3}", "no such column: energi"),
        ("{catalogue: csv runs.csv energy > 99}", "catalogue `csv` has nothing for"),
        ("{catalogue: csv}", "catalogue `csv` takes a file, as in `csv FILE CONDITION`"),
        ("{catalogue: runs 7}", "has a catalogue `runs`; there are `csv` and `sqlite`"),
        ("{catalogue: csv bad.csv}", "`bad.csv`: row 1 has 1 values, but the header has 2"),
        ("{catalogue: sqlite runs.db delete from runs}", "not authorized"),
        ("{catalogue: \"sqlite runs.db attach 'x' as y\"}", "not authorized"),
        ("{catalogue: sqlite runs.csv select * from runs}", "not a database"),
        (
            "{catalogue: sqlite runs.db select run from runs}",
            "files of a catalogue need a column `file`",
        ),
    ],
)
def test_files_that_are_not_there_are_reported(
    folder: Path, faults: Faults, entry: str, expected: str
) -> None:
    (folder / "runs.csv").write_text("file,energy\na,7\n")
    (folder / "bad.csv").write_text("file,energy\na\n")
    with closing(sqlite3.connect(folder / "runs.db")) as runs:
        runs.execute("create table runs (file, run)")
        runs.execute("insert into runs values ('a', 1)")
        runs.commit()

    (answer,) = faults(f"stages: [{{lines: [{{run: x, inputs: {entry}}}]}}]", KNOWN)

    assert expected in answer


def test_columns_of_a_catalogue_with_a_fault_are_not_reported(faults: Faults) -> None:
    line = "{for: {row: {catalogue: csv no.csv}}, run: 'cat {row.file}', inputs: '{row.file}'}"

    (answer,) = faults(f"stages: [{{lines: [{line}]}}]")

    assert "there is no file `no.csv`" in answer


def test_a_late_stage_of_another_job_is_no_source_of_groups(faults: Faults) -> None:
    line = "{for: {g: {from: mc/split, by: 2}}, run: x, inputs: '{g}'}"

    (answer,) = faults(f"stages: [{{lines: [{line}]}}]", KNOWN)

    assert "late output `mc:p-*` of stage `mc/split` can't be counted" in answer


def test_a_catalogue_of_csv_compares_numbers_and_keeps_their_texts(folder: Path) -> None:
    (folder / "runs.csv").write_text("run,energy,d0ctl\n001,13.60,x\n002,9,y\n010,100,z\n")
    line = "{for: {r: {catalogue: csv runs.csv energy > 9.5 order by run desc}}, run: '{r.run}'}"
    (folder / "job.yaml").write_text(f"stages: [{{lines: [{line}]}}]")

    (stage,) = read(folder / "job.yaml").stages

    assert [line.name for line in stage.lines] == [
        "run=010 energy=100 d0ctl=z", "run=001 energy=13.60 d0ctl=x",
    ]  # fmt: skip


def test_a_cluster_stands_for_its_nodes(job: Read) -> None:
    known = KnownNames(nodes=["n1", "n2", "n3"], clusters={"farm": ["n1", "n2"], "n3": ["n3"]})
    text = "stages: [{lines: [{run: x, nodes: [farm, n2, n3], exclude-nodes: farm}]}]"

    package = next(iter(job(text, known).stages[0].lines)).packages[0]

    assert (package.nodes, package.exclude_nodes) == (("n1", "n2", "n3"), ("n1", "n2"))


def test_a_name_that_is_nearly_that_of_a_cluster_is_a_fault(faults: Faults) -> None:
    known = KnownNames(nodes=["n1"], clusters={"farm": ["n1"]})

    (answer,) = faults("stages: [{lines: [{run: x, nodes: frm}]}]", known)

    assert answer.endswith("`nodes`: there is no node `frm` (did you mean `farm`?)")
