"""Files of DAGMan as job files."""

from pathlib import Path

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.importers.formats import Imported, read
from d0ctl.importers.submit_file import split_arguments
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.spec import JobSpec, LineSpec

SUBMIT = "executable = /bin/echo\narguments = $(who) $(JOB)\nlog = x.log\nqueue\n"


def imported(folder: Path, dag: str, **files: str) -> tuple[JobSpec, Imported]:
    """Import a file with others beside it; the job, and what was left out."""
    for name, text in {"s.sub": SUBMIT, **files}.items():
        (folder / name.replace("__", ".")).write_text(text)
    (folder / "flow.dag").write_text(dag)
    found = read(folder / "flow.dag")
    return read_text(found.text, str(folder / "flow.yaml"), folder), found


def lines(job: JobSpec) -> dict[str, LineSpec]:
    """The lines of a job by name."""
    return {line.name: line for stage in job.stages for line in stage.lines}


def test_nodes_become_lines_in_their_order(tmp_path: Path) -> None:
    dag = """\
JOB A s.sub
Job B s.sub
job C s.sub DIR .
PARENT A CHILD B C
VARS A who="Emmy \\"N\\""
VARS B who="$(JOB)s"
"""
    job, found = imported(tmp_path, dag)

    made = lines(job)
    assert found.left_out == ()
    assert made["B"].after == made["C"].after == ((1, 1),)
    assert made["A"].packages[0].binaries[0].script == "/bin/echo Emmy '\"N\"' A"
    assert made["B"].packages[0].binaries[0].script == "/bin/echo Bs B"
    assert made["C"].packages[0].binaries[0].script == "/bin/echo C"


def test_a_lone_final_node_is_a_normal_node(tmp_path: Path) -> None:
    job, found = imported(tmp_path, "FINAL F s.sub\n")

    assert found.left_out == ()
    assert [(stage.name, stage.final) for stage in job.stages] == [("final", False)]


def test_splices_are_inlined_and_sub_workflows_become_stages(tmp_path: Path) -> None:
    inner = "JOB X s.sub\nJOB Y s.sub\nPARENT X CHILD Y\nCATEGORY Y few\nMAXJOBS few 2\n"
    dag = """\
JOB A s.sub
SPLICE S inner.dag
SUBDAG EXTERNAL D inner.dag
JOB Z s.sub
PARENT A CHILD S
PARENT S CHILD D
PARENT D CHILD Z
"""
    job, found = imported(tmp_path, dag, inner__dag=inner)

    assert found.left_out == ()
    assert {stage.name: stage.max_running for stage in job.stages} == {
        "jobs": None, "S+few": 2, "D.jobs": None, "D.D.few": 2,
    }  # fmt: skip
    numbers = {
        line.name: (at, seq)
        for at, stage in enumerate(job.stages, 1)
        for seq, line in enumerate(stage.lines, 1)
    }
    before = {
        line.name: [name for name, place in numbers.items() if place in line.after]
        for line in lines(job).values()
    }
    assert before == {
        "A": [], "S+X": ["A"], "S+Y": ["S+X"], "D.X": ["S+Y"], "D.Y": ["D.X"], "Z": ["D.Y"],
    }  # fmt: skip


def test_retries_priorities_and_final_nodes_are_carried_over(tmp_path: Path) -> None:
    dag = """\
JOB A s.sub
RETRY A 3 UNLESS-EXIT 2
PRIORITY A 7
CATEGORY A slow
MAXJOBS slow 4
FINAL F s.sub
SCRIPT POST F clean.sh $DAG_STATUS
"""
    job, found = imported(tmp_path, dag, clean__sh="#!/bin/sh\n")

    package = lines(job)["A"].packages[0]
    assert found.left_out == ()
    assert (package.priority, job.stages[0].max_running) == (57, 4)
    assert package.policy["exit-code"]["tries"] == 3
    assert package.binaries[0].log_rules[0]["reason"] == "site:no-retry"
    assert [stage.final for stage in job.stages] == [False, True]
    assert "D0CTL_JOB_STATE" in str(lines(job)["F"].packages[0].binaries[0].script)


def test_scripts_before_and_after_are_a_part_of_the_run(tmp_path: Path) -> None:
    dag = """\
JOB A s.sub
SCRIPT PRE A pre.sh one
SCRIPT DEFER 4 60 POST A /bin/post $JOB $RETURN $RETRY $JOBID
PRE_SKIP A 9
"""
    job, found = imported(tmp_path, dag, pre__sh="#!/bin/sh\n")

    assert lines(job)["A"].packages[0].binaries[0].script == (
        './pre.sh one || { RETURN=$?; [ "$RETURN" != 9 ] || exit 0; exit "$RETURN"; }\n'
        "RETURN=0\n/bin/echo A || RETURN=$?\n"
        "/bin/post A \"$RETURN\" $((D0CTL_ATTEMPT - 1)) '$JOBID' || code=$?\n"
        'RETURN=${code:-0}\nexit "$RETURN"'
    )
    assert found.left_out == (
        "flow.dag:3: `DEFER` of a script", "flow.dag:1: `$JOBID` of a script of `A`",
    )  # fmt: skip


def test_a_submit_description_becomes_the_program_of_its_line(tmp_path: Path) -> None:
    submit = """\
executable = work.sh
arguments = "one 'two three' ""four"" x"
environment = "A=1 B='x y'"
transfer_input_files = data.txt, other.txt
transfer_output_files = out.root
request_cpus = 2
request_memory = 1 GB
request_disk = 2000
requirements = OpSysAndVer == "x"
queue 2
"""
    job, found = imported(tmp_path, "JOB A x.sub", x__sub=submit, work__sh="", data__txt="")

    package = lines(job)["A.1"].packages[0]
    binary = package.binaries[0]
    assert binary.script == "./work.sh one 'two three' '\"four\"' x"
    assert [Path(entry.file).name for entry in binary.inputs] == ["work.sh", "data.txt"]
    assert package.environment == {"A": "1", "B": "x y"}
    assert (package.cpus, package.memory, package.disk) == (2, 1024**3, 2000 * 1024)
    assert found.left_out == (
        "x.sub: `requirements`", "flow.dag:1: output `out.root`: another node makes it, too",
        "x.sub: input `other.txt`: there is no such file",
    )  # fmt: skip


def test_parts_that_can_not_be_converted_are_named(tmp_path: Path) -> None:
    dag = "JOB A s.sub DONE\nABORT-DAG-ON A 2 RETURN 1\nSET_JOB_ATTR x = 1\nDOT flow.dot\n"

    _, found = imported(tmp_path, dag)

    assert [line[:22] for line in found.left_out] == [
        "flow.dag:2: `RETURN 1`", "flow.dag:3: `SET_JOB_A", "flow.dag:1: node `A` i",
    ]  # fmt: skip


def test_an_exit_code_that_aborts_the_dag_holds_the_job(tmp_path: Path) -> None:
    spec, found = imported(tmp_path, "JOB A s.sub\nRETRY A 3 UNLESS-EXIT 4\nABORT-DAG-ON A 2\n")

    package = lines(spec)["A"].packages[0]
    assert found.left_out == ()
    assert package.policy["site:abort-dag"] == {"hold": "job"}
    assert [rule["reason"] for rule in package.binaries[0].log_rules] == [
        "site:abort-dag", "site:no-retry"
    ]  # fmt: skip
    assert 'if [ "$RETURN" = 2 ]; then echo' in (package.binaries[0].script or "")


@pytest.mark.parametrize(
    ("dag", "fault"),
    [
        ("", "flow.dag: there is no `JOB` in it"),
        ("FROB x", "flow.dag:1: `FROB` is not a command of DAGMan"),
        ("FR\x1b[2JOB x", "flow.dag:1: `FR\\x1b[2JOB` is not a command of DAGMan"),
        ("JOB A", "flow.dag:1: `JOB` is not complete"),
        ("JOB A none.sub", "flow.dag:1: there is no file `none.sub` that can be read"),
        ("JOB A s.sub\nJOB A s.sub", "flow.dag:2: there are two nodes `A`"),
        ("JOB A s.sub\nPARENT A CHILD B", "flow.dag:2: there is no node `B`"),
        ("JOB A s.sub\nPARENT A", "flow.dag:2: `PARENT` is not complete"),
        ("JOB A s.sub\nRETRY A x", "flow.dag:2: `RETRY` is not complete"),
        ("JOB A s.sub\nRETRY B 1", "flow.dag:2: there is no node `B`"),
        ("JOB A s.sub\nJOB B s.sub\nPARENT A CHILD B\nPARENT B CHILD A",
         "flow.dag:1: node `A` is in or behind a circle of `PARENT` and `CHILD`"),
        ("SPLICE S flow.dag", "flow.dag:1: `flow.dag` includes itself"),
        ("INCLUDE flow.dag", "flow.dag:1: `flow.dag` includes itself"),
        ("JOB A {\nexecutable = x", "flow.dag:1: the brace is not closed"),
        ("REJECT", "flow.dag:1: the file says `REJECT`"),
        ("# reads\nrule align:\n    input: 'a'\n",
         "flow.dag is a Snakefile, and only its graph can be read: "
         "`snakemake -s flow.dag --dag > flow.dot`, then `d0ctl import flow.dot`"),
        ("#!/bin/sh\n#PBS -l mem=4gb\necho\n",
         "flow.dag is a script, and d0ctl runs it without its lines `#PBS`: "
         "`d0ctl submit --cpus N --memory SIZE -- ./flow.dag`"),
        ("\x7fELF\x02\x00\x01", "flow.dag is a binary file"),
    ],
)  # fmt: skip
def test_a_file_that_can_not_be_read_is_refused_with_the_line(
    tmp_path: Path, dag: str, fault: str
) -> None:
    with pytest.raises(BadJobFile) as raised:
        imported(tmp_path, dag)

    assert fault in str(raised.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a  b c", ["a", "b", "c"]),
        ("\"a 'b c' 'it''s' ''\"", ["a", "b c", "it's", ""]),
        ('"say ""x"""', ["say", '"x"']),
        ("", []),
    ],
)
def test_arguments_are_split_as_htcondor_does(text: str, expected: list[str]) -> None:
    assert split_arguments(text) == expected


def test_a_file_that_a_node_makes_is_an_input_of_those_that_name_it(tmp_path: Path) -> None:
    make = "executable = /bin/make\ntransfer_output_files = a.dat\nqueue\n"
    take = "executable = /bin/take\ntransfer_input_files = a.dat\nqueue\n"

    job, found = imported(tmp_path, "JOB B t.sub\nJOB A m.sub\n", t__sub=take, m__sub=make)

    (entry,) = lines(job)["B"].packages[0].binaries[0].inputs
    assert (entry.file, entry.made, found.left_out) == ("a.dat", True, ())


def test_transferred_files_lose_their_folders_as_in_htcondor(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bin/reco", "bin/cards.txt"):
        (tmp_path / name).touch()
    text = "executable = bin/reco\ninput = bin/cards.txt\nqueue\n"

    job, _ = imported(tmp_path, "JOB A a.sub\n", a__sub=text)

    (binary,) = lines(job)["A"].packages[0].binaries
    assert binary.script == "./reco < cards.txt"
    assert {entry.local for entry in binary.inputs} == {None}


def test_a_long_line_of_variables_costs_no_more_than_its_length(tmp_path: Path) -> None:
    dag = f'JOB A s.sub\nVARS A {"9" * 200_000} who="me" +My.x="1"\n'

    job, _ = imported(tmp_path, dag)

    assert lines(job)["A"].packages[0].binaries[0].script == "/bin/echo me A"


def test_braces_of_names_and_arguments_stay(tmp_path: Path) -> None:
    """Nothing of a workflow is a placeholder, nor nearly one."""
    words_of_it = "{n} {{n}} {inputs} {{inputs}} {output} {n+1:04} {inputs:04} ${HOME}"
    maker = f"""executable = /bin/echo
arguments = "{words_of_it}"
environment = "N={{n}} INPUTS={{inputs}} PARAMETER={{parameter}}"
transfer_output_files = out{{n}}.txt, {{{{inputs}}}}
queue
"""
    reader = "executable = /bin/cat\ntransfer_input_files = out{n}.txt, x{row.a}\nqueue\n"
    (tmp_path / "x{row.a}").touch()
    dag = (
        "JOB A{inputs} a.sub\nJOB B b.sub\nCATEGORY A{inputs} {outputs}\nPARENT A{inputs} CHILD B\n"
    )

    job, found = imported(tmp_path, dag, a__sub=maker, b__sub=reader)

    made = lines(job)
    assert found.left_out == ()
    package = made["A{inputs}"].packages[0]
    quoted = (f"'{word}'" if "{" in word else word for word in words_of_it.split())
    assert package.binaries[0].script == f"/bin/echo {' '.join(quoted)}"
    assert package.environment == {
        "N": "{n}", "INPUTS": "{inputs}", "PARAMETER": "{parameter}",
    }  # fmt: skip
    assert [output.file for output in package.binaries[0].outputs] == ["out{n}.txt", "{{inputs}}"]
    inputs = made["B"].packages[0].binaries[0].inputs
    assert sorted(Path(input.file).name for input in inputs) == ["out{n}.txt", "x{row.a}"]
