"""Final outputs with dispositions: `clone` warns of them, and `results` says how to get them."""

from pathlib import Path

from tests.cli.conftest import Type

TEXT = """\
job: kept
stages:
- lines:
  - for: {n: [1, 2]}
    run: echo > a-{n}.txt
    outputs: {file: "a-{n}.txt", disposition: retain-indef}
"""
ONLY = "but as it has a disposition, it is copied to results/ only with `result: yes`"


def submit(d0ctl: Type, folder: Path) -> str:
    """Submit the job; return what is said on stderr."""
    file = folder / "kept.yaml"
    file.write_text(TEXT)
    return d0ctl("submit", str(file)).stderr


def test_results_of_a_job_without_any_say_how_its_outputs_become_results(
    d0ctl: Type, tmp_path: Path
) -> None:
    warned = submit(d0ctl, tmp_path)

    answer = d0ctl("results", "kept")

    assert f"warning: no package reads `a-1.txt`, {ONLY}, and 1 more like it" in warned
    assert answer.exit_code == 3
    assert answer.stderr == (
        "d0ctl: job `kept` has no final outputs\n"
        f"  no package reads `a-1.txt`, {ONLY}, and 1 more file like it: add that to the job file, "
        "then `d0ctl update kept`\n"
        "d0ctl file list kept\n"
    )


def test_a_clone_of_a_part_whose_outputs_others_read_warns_of_them(
    d0ctl: Type, tmp_path: Path
) -> None:
    maker = TEXT.replace("- lines", "- name: gen\n  lines", 1)
    reader = "- lines: [{run: 'cat {inputs} > all', inputs: {from: gen}, outputs: all}]\n"
    (tmp_path / "read.yaml").write_text(maker + reader)
    assert "warning" not in d0ctl("submit", str(tmp_path / "read.yaml")).stderr

    cloned = d0ctl("clone", "kept/1/2", "--as", "part")

    assert f"warning: no package reads `a-2.txt`, {ONLY}\n" in cloned.stdout + cloned.stderr
    assert (
        "add that to `d0ctl export part`, then `d0ctl update part --file FILE`"
        in d0ctl("results", "part").stderr
    )
