"""Scripts of Slurm: the command that submits them with the same requests."""

from pathlib import Path

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.importers import formats

ARRAY = """\
#!/bin/bash
#SBATCH --job-name=sim
#SBATCH --array=1-20%5
#SBATCH -c 2 --mem=500M
#SBATCH --time=00:10:00   # ten minutes
#SBATCH --output=log-%a.txt
#SBATCH --partition=long
#SBATCH -p short
# reads old.txt
python3 sim.py $SLURM_ARRAY_TASK_ID
"""


def refusal(path: Path) -> str:
    """Why a script can't be imported, with what to type instead."""
    with pytest.raises(BadJobFile) as raised:
        formats.read(path)
    return raised.value.faults[0]


def test_the_command_for_a_script_of_slurm_has_its_requests(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text(ARRAY)
    (tmp_path / "sim.py").write_text("")
    (tmp_path / "old.txt").write_text("")

    assert refusal(script) == (
        "job.sh is a script of Slurm: `d0ctl submit --as sim --array 1-20%5 --cpus 2 --memory "
        "500MiB --wall-time 10m --input sim.py -- env SLURM_ARRAY_TASK_ID={n} bash job.sh` (more "
        'under "Slurm scripts" in docs/comparison.md); not translated: --partition=long, -p short'
    )


def test_a_script_that_goes_to_its_folder_and_writes_a_file_per_number_does_so_here(
    tmp_path: Path,
) -> None:
    script = tmp_path / "job.sh"
    script.write_text(
        "#!/bin/bash\n#SBATCH --array=1-12%4\ncd $SLURM_SUBMIT_DIR\n"
        "date > hist-${SLURM_ARRAY_TASK_ID}.txt 2>err-$OTHER-$SLURM_ARRAY_TASK_ID\n"
    )

    assert (
        "--array 1-12%4 --output 'hist-{n}.txt' -- env SLURM_ARRAY_TASK_ID={n} SLURM_SUBMIT_DIR=. "
        "bash job.sh`"
    ) in refusal(script)


def test_variables_that_slurm_sets_are_set_or_named(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text(
        "#!/bin/bash\n#SBATCH -c 2 -J 'fit'\n# $SLURM_ARRAY_JOB_ID\n"
        "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\necho $SLURM_JOB_ID $SLURM_JOB_NAME\n"
    )

    said = refusal(script)

    assert " env SLURM_CPUS_PER_TASK=2 SLURM_JOB_NAME=" in said
    assert said.endswith("; not translated: $SLURM_JOB_ID"), said


@pytest.mark.parametrize(
    ("command", "is_named"),
    [
        ("srun python3 sim.py", True),
        ("cd x && srun -n 1 ./sim", True),
        ("time srun ./sim", True),
        ("echo srun is not needed", False),
        ("# srun ./sim", False),
    ],
)
def test_srun_is_named_as_a_node_may_not_have_it(
    tmp_path: Path, command: str, is_named: bool
) -> None:
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/bash\n#SBATCH -c 2\n{command}\n")

    said = "; not translated: srun (delete it and its options in the script)"
    assert refusal(script).endswith(said) is is_named


@pytest.mark.parametrize(
    ("written", "output"),
    [
        ("fit_$m.txt",
         "--output 'out-{n}/fit_*.txt' -- 'env {env}bash job.sh && mv fit_*.txt out-{n}/'"),
        ("o/fit_${masses[$SLURM_ARRAY_TASK_ID]}",
         "--output 'out-{n}/fit_*' -- 'env {env}bash job.sh && mv o/fit_* out-{n}/'"),
        ("'$m-$SLURM_ARRAY_TASK_ID'", "--output '*-{n}' -- env {env}bash job.sh"),
        ("$SLURM_SUBMIT_DIR/h-${SLURM_ARRAY_TASK_ID}",
         "--output 'h-{n}' -- env {env}SLURM_SUBMIT_DIR=. bash job.sh"),
        ("/tmp/x-$m", "-- env {env}bash job.sh"),
    ],
)  # fmt: skip
def test_files_whose_names_an_array_computes_are_kept(
    tmp_path: Path, written: str, output: str
) -> None:
    script = tmp_path / "job.sh"
    script.write_text(
        "#!/bin/bash\n#SBATCH --array=0-5\n# date > not_$m\n"
        f"m=${{masses[$SLURM_ARRAY_TASK_ID]}}\ndate > {written}\n"
    )

    command = refusal(script).split("`")[1]

    assert command == "d0ctl submit --array 0-5 " + output.replace(
        "{env}", "SLURM_ARRAY_TASK_ID={n} "
    )


def test_a_single_script_keeps_the_files_whose_names_it_computes(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\n#SBATCH -c 1\ndate > fit_$m.txt\n")

    assert "`d0ctl submit --cpus 1 --output 'fit_*.txt' -- bash job.sh`" in refusal(script)


@pytest.mark.parametrize("written", ["$OUT", "${dir}/fit_$m.txt", "$m.txt", "o$m"])
def test_a_file_that_can_not_be_named_is_said_to_be_lost(tmp_path: Path, written: str) -> None:
    script = tmp_path / "job.sh"
    (tmp_path / "in.txt").write_text("")
    script.write_text(
        f"#!/bin/bash\n#SBATCH --array=1-2\n[[ $a > $b ]] && cat in.txt > {written}\n"
    )

    answer = refusal(script)

    assert "--output" not in answer.split("`")[1]
    assert answer.endswith(
        f"; `{written}` would be lost: write a name such as `out-$SLURM_ARRAY_TASK_ID.txt` there, "
        "and add `--output 'out-{n}.txt'`"
    )


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--time=90", "--wall-time 1h30m "),
        ("-t 1-2", "--wall-time 1d2h "),
        ("-t10:30", "--wall-time 10m30s "),
        ("--mem=4G", "--memory 4GiB "),
        ("--mem 2000", "--memory 2000MiB "),
        ("--gres=gpu:a100:2", "--gpus 2 "),
        ("--nodes=1 --ntasks=1", ""),
    ],
)
def test_values_are_written_as_d0ctl_writes_them(tmp_path: Path, line: str, options: str) -> None:
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\n#SBATCH {line}\ndate\n")
    script.chmod(0o755)

    assert refusal(script) == (
        f"job.sh is a script of Slurm: `d0ctl submit {options}-- ./job.sh` "
        '(more under "Slurm scripts" in docs/comparison.md)'
    )
