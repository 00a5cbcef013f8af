"""Whatever a file holds, the reader answers with a job or with faults."""

import json
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from d0ctl.errors import MOST_FAULTS, BadJobFile
from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.reader import read, read_text
from d0ctl.jobfile.sections.binaries import BINARY_KEYS
from d0ctl.jobfile.sections.files.inputs import INPUT_KEYS
from d0ctl.jobfile.sections.files.outputs import OUTPUT_KEYS
from d0ctl.jobfile.sections.loops import SOURCES
from d0ctl.jobfile.sections.stages import JOB_KEYS, LINE_KEYS, PACKAGE_KEYS, STAGE_KEYS
from tests.support.examples import examples
from tests.support.mutating import CALM, Piece, damaged, in_time, joined, pieces

WORDS = [*JOB_KEYS, *STAGE_KEYS, *LINE_KEYS, *PACKAGE_KEYS, *BINARY_KEYS]
WORDS += [*INPUT_KEYS, *OUTPUT_KEYS, *SOURCES, "zip", "<<", "n", "raw"]
VALUES = ["", "~", "{n}", "{n.stem}", "{{n}}", "{raw.x}", "{inputs}", "{parameters.n}", "x", "x:y"]
VALUES += ["../x", "/x", "-", "1", "0", "-1", "1GB", "2h", "50%", "yes", "no", "*", "[", "a/b", "'"]
VALUES += ["stage1", "echo '{n}'", "cat <<E\n{n}\nE", "$(", '"', "\\", "bash", "store", "self"]

MARKS = [": ", "- ", "\n", "  ", "{", "}", "]", "&a", "*a", "|", ">", "#", ",", "\t", "!"]
MARKS += ["stages:\n- lines:\n  - "]

texts = st.sampled_from(VALUES) | st.text(st.characters(codec="utf-8"), max_size=8)
trees = st.recursive(
    texts | st.none() | st.booleans() | st.integers(-3, 9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | texts, inner, max_size=4)
    ),
    max_leaves=12,
)


def record(keys: tuple[str, ...], **inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Make mappings of a level's keys, mostly with what belongs there."""
    optional = {key: inner.get(key.replace("-", "_"), texts) | trees for key in keys}
    return st.fixed_dictionaries({}, optional=optional)


inputs = texts | record(INPUT_KEYS)
outputs = texts | record(OUTPUT_KEYS)
files = {"inputs": st.lists(inputs, max_size=3), "outputs": st.lists(outputs, max_size=3)}
binaries = st.lists(record(BINARY_KEYS, **files), max_size=2)
packages = st.lists(record((*PACKAGE_KEYS, "run"), binaries=binaries), max_size=2)
values = st.dictionaries(
    st.sampled_from(["n", "raw", "zip", "inputs"]),
    st.lists(texts, max_size=3) | st.fixed_dictionaries({"range": st.just([1, 3])}) | trees,
    max_size=2,
)
short = record((*LINE_KEYS, *BINARY_KEYS), packages=packages, **files, **{"for": values})
stages = st.lists(record(STAGE_KEYS, lines=st.lists(short, max_size=3)), max_size=3)
jobs = record(JOB_KEYS, stages=stages)

ROOT = Path(__file__).resolve().parents[2]
FILES = [path.read_bytes() for folder in ("examples", "d0ctl/jobfile/templates")
           for path in sorted((ROOT / folder).rglob("*.yaml"))]  # fmt: skip
PARTS = [word for word in [*WORDS, *VALUES, *MARKS, "$(", "${", "`", "<<: *a", "{n", "?"] if word]

FEW = settings(parent=CALM, max_examples=examples(50))


def answer(text: str) -> None:
    """Read a text, and all lines of a job that is accepted."""
    try:
        spec = read_text(text, "job.yaml")
    except BadJobFile as error:
        assert error.faults
        assert len(str(error).splitlines()) <= MOST_FAULTS + 1
        assert all(fault.isprintable() for fault in error.faults)
        return
    lines = [line for stage in spec.stages for line in stage.lines]
    assert sum(len(line.packages) for line in lines) == spec.packages


@given(st.text(st.characters(codec="utf-8"), max_size=60))
@example("{")
@example("? a\n: b")
@example("!!binary x")
@example("&a !!map {<<: *a}")
@example("<<: [1, 2]")
@example('{"\\ud800": 1}')
@example("%YAML 9.9\n---\na")
@FEW
def test_any_text_is_read_or_refused_as_a_job(text: str) -> None:
    answer(text)


@given(st.lists(st.sampled_from([*WORDS, *VALUES, *MARKS])))
@FEW
def test_any_yaml_is_read_or_refused(parts: list[str]) -> None:
    answer("".join(parts))


@given(trees)
@FEW
def test_any_tree_is_read_or_refused(tree: Any) -> None:
    answer(json.dumps(tree))


def answer_file(folder: Path, data: bytes) -> None:
    """Read a file with this content, in time."""
    path = folder / "job.yaml"
    path.write_bytes(data)
    with in_time(len(data)):
        try:
            read(path)
        except BadJobFile as error:
            assert error.faults
            assert all(fault.isprintable() and len(fault) < 2000 for fault in error.faults)


@given(damaged(FILES, PARTS))
@FEW
def test_a_damaged_job_file_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    answer_file(tmp_path, data)


@given(pieces(FILES, PARTS))
@settings(parent=CALM, max_examples=max(20, examples(20) // 20))
@example((b'stages: [{lines: [{run: "', b"/-1{", b'"}]}]'))
@example((b'stages: [{lines: [{run: "', b"$((`", b'"}]}]'))
@example((b'parameters: {nnn: 1}\nstages: [{lines: [{run: "', b"/{nn} ", b'"}]}]'))
@example((b'stages: [{lines: [{run: x, outputs: "', b":{n}", b'"}]}]'))
def test_a_repetitive_file_is_read_or_refused_in_time(tmp_path: Path, piece: Piece) -> None:
    answer_file(tmp_path, joined(piece))


@given(jobs)
@settings(parent=CALM, max_examples=examples(120))
def test_any_job_is_read_or_refused(job: Any) -> None:
    answer(json.dumps(job, ensure_ascii=False))


names = st.text("ab-. '{}$\n", min_size=1, max_size=3)
runs = st.sampled_from(["{n}", "x {n.stem} {inputs}", "'{n}'", "y {outputs} # {n}", "{m} {n}"])
makes = st.lists(st.sampled_from(["{n}", "d/{n}", "{n}.{m}", "{m}", "{n.stem}.x"]), max_size=2)
reads = st.lists(
    st.sampled_from(["{n}", "d/{n}", "{n}.{m}", "{n}.x", "/{n}"])
    | st.builds(lambda n: {"from": f"stage{n}", "match": "{n}*"}, st.integers(1, 3))
    | st.builds(lambda n: {"from": f"stage{n}"}, st.integers(1, 3)),
    max_size=2,
)
chains = st.lists(
    st.fixed_dictionaries({"run": runs, "inputs": reads, "outputs": makes}), min_size=1, max_size=2
)
likely = st.lists(
    st.fixed_dictionaries(
        {
            "lines": st.lists(
                st.builds(
                    lambda n, m, packages: {
                        "for": {"n": {"list": n}, "m": {"list": m}},
                        "packages": packages,
                    },
                    st.lists(names, min_size=1, max_size=2, unique=True),
                    st.lists(names, min_size=1, max_size=1),
                    chains,
                ),
                min_size=1,
                max_size=1,
            )
        }
    ),
    min_size=1,
    max_size=3,
)


@given(likely)
@example([{"lines": [{"run": "x", key: ["a", "d/a"]}]} for key in ("outputs", "inputs")])
@settings(parent=CALM, max_examples=examples(120))
def test_a_job_that_is_accepted_fits_together(stages: Any) -> None:
    try:
        spec = read_text(json.dumps({"stages": stages}, ensure_ascii=False))
    except BadJobFile:
        return

    packages = [
        package for stage in spec.stages for line in stage.lines for package in line.packages
    ]
    assert len(packages) == spec.packages
    made = [o.file for p in packages for b in p.binaries for o in b.outputs]
    assert len(made) == len(set(made))
    for package in packages:
        given = [input for binary in package.binaries for input in binary.inputs]
        own = {o.file for b in package.binaries for o in b.outputs}
        assert all(one.made == (one.file in made) for one in given)
        read = {one.file: local_name(one.file, one.local) for one in given if one.file not in own}
        assert len(set(read.values())) == len(read)
        assert own.isdisjoint(read.values())
