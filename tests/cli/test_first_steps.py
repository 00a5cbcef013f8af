"""Mistakes of a person who writes and runs a first job file, and the answers of d0ctl."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.site import Site


@pytest.mark.parametrize(
    "entry", ["outputs: [a-{n}.txt]", "outputs: {n}.txt", "inputs: [x, '{n}', {n}.txt]"]
)
def test_a_placeholder_that_needs_quotes_is_named(d0ctl: Type, tmp_path: Path, entry: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"stages:\n  - lines:\n      - for: {{n: [1, 2]}}\n        {entry}\n")

    answer = d0ctl("validate", str(file)).stderr

    assert "needs quotes" in answer and f"{file}:4:" in answer


def test_an_output_that_lacks_a_loop_name_says_which(d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        "stages:\n  - lines:\n"
        "      - for: {e: [1, 2], seed: [1, 2], cut: [5]}\n"
        "        run: echo > r-{seed}\n        outputs: r-{seed}\n"
    )

    answer = d0ctl("validate", str(file)).stderr

    assert "both make `r-1`: its name lacks `{e}` and `{cut}`" in answer


@pytest.mark.parametrize(
    ("line", "fault"),
    [("{run: cat, inputs: {from: mc/sim}}", "there is no job `mc`"),
     ("{for: {f: {from: mc/sim, by: 2}}, run: cat, inputs: '{f}'}", "there is no job `mc`"),
     ("{run: cat, inputs: {cache: localhost}}", "the cache of node `localhost` has no file")],
)  # fmt: skip
def test_a_home_that_does_not_exist_yet_has_no_other_jobs_and_files(
    d0ctl: Type, tmp_path: Path, line: str, fault: str
) -> None:
    (file := tmp_path / "a.yaml").write_text(f"stages: [{{lines: [{line}]}}]\n")

    assert fault in d0ctl("validate", str(file)).stderr


def test_a_job_that_exists_can_be_corrected(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "mc.yaml"
    file.write_text("job: mc\nstages: [{lines: [{run: 'true'}]}]\n")
    assert d0ctl("submit", str(file)).exit_code == 0

    answer = d0ctl("submit", str(file))

    assert answer.exit_code == 4
    assert "`d0ctl update mc` corrects it by its job file" in answer.stderr


@pytest.mark.parametrize("verb", ["run", "submit"])
def test_a_missing_job_file_is_asked_for_by_the_command_that_was_typed(
    d0ctl: Type, verb: str
) -> None:
    assert d0ctl(verb).stderr.endswith(f"d0ctl {verb} --array 1-200 -- ./sim.sh {{n}}\n")


def test_run_of_a_job_with_nothing_to_start_says_so(real_site: Site) -> None:
    real_site.write("job: mc\nstages: [{lines: [{run: 'exit 3'}]}]\n", "mc.yaml")
    first = real_site.d0ctl("run", real_site.jobs / "mc.yaml")

    again = real_site.d0ctl("run", "mc")

    words = "`mc` has ended: 1 failed; to continue it: d0ctl retry 'mc:failed'"
    assert (first.code, again.code) == (1, 1)
    assert words in again.err and words not in first.err


def test_run_of_a_job_with_several_failures_lists_them_before_it_says_what_to_type(
    real_site: Site,
) -> None:
    lines = "[{for: {n: [3, 7]}, run: 'exit {n}'}, {run: 'true'}]"
    stages = f"[{{name: a, lines: {lines}}}, {{name: b, lines: [{{run: 'true'}}]}}]"
    real_site.write(f"job: mc\nstages: {stages}\n", "mc.yaml")

    done = real_site.d0ctl("run", real_site.jobs / "mc.yaml")

    page = done.out.splitlines()
    assert [text for text in page if text in ("why", "stages", "failed last")] == [
        "stages", "failed last", "why",
    ]  # fmt: skip
    assert "$ d0ctl history mc" in page[-1]


def test_failures_for_the_same_cause_are_shown_once(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in range(3)])))
    for n in (1, 2, 3):
        site.fail(
            f"prod/1/{n}/1", detail=f"line {n}: no such file", stderr=f"line {n}: no such file"
        )

    answer = d0ctl("status", "prod").stdout.partition("failed last")[2]

    assert answer.count("no such file") == 1
    assert "the same, but for numbers, in prod/1/" in answer


def test_a_misspelt_final_output_is_answered_with_those_there_are(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    answer = d0ctl("results", "prod:plot.pn").stderr

    assert answer == "d0ctl: job `prod` has no final output `plot.pn`\nit has `plot.png`\n"


def test_a_package_given_to_kill_line_is_answered_with_its_line(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert d0ctl("kill-line", "prod/1/1/1").stderr.endswith("\nd0ctl kill-line prod/1/1\n")


def test_a_killed_line_is_not_a_dropped_one(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    answer = d0ctl("kill-line", "prod/1/1", "--yes").stdout

    assert "to continue without this line: d0ctl kill-line prod/1/1 --drop-outputs" in answer


def test_the_results_of_a_successful_job_are_what_to_look_at_next(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    for path in (*(f"prod/1/{n}/{m}" for n in (1, 2, 3) for m in (1, 2)), "prod/2/1/1",
                 "prod/3/1/1"):  # fmt: skip
        site.finish(path)

    assert "  $ d0ctl results prod\n" in d0ctl("status", "prod").stdout


def test_an_output_that_is_nearly_named_is_warned_of(d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("stages: [{lines: [{run: 'seq 3 > sel-1.txt', outputs: sel-1.tx}]}]\n")

    answer = d0ctl("validate", str(file)).stderr

    assert "output `sel-1.tx` is not named in `run` (did you mean `sel-1.txt`?)" in answer


def test_logs_of_many_packages_are_offered_by_their_failures(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in range(21)])))

    assert d0ctl("logs", "prod").stderr.endswith(
        "d0ctl logs prod/1/1/1, or d0ctl logs prod --failed\n"
    )


def test_acknowledged_failures_are_counted_in_the_list_of_jobs(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.fail("prod/1/1/1")
    before = d0ctl("status").stdout

    d0ctl("acknowledge", "prod:failed")

    assert "acknowledged" not in before
    assert "1 failed  1 acknowledged" in d0ctl("status").stdout


def test_a_job_with_a_file_is_corrected_and_not_submitted_again(real_site: Site) -> None:
    real_site.write("job: mc\nstages: [{lines: [{run: ./sim.sh}]}]\n", "mc.yaml")
    (real_site.jobs / "sim.sh").write_text("#!/bin/sh\n")
    real_site.d0ctl("run", real_site.jobs / "mc.yaml")

    answer = real_site.ok("why", "mc/1/1/1")

    then = "`d0ctl update mc` and `d0ctl retry 'mc:failed'`"
    assert f"add `inputs: sim.sh` to the job file, then {then}" in answer
    assert "was changed since" not in answer


def test_a_script_that_the_inputs_lack_is_to_be_added_to_them(real_site: Site) -> None:
    (real_site.jobs / "sim.sh").write_text("#!/bin/sh\n")
    (real_site.jobs / "cuts.txt").write_text("1\n")
    real_site.write(
        "job: mc\nstages: [{lines: [{run: ./sim.sh cuts.txt, inputs: cuts.txt}]}]\n", "mc.yaml"
    )

    real_site.d0ctl("run", real_site.jobs / "mc.yaml")

    why = " ".join(real_site.ok("why", "mc/1/1/1").split())
    assert "add `sim.sh` to the `inputs` in the job file, then `d0ctl update mc`" in why


def test_a_job_file_that_was_corrected_after_a_failure_is_named_with_its_update(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "mc.yaml"
    path.write_text("job: mc\nstages: [{lines: [{run: exit 3, outputs: a}]}]\n")
    d0ctl("submit", str(path))
    site.fail("mc/1/1/1", detail="exit code 3", binary=1, exit_code=3)
    same = d0ctl("why", "mc/1/1/1").stdout + d0ctl("retry", "mc", "--dry-run").stdout

    path.write_text(path.read_text().replace("exit 3", "date > a"))
    asked = [["why", "mc/1/1/1"], ["status", "mc/1/1/1"], ["retry", "mc:failed", "--dry-run"]]
    why, card, plan = (" ".join(d0ctl(*words).stdout.split()) for words in asked)

    said = "was changed since, and a retry runs the job as it was submitted: `d0ctl update mc`"
    assert "changed since" not in same
    assert f"the job file {said} and `d0ctl retry 'mc:failed'`" in why
    assert f"the job file {said}" in card
    assert f"the job file of `mc` {said} corrects it" in plan
    assert said in " ".join(d0ctl("retry", "mc:failed").stdout.split())
    d0ctl("update", "mc")
    assert "changed since" not in d0ctl("retry", "mc", "--dry-run").stdout


@pytest.mark.parametrize("verb", ["run", "submit", "validate"])
@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("sim.sh", "echo hi\n", "bash sim.sh"),
        ("sim", "#!/bin/sh\nif true; then\n  echo: hi\nfi\n", "./sim"),
        ("sim.py", "#!/usr/bin/python3\nx = 1\n", "./sim.py"),
        ("my sim.py", "x: int = 1\ny: int = x\nd = {'a': 1}\n", "python3 'my sim.py'"),
        ("fit.C", "void fit() {\n  int x = 1;\n}\n", "root -l -b -q fit.C"),
    ],
)
def test_a_script_in_place_of_a_job_file_is_answered_with_the_command_that_runs_it(
    d0ctl: Type,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    name: str,
    text: str,
    command: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)

    result = d0ctl(verb, name)

    assert (result.exit_code, result.stderr) == (
        2, f"d0ctl: `{name}` is a script, not a job file\nd0ctl run -- {command}\n",
    )  # fmt: skip


@pytest.mark.parametrize("verb", ["run", "submit", "validate"])
def test_a_script_of_slurm_in_place_of_a_job_file_is_answered_with_its_requests(
    d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("array.sh").write_text("#!/bin/sh\n#SBATCH --array=1-6\necho $SLURM_ARRAY_TASK_ID\n")

    answer = d0ctl(verb, "array.sh")

    command = "d0ctl submit --array 1-6 -- env SLURM_ARRAY_TASK_ID={n} bash array.sh"
    assert answer.exit_code == 2
    assert answer.stderr.startswith(f"d0ctl: array.sh is a script of Slurm: `{command}`")


def test_faults_of_a_job_file_that_is_run_by_its_first_line_are_listed(
    d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "mc.yaml"
    file.write_text("#!/usr/bin/env -S d0ctl run\nstages: []\n")

    result = d0ctl("run", str(file))

    assert result.exit_code == 2
    assert result.stderr.startswith(f"{file}:2:")


def test_the_files_of_late_outputs_and_of_their_groups_are_not_counted(
    tmp_path: Path, d0ctl: Type
) -> None:
    path = tmp_path / "each.yaml"
    path.write_text(
        "stages:\n"
        "  - {name: split, lines: [{run: split x, outputs: [log, {file: 'x*', late: yes}]}]}\n"
        "  - name: each\n"
        "    lines:\n"
        "      - for: {part: {from: split, match: 'x*', by: 2}}\n"
        "        run: wc {part} > n-{part.index}\n"
        "        inputs: '{part}'\n"
        "        outputs: n-{part.index}\n"
        "  - {name: all, lines: [{run: 'cat {inputs} > a', inputs: {from: each}, outputs: a}]}\n"
    )

    rows = d0ctl("validate", str(path), "--list").stdout
    graph = d0ctl("validate", str(path), "--graph").stdout

    assert "split    1 line  ->  each     1 line  files\n" in graph
    assert "makes    1 file and files that match `x*`, some of them a result\n" in rows
    assert "makes    1 file for each group\n" in rows
    assert "reads    1 file of `each` for each group\n" in rows
