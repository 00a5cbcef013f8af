"""Programs, scripts and macros of DAGMan's submit descriptions."""

from pathlib import Path

import pytest

from d0ctl.errors import BadJobFile
from tests.importers.test_dagman import imported, lines


def test_the_code_of_a_pre_script_stops_the_job_like_that_of_its_program(tmp_path: Path) -> None:
    (tmp_path / "pre.sh").touch()
    dag = "JOB A s.sub\nSCRIPT PRE A pre.sh\nABORT-DAG-ON A 5\nFINAL F s.sub\n"

    job, found = imported(tmp_path, dag)

    script = lines(job)["A"].packages[0].binaries[0].script
    report = 'if [ "$RETURN" = 5 ]; then echo "d0ctl: exit code 5 stops the job"; fi'
    assert script is not None
    assert script.splitlines()[0] == f'./pre.sh || {{ RETURN=$?; {report}; exit "$RETURN"; }}'
    assert found.left_out == (
        "flow.dag:1: `ABORT-DAG-ON`: the job is held, so its final node waits",
    )


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("$CHOICE(IsWindows,/bin/a, b)", "/bin/a"),
        ("$CHOICE(IsLinux, /bin/a, b)", "b"),
        ("$choice($(n),a,b,c)", "c"),
        ("$CHOICE(n,list)", "z"),
        ("$CHOICE(n,a)", "'$CHOICE(n,a)'"),
        ("$CHOICE(9999999999,a,b)", "'$CHOICE(9999999999,a,b)'"),
        ("$(IsLinux)", "1"),
    ],
)
def test_a_choice_is_made_as_on_a_node(tmp_path: Path, argument: str, word: str) -> None:
    text = "executable = /bin/echo\nn = 2\nlist = x,y,z\nmine = $(n) $CHOICE(n,list)\nqueue\n"

    job, found = imported(tmp_path, "JOB A a.sub\n", a__sub=f"arguments = {argument}\n{text}")

    assert lines(job)["A"].packages[0].binaries[0].script == f"/bin/echo {word}"
    assert found.left_out == ("a.sub: `mine`",)  # which nothing uses


def test_other_functions_and_commands_in_braces_are_listed(tmp_path: Path) -> None:
    dag = "JOB A {\nexecutable = /bin/echo\narguments = $ENV(HOME) $$(Cpus)\nrank = Mips\n}\n"

    job, found = imported(tmp_path, dag)

    script = lines(job)["A"].packages[0].binaries[0].script
    assert script == "/bin/echo '$ENV(HOME)' '$$(Cpus)'"
    assert found.left_out == (
        "flow.dag:1: `$$()` of `arguments`: it stays as it is",
        "flow.dag:1: `$ENV()` of `arguments`: it stays as it is", "flow.dag:1: `rank`",
    )  # fmt: skip


def test_programs_that_are_not_there_are_listed_unless_a_node_makes_them(tmp_path: Path) -> None:
    make = "executable = /bin/cc\ntransfer_output_files = made\nqueue\n"
    dag = "JOB A m.sub\nJOB B b.sub\nJOB C c.sub\nSCRIPT POST A none.sh\n"

    job, found = imported(tmp_path, dag, m__sub=make, b__sub="executable = ./made\nqueue\n",
                          c__sub="executable = gone\nqueue\n")  # fmt: skip

    (entry,) = lines(job)["B"].packages[0].binaries[0].inputs
    assert (entry.file, entry.made) == ("made", True)
    assert found.left_out == (
        "flow.dag:1: script `none.sh`: there is no such file",
        "c.sub: input `gone`: there is no such file",
    )


def test_each_queue_statement_makes_lines_of_the_commands_before_it(tmp_path: Path) -> None:
    text = (
        "executable = /bin/echo\narguments = $(Process) a\nqueue 2\narguments = b\nqueue\nx = y\n"
    )

    job, found = imported(tmp_path, "JOB A a.sub\n", a__sub=text)

    made = {name: line.packages[0].binaries[0].script for name, line in lines(job).items()}
    assert made == {"A.0": "/bin/echo 0 a", "A.1": "/bin/echo 1 a", "A.2": "/bin/echo b"}
    assert found.left_out == ()


@pytest.mark.parametrize("text", ["queue\n" * 101, "queue 9000\nqueue 1001\n", "queue 99999999\n"])
def test_a_description_that_queues_too_much_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadJobFile):
        imported(tmp_path, "JOB A a.sub\n", a__sub="executable = /bin/echo\n" + text)


def test_a_node_that_does_nothing_has_its_scripts_and_retries(tmp_path: Path) -> None:
    (tmp_path / "pre.sh").touch()

    job, found = imported(tmp_path, "JOB A s.sub NOOP\nSCRIPT PRE A pre.sh\nRETRY A 2\n")

    (package,) = lines(job)["A"].packages
    (entry,) = package.binaries[0].inputs
    assert "tries: 2" in found.text
    assert Path(entry.file).name == "pre.sh"


def test_a_value_known_only_when_a_node_runs_is_set_by_its_shell_or_listed(tmp_path: Path) -> None:
    text = """executable = /bin/echo
environment = "TRY='no $(RETRY)' MODE=fast"
transfer_output_files = out$(RETRY)
"""

    job, found = imported(tmp_path, "JOB A a.sub\nRETRY A 2\n", a__sub=text)

    (package,) = lines(job)["A"].packages
    assert package.binaries[0].script == """TRY='no '"$((D0CTL_ATTEMPT - 1))"'' /bin/echo"""
    assert dict(package.environment) == {"MODE": "fast"}
    assert [output.file for output in package.binaries[0].outputs] == ["out0"]
    assert found.left_out == (
        "a.sub: `$(RETRY)` of `transfer_output_files`: it is 0 in each attempt",
    )


def test_values_that_are_known_only_when_a_node_runs_are_filled_in_by_its_shell(
    tmp_path: Path,
) -> None:
    text = "executable = /bin/echo\narguments = \"$(RETRY) 'try $(RETRY)' $(DAG_STATUS)\"\n"

    job, _ = imported(tmp_path, "JOB A a.sub\nFINAL F a.sub\n", a__sub=text)

    scripts = {name: line.packages[0].binaries[0].script for name, line in lines(job).items()}
    retry = '"$((D0CTL_ATTEMPT - 1))"'
    status = '"$([ "$D0CTL_JOB_STATE" = successful ] && echo 0 || echo 2)"'
    assert scripts["A"] == f"/bin/echo {retry} 'try '{retry}'' 0"
    assert scripts["F"] == f"/bin/echo {retry} 'try '{retry}'' {status}"
