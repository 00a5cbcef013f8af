"""Whatever the files of other programs hold: a job file comes of them, or a reason."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from d0ctl.errors import BadJobFile
from d0ctl.importers.formats import FORMATS, read
from d0ctl.jobfile.reader import read_text
from tests.importers.shapes import SHAPES, instance
from tests.support.examples import examples
from tests.support.mutating import CALM, Piece, damaged, in_time, joined, pieces

SUBMIT = """\
universe = vanilla
executable = prog.sh
arguments = "-n $(n) 'a b' $(who:nobody) $CHOICE(Process, a, b)" \\
  more
environment = "A=1 B='x y'"
input = in.dat
transfer_input_files = in.dat, /etc/hosts
transfer_output_files = out.$(Process), $(JOB).dat
request_cpus = 2
request_memory = 2 GB
request_disk = 10
initialdir = .
queue 3
arguments = $(RETRY)
queue
"""

DAG = """\
# a workflow
CONFIG x.config
SUBMIT-DESCRIPTION own {
    executable = /bin/echo
    queue
}
JOB A s.sub
JOB B own DIR . NOOP
NODE C {
    executable = /bin/true
    arguments = $(n)
} DONE
FINAL F s.sub
SPLICE S inner.dag DIR .
SPLICE T inner.dag
SUBDAG EXTERNAL D inner.dag
PARENT A B CHILD C S
PARENT C CHILD D
VARS A n="1" who="Emmy \\"N\\""
VARS ALL_NODES PREPEND a="$(b)" b="$(a)"
RETRY A 3 UNLESS-EXIT 2
PRIORITY C -7
CATEGORY A +few
MAXJOBS +few 2
SCRIPT DEFER 1 2 PRE A prog.sh $JOB $RETRY
SCRIPT POST A prog.sh $RETURN
PRE_SKIP A 1
ABORT-DAG-ON A 3 RETURN 1
CONNECT S T
"""

INNER = "JOB X s.sub\nJOB Y s.sub\nPARENT X CHILD Y\nCATEGORY Y few\nMAXJOBS few 2\nPIN_IN X 1\n"

LIST = """\
digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
    0[label = "all", color = "0.22 0.6 0.85", style="rounded"];
    1[label = "bwa\\nsample: A", color = "0.33 0.6 0.85", style="rounded"];
    2[label = "bwa\\nsample: B", color = "0.33 0.6 0.85", style="rounded,dashed"];
    1 -> 0
    2 -> 0
}
"""

TREE = json.dumps(
    {
        "nodes": [
            {"id": 0, "value": {"jobid": 0, "label": "all", "rule": "all"}},
            {"id": 1, "value": {"jobid": 1, "label": "bwa\nsample: A"}},
        ],
        "links": [{"u": 1, "v": 0}],
    }
)

SOURCES = {
    "flow": [DAG.encode(), LIST.encode(), TREE.encode(),
             *(json.dumps(instance(name, 2), indent=1).encode() for name in SHAPES)],
    "inner.dag": [INNER.encode()],
    "s.sub": [SUBMIT.encode()],
}  # fmt: skip
"""Sound files by their names: the one that is imported, and others that it includes."""

OTHERS = {"flow": DAG, "inner.dag": INNER, "s.sub": SUBMIT, "prog.sh": "true", "in.dat": ""}

WORDS = [
    *"\n \t\\\"'=()[]{},:#/\r\0\x85\u2028é", "\\\n", "$(", "$(n)", "$(a)", "$$(x)", "$CHOICE(",
    "{n}", "{inputs}", "JOB", "A", "CHILD", "PARENT", "VARS", "ALL_NODES", "SPLICE", "inner.dag",
    "s.sub", "DIR", "..", "flow", "queue", "queue 9", "RETRY", "-1", "0", "NaN", "null", "true",
    "99999999999999999999", "1e999", "0[label=\"", "0 -> 1\n", "JOB B s.sub\n", "executable",
    "arguments", "environment", "VARS A a=\"b\"\n", "\\n", "x: y", "\\ud800", "\U0001f600",
]  # fmt: skip

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["workflow", "specification", "tasks", "id", "name", "inputFiles", "nodes",
                         "outputFiles", "parents", "execution", "command", "program", "links",
                         "value", "label", "files", "u", "v", "arguments"]), inner, max_size=5),
    max_leaves=30,
)  # fmt: skip
CONTENT = (
    st.binary(max_size=200)
    | st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join).map(str.encode)
    | TREES.map(lambda tree: json.dumps(tree).encode())
    | TREES.map(lambda tree: json.dumps(
        {"workflow": {"specification": {"tasks": [tree]}, "execution": tree}}).encode())
)  # fmt: skip

names = st.sampled_from(sorted(SOURCES))


def answer(folder: Path, name: str, data: bytes, form: str | None = None) -> None:
    """Import a workflow one of whose files has this content; a job comes of it, or a reason."""
    for other, text in OTHERS.items():
        (folder / other).write_text(text)
    (folder / name).write_bytes(data)
    with in_time(len(data)) as sizes:
        try:
            found = read(folder / "flow", form)
            sizes.append(len(found.text))
            spec = read_text(found.text, "flow.yaml", folder)
        except BadJobFile as error:
            assert error.faults
            assert all(fault.isprintable() and len(fault) < 1000 for fault in error.faults)
            return
    assert sum(len(line.packages) for stage in spec.stages for line in stage.lines) == spec.packages


@given(names.flatmap(lambda name: st.tuples(st.just(name), damaged(SOURCES[name], WORDS))))
@settings(parent=CALM, max_examples=examples(100))
def test_a_damaged_workflow_is_imported_or_refused(tmp_path: Path, case: tuple[str, bytes]) -> None:
    name, data = case

    answer(tmp_path, name, data)


@given(names.flatmap(lambda name: st.tuples(st.just(name), pieces(SOURCES[name], WORDS))))
@settings(parent=CALM, max_examples=max(30, examples(30) // 20))
@example(("flow", (b"digraph x {", b"\n", b"}")))
@example(("flow", (b"digraph x {", b'0[label="', b"}")))
@example(("s.sub", (b"executable = a\na = ", b"$(a)", b"\narguments = $(a)\nqueue\n")))
@example(("s.sub", (b'executable = a\narguments = "', b"b", b'"\nqueue\n')))
@example(("s.sub", (b"executable = a\n", b"queue 900\n", b"")))
@example(("inner.dag", (b"", b"SPLICE A s.sub\n", b"")))
def test_repetitive_input_is_imported_or_refused_in_time(
    tmp_path: Path, case: tuple[str, Piece]
) -> None:
    name, piece = case

    answer(tmp_path, name, joined(piece))


@given(content=CONTENT, form=st.sampled_from([*FORMATS, None]))
@settings(parent=CALM, max_examples=examples(200))
def test_any_bytes_are_imported_or_refused(
    tmp_path: Path, content: bytes, form: str | None
) -> None:
    answer(tmp_path, "flow", content, form)


def test_small_files_that_name_each_other_are_refused(tmp_path: Path) -> None:
    for n in range(15):
        (tmp_path / f"d{n}").write_text(f"SPLICE A d{n + 1}\nSPLICE B d{n + 1}\n")
    (tmp_path / "d15").write_text("")
    (tmp_path / "flow.dag").write_text("SPLICE A d0\n")

    with in_time(0), pytest.raises(BadJobFile, match="more than 10,000 files"):
        read(tmp_path / "flow.dag")
