"""Jobs that are built in Python: keys, faults, submission."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from d0ctl import BadJobFile, Job, jobs
from d0ctl.errors import DatabaseUnavailable, NotFound, Refused
from d0ctl.jobfile.reader import read_text


def one_line(name: str = "one", **keys: Any) -> Job:
    """A job of one line."""
    job = Job(name)
    job.stage().line(**{"run": "true", **keys})
    return job


def test_warnings_of_a_job_are_python_warnings(folder: Path) -> None:
    (folder / "fit.py").write_text("#!/usr/bin/env python3\n")
    job = one_line(run="./fit.py > fit.txt", inputs="fit.py", outputs="fit.txt")
    text = "stages[0].lines[0].run: `./fit.py` is not executable: chmod +x fit.py"

    with pytest.warns(UserWarning, match="is not executable") as seen:
        job.preview()
        job.submit()

    assert list(job.check().warnings) == [text]
    assert [(str(one.message), one.filename) for one in seen] == [(text, __file__)] * 2


def test_job_file_keys_take_python_values(folder: Path) -> None:
    (folder / "a.raw").touch()
    job = one_line(
        for_={"raw": [Path("a.raw")]}, wall_time=timedelta(hours=1, minutes=30), inputs="{raw}",
        early_start=False, exclude_nodes=(), environment={"N": 3}, needs=["SAM"],
    )  # fmt: skip

    package = next(iter(job.check().stages[0].lines)).packages[0]

    assert package.wall_time == 5400
    assert package.environment == {"N": "3"}
    assert package.binaries[0].needs == ("SAM",)
    assert package.binaries[0].inputs[0].file == str(folder / "a.raw")


def test_the_text_of_a_job_is_an_equivalent_job_file() -> None:
    job = one_line(for_={"n": {"range": [1, 3]}}, run="echo {n}", memory="2GB", title_="no: 1 # x")
    del job.keys["stages"][0]["lines"][0]["title"]
    job.set(title="no: 1 # x")

    read, checked = read_text(job.text), job.check()

    assert (read.title, read.packages) == (checked.title, checked.packages) == ("no: 1 # x", 3)
    assert [list(stage.lines) for stage in read.stages] == [
        list(stage.lines) for stage in checked.stages
    ]


def test_parts_are_shown_by_their_names() -> None:
    job = Job("count")
    stage = job.stage("make")

    assert repr([job, stage, stage.line(run="x"), Job()]) == (
        "[Job('count'), Stage('make'), Line(), Job()]"
    )


def test_a_submitted_job_is_corrected_by_another(folder: Path) -> None:
    job = one_line(for_={"n": [1, 2]}, run="echo {n}")
    job.submit()
    job.keys["stages"][0]["lines"][0]["for"] = {"n": [1, 2, 3]}

    plan = job.update(dry_run=True)
    assert ("1 package added: 1 new" in str(plan), len(jobs("one"))) == (True, 2)
    done = job.update(reason="one more")

    assert (len(jobs("one")), done.undo) == (3, "d0ctl update one --previous")
    with pytest.raises(NotFound):
        one_line("other").update()
    with pytest.raises(BadJobFile):
        one_line(cpus=0).update()


def test_all_faults_are_raised_together_with_their_positions() -> None:
    job = one_line(cpus=0)
    chain = job.stage("chain").line().package(memory="4 GX")
    chain.binary("first", run="a {inputs.lst}", inputs=[{"fil": "x"}])
    job.set(priority=101)

    with pytest.raises(BadJobFile) as caught:
        job.check()

    assert [fault.partition(": ")[0] for fault in caught.value.faults] == [
        "priority",
        "stages[0].lines[0].cpus",
        "stages[1].lines[0].packages[0].memory",
        "stages[1].lines[0].packages[0].binaries[0].run",
        "stages[1].lines[0].packages[0].binaries[0].inputs[0].fil",
        "stages[1].lines[0].packages[0].binaries[0].inputs[0]",
    ]


def test_a_job_with_a_fault_leaves_the_database_as_it_was() -> None:
    with pytest.raises(BadJobFile):
        one_line(cpus=0).submit()

    assert jobs().names == []


def test_a_second_job_of_the_same_name_is_refused() -> None:
    one_line().submit(hold=True)

    with pytest.raises(Refused, match="job `one` already exists"):
        one_line().submit()
    assert one_line().submit("two", hold=True).status == "held"
    assert sorted(jobs().names) == ["one", "two"]


def test_a_copy_changes_nothing_of_its_model() -> None:
    model = one_line(environment={"A": "1"})

    copy = model.copy("other", priority=7)
    copy.stage("more").line(run="true")
    copy.keys["stages"][0]["lines"][0]["environment"]["A"] = "2"

    assert (model.check().packages, copy.check().packages) == (1, 2)
    assert model.keys["stages"][0]["lines"][0]["environment"] == {"A": "1"}
    assert copy.check().priority == 7


def test_only_the_first_job_creates_a_home(tmp_path: Path) -> None:
    home = tmp_path / "other"

    with pytest.raises(DatabaseUnavailable):
        len(jobs(home=home))
    one_line().check(home=home)
    assert not home.exists()
    one_line().submit(hold=True, home=home)
    assert jobs(home=home).names == ["one"]


def test_a_python_job_can_be_cloned_with_other_parameters() -> None:
    job = Job("first", parameters={"energy": 7})
    job.stage().line(run="gen {energy}", name="at-{energy}")

    second = job.submit(hold=True).clone("second", parameters={"energy": 13}, hold=True)

    assert second.names == ["second"]
    assert "at-13" in second.stage(1).line(1).show()


def test_an_unknown_job_name_raises_not_found() -> None:
    one_line("reco001").submit(hold=True)

    with pytest.raises(NotFound, match="there is no job `reco01`"):
        len(jobs("reco01"))


def test_importing_d0ctl_imports_none_of_its_modules() -> None:
    script = (
        "import sys, d0ctl\n"
        "assert not [name for name in sys.modules if name.startswith(('d0ctl.', 'typing'))]\n"
        "assert 'Job' in dir(d0ctl) and d0ctl.Job.__name__ == 'Job'\n"
        "slow = {'typer', 'textual', 'fabric', 'paramiko', 'watchdog', 'pydantic', 'yaml'}\n"
        "d0ctl.jobs\n"
        "sys.exit(' '.join(slow & set(sys.modules)) or None)\n"
    )

    subprocess.run([sys.executable, "-c", script], check=True)


def test_programs_that_use_the_api_pass_type_checks(tmp_path: Path) -> None:
    good = "from d0ctl import Job, jobs\n\njob = Job('a', priority=3)\n"
    (tmp_path / "good.py").write_text(
        good + "job.stage('s').line(run='x')\n"
        "done = jobs('a').packages(status='failed').retry(memory='4GB')\n"
        "names: list[str] = [package.path for package in job.submit()]\n"
        "undo: str | None = done.undo\n"
    )
    (tmp_path / "bad.py").write_text(good + "jobs('a').retry(memoy='4GB')\nfrom d0ctl import Jop\n")
    words = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "good.py", "bad.py"]

    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True,
                           env=os.environ | {"MYPY_CACHE_DIR": str(tmp_path)})  # fmt: skip

    assert {line.partition(":")[0] for line in found.stdout.splitlines()[:-1]} == {"bad.py"}
    assert 'Unexpected keyword argument "memoy"' in found.stdout
    assert 'has no attribute "Jop"' in found.stdout
