"""The faults of a wrong job file: all of them, at once, with their positions."""

import gc
import re
from pathlib import Path

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import KnownNames, read, read_text

from .conftest import Faults

WRONG = """\
job: 1reco
titel: Faulty
priority: 500
hold: maybe
parameters: {energy: 13, inputs: x}
policy: none
stages:
  - name: reco
    require: 130%
    lines:
      - for: {x: {list: [a, "b c"]}, zip: {p: [1, 2], q: [1]}}
        run: "echo '{x}' {xx} {x.stam} {parameters.enrgy} $HOME ${x} {{x}} {print}"
        input: [a]
        outputs: ["{x}{p}.out", "/abs", "../up", "{y}.z", "{inputs}"]
        memory: 4 GX
        runtime: soon
        cpus: 0
        nodes: [nod1]
        cpus: 1
      - packages:
          - binaries:
              - run: merge {inputs}
                inputs: [{from: rico}, {from: reco}, missing.root, {file: a, from: b}]
                log-rules: ["(unclosed"]
                outputs: [{file: all.root, disposition: [forwrd], min-size: -1}]
          - software: reco/v1
          - name: empty
  - name: loop
    lines:
      - {run: "one {inputs}", inputs: b.x, outputs: a.x}
      - {run: "two {inputs}", inputs: a.x, outputs: b.x}
      - {run: "three", outputs: b.x}
  - name: loop
    lines: []
  - lines:
      - run: "cat {inputs.lst} {inputs}"
        inputs: [/db/a.raw, /tmp/a.raw, raw, {glob: "*.nope"}, {from: reco, match: "*.zzz"}]
        outputs: [{file: {x}}, {x}]
      - packages: [{run: x}]
        cpu: 4
      - just text
"""

TOLD = """\
1:6: `job` takes a name of letters, digits, `_` and `-` that begins with a letter, not `1reco`
2:1: a job has no key `titel` (did you mean `title`?)
3:11: `priority` takes a whole number from 0 to 100, not `500`
4:7: `hold` takes `yes` or `no`, not `maybe`
5:26: `inputs` is a reserved word and can't be a parameter
6:9: `policy` takes a mapping, not `none`
9:14: `require` takes a fraction such as `97%` or `0.97`, not `130%`
11:38: `zip` needs as many values of each name, but `p` has 2, `q` has 1
12:21: `{x}` is inside quotes or a here-document, where its value `b c` is not safe; \
outside of them d0ctl quotes it
12:26: `{xx}` is not a known name (did you mean `x`? `{{xx}}` gives a literal `{xx}`)
12:31: `{x.stam}`: a value has `.name`, `.parent`, `.stem`, `.suffix`, not `.stam` \
(did you mean `stem`?)
12:40: there is no parameter `enrgy` (did you mean `energy`?)
13:9: a line has no key `input` (did you mean `inputs`?)
14:33: output `/abs` must be a relative path, and 1 more like it
14:41: output `../up` must not leave its directory by `..`, and 1 more like it
14:51: `{y}` is not a known name
14:60: `{inputs}` can only be used in `run` and `check`
15:17: `memory` takes a size such as `200MB`, `1.5 GiB` or `4096`, not `4 GX`
16:18: `runtime` takes a time such as `20m`, `1h30m` or `90` seconds, not `soon`
17:15: `cpus` takes a whole number of CPUs, 1 or more, not `0`
18:17: `nodes`: there is no node `nod1` (did you mean `node1`?)
19:9: `cpus` is given twice, first in line 17
23:33: there is no stage `rico` (did you mean `reco`?)
23:47: stage `reco` can't take its inputs from itself
23:68: an input needs one of `file`, `from`, `glob`, `list`, `catalogue` and `cache`, but has \
`file` and `from`
24:29: `match`: `(unclosed` is not a regular expression: missing ), unterminated subpattern \
at position 0
25:58: `disposition`: `forwrd` is not one of `forward`, `store`, `retain-indef`, `retain-temp`, \
`deletable` (did you mean `forward`?)
25:77: `min-size` takes a size such as `200MB`, `1.5 GiB` or `4096`, not `-1`
27:13: a package needs `run`
30:9: packages `job/2/1/1`, `job/2/2/1` wait for each other in a circle
32:33: packages `job/2/2/1` and `job/2/3/1` both make `b.x`
33:11: two stages have the name `loop`
34:12: `lines` takes a list of entries, not an empty list
36:9: inputs `/db/a.raw` and `/tmp/a.raw` of a package are both `a.raw`; rename one by `as: NAME`
36:19: `{inputs.lst}` is not one of `{inputs}`, `{inputs.list}` and `{outputs}`
37:41: input `raw` is a directory: write `raw/`
37:53: no file matches `*.nope`
38:26: `file` takes a text, not a mapping; a text that begins with `{` needs quotes: `"{x}..."`
38:32: an output needs `file`
38:33: an output has no key `x`; a text that begins with `{` needs quotes: `"{x}..."`
40:9: `cpu` belongs in an entry of `packages`, not beside it
41:9: an entry of `lines` takes keys, as in `- name: x`, not `just text`
"""


def test_every_fault_of_a_file_is_reported_at_once(faults: Faults, folder: Path) -> None:
    answer = faults(WRONG, KnownNames(nodes={"node1", "node2"}))

    assert "\n".join(answer) == TOLD.rstrip().replace("FOLDER", str(folder))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: a job file needs keys such as `job` and `stages`; it is empty"),
        ("# nothing", "1:1: a job file needs keys such as `job` and `stages`; it is empty"),
        ("- a", "1:1: a job file needs keys such as `job` and `stages`; this is a list"),
        ("word", "1:1: a job file needs keys such as `job` and `stages`; this is `word`"),
        ("job: x", "1:1: a job needs `stages`"),
        ("stages:", "1:1: a job needs `stages`"),
        ("stages: []", "1:9: `stages` takes a list of entries, not an empty list"),
        ("stages: [{}]", "1:10: a stage needs `lines`"),
        ("stages: [{lines: [{}]}]", "1:19: a line needs `run`"),
        ("stages: [{lines: [{packages: [{}]}]}]", "1:31: a package needs `run`"),
        ("a: \x1b[31m", "1:4: the character '\\x1b' is not allowed in a job file"),
        ("a: &x [*x]", "1:8: `*x` contains itself"),
        ("a: *x", "1:4: there is no anchor `&x` above"),
        ("[" * 500, "1:41: nested more than 40 levels deep"),
    ],
)
def test_a_file_that_is_no_job_file_has_one_fault(faults: Faults, text: str, expected: str) -> None:
    assert faults(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("stages: [{memory: 4GB, lines: [{run: x}]}]",
      "1:11: a stage has no key `memory`: it belongs in a line or a package, under `lines`"),
     ("stages: [{for: {n: [1]}, lines: [{run: x}]}]",
      "1:11: a stage has no key `for`: it belongs in a line, under `lines`"),
     ("stages: [{lines: [{run: x, queue: short}]}]",
      "1:28: a line has no key `queue`: queues of a batch system are set for the site, "
      "see docs/slurm.md")],
)  # fmt: skip
def test_a_key_in_the_wrong_place_is_answered_with_the_right_one(
    faults: Faults, text: str, expected: str
) -> None:
    assert faults(text) == [expected]


def test_a_file_nested_deeper_than_the_parser_reads_is_nested_too_deep(faults: Faults) -> None:
    (fault,) = faults("[" * 5000)

    assert fault.partition(" ")[2] == "nested more than 40 levels deep"


@pytest.mark.parametrize("text", [r"a@b.c\r\nBcc: d@e.f", r"a@b.c\n", r"a@b\x1b[2J", " "])
def test_an_originator_is_one_line_without_control_characters(faults: Faults, text: str) -> None:
    found = faults(f'job: x\noriginator: "{text}"\nstages: [{{lines: [{{run: "true"}}]}}]\n')

    assert len(found) == 1
    assert found[0].startswith("2:13: `originator` takes one line without control characters, not ")
    assert found[0].isprintable()


def test_a_yaml_tag_creates_no_object(faults: Faults) -> None:
    (answer, *_) = faults("job: !!python/object/apply:os.system [ls]\nstages: []")

    assert answer.startswith(
        "1:6: the tag `tag:yaml.org,2002:python/object/apply:os.system` is not"
    )


def test_aliases_that_grow_without_bound_are_refused(faults: Faults) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    (answer,) = faults("\n".join(levels))

    assert re.fullmatch(r"5:\d+: aliases stand for more than 100,000 values", answer)


def test_binary_garbage_is_no_job_file(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes(b"a: 1\nb: \xff\xfe\x00")

    with pytest.raises(BadJobFile) as caught:
        read(path)

    answer = f"{path}:2:4: the byte 0xff is not UTF-8, so this is not a job file"
    assert caught.value.faults == (answer,)


def test_a_missing_file_is_reported_with_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "reco.yaml").touch()

    near = re.escape(f"there is no such file (did you mean `{tmp_path / 'reco.yaml'}`?)")
    with pytest.raises(BadJobFile, match=near):
        read(tmp_path / "recco.yaml")
    with pytest.raises(BadJobFile, match="can't be read: is a directory"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ("lines: [{run: touch x, output: [x]}]", ": a line has no key `output`"),
        ("line: [{run: touch x, outputs: [x]}]", ": a stage has no key `line`"),
        ("lines: [{run: touch x, outputs: [{fiel: x}]}]", ": an output has no key `fiel`"),
    ],
)
def test_a_misspelt_key_that_hides_an_output_does_not_make_its_readers_wrong(
    faults: Faults, wrong: str, fault: str
) -> None:
    answer = faults(
        f"""\
stages:
  - name: one
    {wrong}
  - name: two
    lines: [{{run: cat x, inputs: [x]}}]
"""
    )

    assert any(fault in line for line in answer)
    assert not any("no package makes" in line for line in answer)


def test_a_list_in_place_of_the_number_of_events_is_a_fault(faults: Faults) -> None:
    text = "stages: [{lines: [{run: go, events: {of: [], part: x}}]}]"

    assert faults(text) == ["1:42: `of` takes a text, not an empty list"]


@pytest.mark.parametrize("is_on", [True, False])
def test_the_collector_is_as_before_after_a_job_was_read(is_on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        with pytest.raises(BadJobFile):
            read_text("stages: none")
        assert gc.isenabled() == is_on
    finally:
        (gc.enable if before else gc.disable)()


JOB = "job: x\nparameters: {p: a}\nstages: [{lines: [{for: {v: %s}, run: 'echo {v}'}]}]\n"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (r'["a\u0001b"]', r"3:30: `a\x01b` has the character '\x01', which d0ctl needs for itself"),
        (r'["\x02"]', r"3:30: `\x02` has the character '\x02', which d0ctl needs for itself"),
        ("{lines: some}", r"3:37: line 2 of `some` has the character '\x02', which d0ctl needs "
         "for itself"),
        ("{csv: some}", r"3:35: line 2 of `some` has the character '\x02', which d0ctl needs "
         "for itself"),
        ("{glob: 'raw/x*'}", r"3:36: the name of `raw/x\x01` has the character '\x01', which "
         "d0ctl needs for itself"),
        ("{catalogue: csv some}", r"3:41: row 1 of catalogue `csv` has the character '\x02', "
         "which d0ctl needs for itself"),
    ],
)  # fmt: skip
def test_a_value_can_not_have_the_characters_that_mark_inputs(
    faults: Faults, folder: Path, values: str, expected: str
) -> None:
    (folder / "some").write_text("word\n\x02inputs\n")
    (folder / "raw" / "x\x01").touch()

    assert expected in faults(JOB % values)


def test_a_value_of_set_can_not_have_them_either(faults: Faults) -> None:
    (found,) = faults(JOB % "[1]", p="\x01inputs\x01")

    assert found == (
        r"2:17: the new value of `p` has the character '\x01', which d0ctl needs for itself"
    )
