"""Groups as loop values: how they are made, what they stand for, and what is wrong with them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d0ctl.jobfile.reader import KnownNames, read_text
from d0ctl.jobfile.site_names import OtherFile
from d0ctl.jobfile.spec import LineSpec

from .conftest import Faults, Lines, Read, launched

SIM = """
stages:
  - name: sim
    lines:
      - {for: {n: {range: [1, 5]}}, run: "echo {n} > s{n}", outputs: {file: "s{n}", size: 10}}
      - {run: "cat s5 > last", inputs: s5, outputs: {file: last, size: 25}}
  - name: merge
    lines:
"""


def merge(entry: str) -> str:
    """A job with five files, one of which its own stage reads, and a line that takes groups."""
    return SIM + f"      - {entry}\n"


def groups(lines: list[LineSpec]) -> list[list[str]]:
    """The files that each line reads."""
    return [
        [Path(input.file).name for input in line.packages[0].binaries[0].inputs] for line in lines
    ]


@given(st.integers(1, 40), st.integers(1, 45))
@settings(max_examples=60, deadline=None)
def test_every_file_goes_into_one_group_in_order(files: int, by: int) -> None:
    text = merge(f'{{for: {{p: {{from: sim, by: {by}}}}}, run: "cat {{p}}", inputs: "{{p}}"}}')
    spec = read_text(text.replace("[1, 5]", f"[1, {files + 5}]"))

    found = groups(list(spec.stages[-1].lines))

    names = [f"s{n}" for n in range(1, files + 6) if n != 5] + ["last"]
    assert [name for group in found for name in group] == names
    assert {len(group) for group in found[:-1]} <= {by}
    assert 1 <= len(found[-1]) <= by


def test_groups_take_what_from_takes(lines: Lines) -> None:
    whole = groups(lines(merge('{run: "cat {inputs}", inputs: {from: sim}}')))
    parts = groups(lines(merge('{for: {p: {from: sim, by: 2}}, run: "cat {p}", inputs: "{p}"}')))

    assert [name for group in parts for name in group] == whole[0]


@pytest.mark.parametrize(
    ("by", "found"),
    [
        ("2", [["s1", "s2"], ["s3", "s4"], ["last"]]),
        ("30B", [["s1", "s2", "s3"], ["s4"], ["last"]]),
        ("5 B", [["s1"], ["s2"], ["s3"], ["s4"], ["last"]]),
        ("1kB", [["s1", "s2", "s3", "s4", "last"]]),
    ],
)
def test_groups_are_made_by_number_or_size(lines: Lines, by: str, found: list[list[str]]) -> None:
    entry = f'{{for: {{p: {{from: sim, by: {by}}}}}, run: "cat {{p}}", inputs: "{{p}}"}}'

    assert groups(lines(merge(entry))) == found


def test_groups_of_a_csv_file_are_made_by_events(lines: Lines, folder: Path) -> None:
    (folder / "runs.csv").write_text("events,file\n100,raw/a.raw\n200,raw/b.raw\n250,raw/c.raw\n")
    text = "stages: [{lines: [{for: {p: {csv: runs.csv, by: 300 events}}, inputs: '{p}', run: x}]}]"

    assert groups(lines(text)) == [["a.raw", "b.raw"], ["c.raw"]]


def test_groups_of_files_beside_the_job_file_are_made_by_their_size(
    lines: Lines, folder: Path
) -> None:
    (folder / "raw" / "a.raw").write_bytes(bytes(90))
    (folder / "raw" / "b.raw").write_bytes(bytes(20))
    text = "stages: [{lines: [{for: {p: {glob: raw/*, by: 100B}}, inputs: '{p}', run: 'x {p}'}]}]"

    found = lines(text)

    assert groups(found) == [["a.raw"], ["b.raw", "c.raw"]]
    assert [launched(line) for line in found] == ["x raw/a.raw", "x raw/b.raw raw/c.raw"]


def test_groups_of_a_stage_can_be_made_of_the_outputs_that_match(lines: Lines) -> None:
    entry = '{for: {p: {from: sim, match: "s*", by: 3}}, run: "cat {p}", inputs: "{p}"}'

    assert groups(lines(merge(entry))) == [["s1", "s2", "s3"], ["s4"]]


def test_whole_groups_leave_out_a_smaller_rest_with_a_warning(job: Read) -> None:
    spec = job(merge('{for: {p: {from: sim, by: 2, whole: yes}}, run: "x {p}", inputs: "{p}"}'))

    assert groups(list(spec.stages[-1].lines)) == [["s1", "s2"], ["s3", "s4"]]
    (warning,) = [text for text in spec.warnings if "left out" in text]
    assert warning.endswith("warning: 1 of 5 left out because of `whole`: `last`")


def test_groups_of_numbers_are_placeholders(lines: Lines) -> None:
    entry = '{for: {p: {range: [1, 5], by: 2}}, run: "gen {p} > {p.first}-{p.last}-{p.count}"}'

    made = lines(merge(entry))

    assert [launched(line) for line in made] == [
        "gen 1 2 > 1-2-2",
        "gen 3 4 > 3-4-2",
        "gen 5 > 5-5-1",
    ]
    assert [line.name for line in made] == ["p=1", "p=2", "p=3"]


def test_groups_make_products_with_other_names(lines: Lines) -> None:
    entry = (
        '{for: {e: [10, 20], p: {from: sim, by: 3}}, run: [cat, "{p}", "{e}"], inputs: "{p}", '
        'outputs: "o{e}-{p.index}"}'
    )

    made = lines(merge(entry))

    assert [line.name for line in made] == ["e=10 p=1", "e=10 p=2", "e=20 p=1", "e=20 p=2"]
    assert launched(made[3]) == ["cat", "s4", "last", "20"]


def test_files_of_a_group_are_inputs_that_are_not_required_unless_it_says_so(lines: Lines) -> None:
    entry = '{for: {p: {from: sim, by: 9}}, run: "x {p}", inputs: "{p}"}'
    must = entry.replace('"{p}"}', '{file: "{p}", required: yes}}')

    for text, required in ((entry, False), (must, True)):
        (line,) = lines(merge(text))
        assert {input.required for input in line.packages[0].binaries[0].inputs} == {required}
        assert all(input.made for input in line.packages[0].binaries[0].inputs)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("{for: {p: {from: sin, by: 2}}, run: x, inputs: '{p}'}",
         "there is no stage `sin` before this one (did you mean `sim`?)"),
        ("{for: {p: {from: merge, by: 2}}, run: x, inputs: '{p}'}",
         "there is no stage `merge` before this one"),
        ("{for: {p: {from: sim}}, run: x, inputs: '{p}'}",
         "groups need `by` and one source, as in `p: {from: STAGE, by: 20}`; `by: 1` makes a line "
         "for each file, `{p.first}`"),
        ("{for: {p: {from: sim, bye: 2}}, run: x, inputs: '{p}'}",
         "a group has no key `bye` (did you mean `by`?)"),
        ("{for: {p: {from: sim, list: [a], by: 2}}, run: x, inputs: '{p}'}",
         "groups need `by` and one source, as in `p: {from: STAGE, by: 20}`"),
        ("{for: {p: {list: [a], match: a, by: 2}}, run: x}", "`match` needs `from` or `cache`"),
        ("{for: {p: {from: sim, by: some}}, run: x, inputs: '{p}'}",
         "`by` takes a number of files, a size or events, as in `20`, `2GB`, `5000 events`, "
         "not `some`"),
        ("{for: {p: {from: sim, by: 0}}, run: x, inputs: '{p}'}",
         "`by` takes a number of files, a size or events, as in `20`, `2GB`, `5000 events`, "
         "not `0`"),
        ("{for: {p: {from: sim, by: 5 events}}, run: x, inputs: '{p}'}",
         "the number of events of `s1` is not known: `by` events needs a csv file with the "
         "columns `file` and `events`"),
        ("{for: {p: {list: [a, b], by: 1kB}}, run: x}",
         "the size of `a` is not known: add `size` to the output, or use a number of files"),
        ("{for: {p: {list: [a, b, a], by: 2}}, run: x}",
         "`a` would go into groups twice: list it once"),
        ("{for: {p: {from: sim, match: q, by: 2}}, run: x, inputs: '{p}'}",
         "no output of stage `sim` matches `q`"),
        ("{for: {p: {from: sim, by: 9, whole: yes}}, run: x, inputs: '{p}'}",
         "5 files do not fill a group of 9"),
        ("{for: {p: {from: sim, by: 9B, whole: yes}}, run: x, inputs: '{p}'}",
         "`whole` needs a number of files in `by`"),
        ("{for: {p: {from: sim, by: 9, whole: perhaps}}, run: x, inputs: '{p}'}",
         "`whole` takes `yes` or `no`, not `perhaps`"),
        ("{for: {p: {from: sim, by: 2}}, run: 'x {p}'}",
         '`{p}` needs `inputs: "{p}"`, so that its files are there'),
        ("{for: {p: {from: sim, by: 2}}, run: x, inputs: '{p}', outputs: '{p}.txt'}",
         "`{p}` stands for several files, which only `run`, `check` and `inputs` take; a group "
         "has `{p.index}`, its number, `{p.count}`, `{p.first}` and `{p.last}`"),
        ("{for: {p: {from: sim, by: 2}}, run: 'x {p:03}', inputs: '{p}'}",
         "`{p:03}` stands for several files, which only `run`, `check` and `inputs` take; a group "
         "has `{p.index}`, its number, `{p.count}`, `{p.first}` and `{p.last}`"),
        ("{for: {p: {from: sim, by: 1}}, run: 'x {p} > {p.stem}.txt', inputs: '{p}'}",
         "`{p}` stands for several files, so it has no `stem`; `{p.first.stem}` is that of the "
         "first"),
        ("{for: {p: {from: sim, by: 2}}, run: [x, 'a{p}'], inputs: '{p}'}",
         "`{p}` must be an element of its own"),
        ("{for: {p: {from: sim, by: 2}}, early-start: yes, run: 'x {p}', inputs: '{p}'}",
         "write `{inputs.list}` instead of `{p}`: a package that starts early gets its inputs one "
         "by one"),
        ("{for: {p: {list: [s1, no], by: 2}}, run: 'x {p}', inputs: '{p}'}",
         "no package makes `no`, and it is not beside the job file"),
    ],
)  # fmt: skip
def test_an_invalid_group_is_a_fault_with_its_place(faults: Faults, entry: str, fault: str) -> None:
    (found,) = faults(merge(entry))

    place, _, message = found.partition(": ")
    assert message == fault
    assert place.startswith("9:")


LATE = """
stages:
  - name: sim
    lines:
      - {for: {n: [a, b]}, run: x, outputs: {file: "{n}-*", late: yes}}
  - name: merge
    lines:
      - {for: {p: {from: sim, by: 2}}, run: "cat {p} > m{p.index}", inputs: "{p}",
         outputs: "m{p.index}"KEYS}
  - name: all
    lines:
      - {for: {q: {from: merge, by: 2}}, run: "cat {q} > q{q.index}", inputs: "{q}",
         outputs: "q{q.index}"}
"""


def late(text: str = "") -> str:
    """A job with groups of late outputs, and groups of these."""
    return LATE.replace("KEYS", text)


def test_one_line_stands_for_the_groups_of_late_outputs_until_they_are_known(job: Read) -> None:
    files = {"a-*": [OtherFile("a-1"), OtherFile("a-2"), OtherFile("a-3")]}
    some, whole = KnownNames(late=files), KnownNames(late={**files, "b-*": [OtherFile("b-1")]})

    for known in (KnownNames(), some):
        _, merge, last = job(late(), known).stages
        assert [line.is_open for stage in (merge, last) for line in stage.lines] == [True, True]
        assert groups(list(merge.lines)) == [["a-*", "b-*"]]
    _, merge, last = job(late(), whole).stages

    assert [line.is_open for stage in (merge, last) for line in stage.lines] == [False] * 3
    assert groups(list(merge.lines)) == [["a-1", "a-2"], ["a-3", "b-1"]]
    assert groups(list(last.lines)) == [["m1", "m2"]]
    assert launched(next(iter(merge.lines))) == "cat a-1 a-2 > m1"


def test_two_entries_for_parts_of_a_late_output_are_both_taken(job: Read) -> None:
    text = """
stages:
  - name: split
    lines: [{run: split, outputs: {file: "a-*", late: yes}}]
  - name: merge
    lines:
      - run: cat
        inputs: [{from: split, match: a-1}, {from: split, match: a-2}, {from: split, match: a-1}]
      - {run: cat, inputs: [{from: split, match: a-1}, {from: split}]}
"""

    _, merge = job(text).stages

    inputs = [line.packages[0].binaries[0].inputs for line in merge.lines]
    assert [[one.match for one in some] for some in inputs] == [["a-1\na-2"], [None]]


def test_a_file_of_such_a_group_can_not_be_the_standard_input(faults: Faults) -> None:
    text = LATE.replace("KEYS", ", stdin: '{p.first}'")

    assert "`stdin` takes one file, and `a-*` is a late output" in "\n".join(faults(text))


def test_late_outputs_without_files_make_one_empty_group(job: Read) -> None:
    _, merge, _ = job(late(), KnownNames(late={"a-*": [], "b-*": []})).stages

    assert groups(list(merge.lines)) == [[]]


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("m{p.index}\"KEYS", 'm"',
         "9:19: each group would make `m`: write `{p.index}` in its name"),
        ("KEYS", ", early-start: yes",
         "8:9: a line with groups of late outputs can't have `early-start`"),
        ("name: merge", "name: merge\n    final: yes",
         "9:9: a final stage can't have groups of late outputs"),
    ],
)  # fmt: skip
def test_groups_of_late_outputs_can_not_be_everywhere(
    faults: Faults, before: str, after: str, fault: str
) -> None:
    text = LATE.replace(before, after).replace("KEYS", "")

    assert fault in faults(text)
