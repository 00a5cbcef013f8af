"""`why` says which command or file was missing and what to do about it."""

from pathlib import Path

import pytest

from d0ctl import Job
from tests.support.jobs import binary, job, package
from tests.support.site import Site


def why(real_site: Site, script: str, *inputs: str, shell: str = "bash") -> str:
    """What `why` says of a package that ran this script on a node, once, and failed."""
    one = package(binary(script, inputs, shell=shell))
    policy = {"software-missing": {"tries": 0}}
    real_site.drive(
        real_site.submit(job("one", [one], directory=str(real_site.folder), policy=policy))
    )
    return real_site.ok("why", "one/1/1/1")


def write(path: Path, first_line: str = "#!/bin/sh", mode: int = 0o755) -> Path:
    """Write a script."""
    path.write_text(f"{first_line}\nexit 0\n")
    path.chmod(mode)
    return path


SHELLS = pytest.mark.parametrize("shell", ["bash", "sh"])


@SHELLS
def test_a_script_beside_the_job_file_that_is_no_input_is_named(
    real_site: Site, shell: str
) -> None:
    write(real_site.folder / "sim.sh")

    answer = why(real_site, "./sim.sh", shell=shell)

    assert "`sim.sh` is beside the job file but is not an input, so it is not on the node" in answer
    assert "add `inputs: sim.sh` to the job file, then `d0ctl run FILE --as NAME`" in answer
    assert "  $ d0ctl retry" not in answer


@SHELLS
def test_a_command_that_is_not_on_the_path_is_named_with_its_node(
    real_site: Site, shell: str
) -> None:
    answer = why(real_site, "geant9 --run 1", shell=shell)

    assert "`geant9` is not on the PATH of node `localhost`" in answer


@SHELLS
def test_a_script_without_its_exec_bit_comes_with_chmod(real_site: Site, shell: str) -> None:
    script = write(real_site.folder / "sim.sh", mode=0o644)

    answer = why(real_site, "./sim.sh", f"{script}", shell=shell)

    assert f"`./sim.sh` is not executable: chmod +x {script}" in answer


def test_the_path_in_an_advice_has_quotes_if_it_needs_them(real_site: Site) -> None:
    script = write(real_site.folder / "my sim.sh", mode=0o644)

    answer = why(real_site, "'./my sim.sh'", f"{script}")

    assert f"`./my sim.sh` is not executable: chmod +x '{script}'" in answer


def test_a_script_that_is_run_without_a_shell_and_is_not_executable_comes_with_chmod(
    real_site: Site,
) -> None:
    script = write(real_site.jobs / "sim.sh", mode=0o644)
    assert real_site.d0ctl("run", "--as", "one", "--input", "sim.sh", "--", "./sim.sh").code == 1

    assert f"`./sim.sh` is not executable: chmod +x {script}" in real_site.ok("why", "one")
    script.chmod(0o755)
    assert f"`./sim.sh` was not executable, but {script} is by now" in real_site.ok("why", "one")


def test_a_script_that_is_executable_by_now_may_be_retried(real_site: Site) -> None:
    script = write(real_site.folder / "sim.sh", mode=0o644)
    why(real_site, "./sim.sh", f"{script}")
    script.chmod(0o755)

    answer = real_site.ok("why", "one/1/1/1")

    assert f"`./sim.sh` was not executable, but {script} is by now" in answer
    assert "  $ d0ctl retry one/1/1/1" in answer
    assert "fail again" not in answer


@SHELLS
def test_an_absolute_path_that_is_not_there_says_on_which_node(real_site: Site, shell: str) -> None:
    answer = why(real_site, "/opt/no-such-reco/bin/reco", shell=shell)

    assert "`/opt/no-such-reco/bin/reco` does not exist on node `localhost`" in answer


def test_an_input_whose_interpreter_is_missing_says_so(real_site: Site) -> None:
    script = write(real_site.folder / "sim.sh", "#!/opt/no-such-reco/bin/python")

    answer = why(real_site, "./sim.sh", f"{script}")

    assert "`sim.sh` is an input, so the program on its first line (`#!`) is missing" in answer


@pytest.mark.parametrize("first_line", ["#!/bin/sh", "#!/usr/bin/env python3"])
@SHELLS
def test_a_script_with_windows_line_ends_comes_with_the_command_that_converts_it(
    real_site: Site, shell: str, first_line: str
) -> None:
    script = write(real_site.folder / "sim.sh", f"{first_line}\r")

    answer = why(real_site, "./sim.sh", f"{script}", shell=shell)

    assert "`sim.sh` has Windows line ends (`\\r\\n`)" in answer
    assert f"sed -i 's/\\r$//' {script}" in answer
    assert "is missing on node" not in answer


def test_a_script_with_windows_line_ends_that_a_shell_reads_is_named(real_site: Site) -> None:
    script = write(real_site.folder / "sim.sh", "for i in 1 2; do\r")

    answer = why(real_site, "bash sim.sh || exit 3", f"{script}")

    assert "`sim.sh` has Windows line ends" in answer


def test_a_script_that_was_converted_may_be_retried(real_site: Site) -> None:
    script = write(real_site.folder / "sim.sh", "#!/bin/sh\r")
    why(real_site, "./sim.sh", f"{script}")
    write(script)

    answer = real_site.ok("why", "one/1/1/1")
    real_site.ok("retry", "one/1/1/1")
    real_site.drive("one")

    assert f"`./sim.sh` could not run, but {script} was changed since" in answer
    assert "  $ d0ctl retry one/1/1/1" in answer
    assert real_site.phase("one/1/1/1") == "done"


def test_a_file_with_windows_line_ends_is_not_blamed_for_another_failure(real_site: Site) -> None:
    script = write(real_site.folder / "sim.sh", "#!/bin/sh\r")

    answer = why(real_site, "cat sim.sh >&2; geant9", f"{script}")

    assert "`geant9` is not on the PATH" in answer
    assert "Windows" not in answer


def test_a_list_of_names_with_windows_line_ends_is_suspected(real_site: Site) -> None:
    answer = why(real_site, "cat $'no-such-file\\r'")

    assert "a script or a list of names has Windows line ends" in answer


def test_a_script_that_is_called_without_its_folder_is_not_retried(real_site: Site) -> None:
    write(real_site.jobs / "sim.sh")
    assert real_site.d0ctl("run", "--as", "one", "--", "sim.sh", "3").code == 1

    answer = real_site.ok("why", "one/1/1/1")

    assert "the PATH, which lacks the working directory: write `./sim.sh` for the input" in answer
    assert "  $ d0ctl retry" not in answer


def test_the_shell_message_is_not_printed_twice(real_site: Site) -> None:
    answer = why(real_site, "echo boom >&2; exit 3")

    assert "exit code 3" in answer
    assert answer.count("boom") == 1


NOT_FOUND = (
    "cat cuts.dat",
    "python3 -c 'open(\"cuts.dat\")'",
    "python3 cuts.dat",
    "cp cuts.dat copy.dat",
    "bash cuts.dat",
    "exec ./cuts.dat",
    "echo 'reco: cannot open cuts.dat' >&2; exit 1",
    "echo 'Error in <TFile::TFile>: file cuts.dat does not exist' >&2; exit 1",
)


@pytest.mark.parametrize("script", NOT_FOUND)
def test_a_file_beside_the_job_file_that_a_program_did_not_find_is_named(
    real_site: Site, script: str
) -> None:
    (real_site.folder / "cuts.dat").write_text("pt 20\n")

    answer = why(real_site, script)

    assert "`cuts.dat` is beside the job file but is not an input" in answer
    assert "add `inputs: cuts.dat` to the job file" in answer
    assert "  $ d0ctl retry" not in answer


def test_a_python_module_beside_the_job_file_that_is_no_input_is_named(real_site: Site) -> None:
    (real_site.folder / "mylib.py").touch()

    answer = why(real_site, "python3 -c 'import mylib'")

    assert "`mylib.py` is beside the job file but is not an input" in answer
    assert "add `inputs: mylib.py` to the job file" in answer
    assert "  $ d0ctl retry" not in answer


def test_the_corrected_job_file_is_taken_before_the_retry(real_site: Site) -> None:
    (real_site.jobs / "cuts.dat").write_text("pt 20\n")
    text = "job: one\nstages: [{lines: [{run: cat cuts.dat}]}]"
    real_site.d0ctl("run", real_site.write(text))

    commands = real_site.json("why", "one/1/1/1")["commands"]

    first = commands.index("d0ctl update one   # once the job file is corrected")
    assert commands[first + 1] == "d0ctl retry one/1/1/1"


def test_a_file_that_is_an_input_or_not_beside_the_job_file_is_not_blamed(real_site: Site) -> None:
    (real_site.folder / "cuts.dat").write_text("pt 20\n")

    answer = why(real_site, "cat other.dat; cd /; cat cuts.dat", f"{real_site.folder / 'cuts.dat'}")

    assert "is beside the job file" not in answer
    assert "fix the cause, then `d0ctl retry one/1/1/1`" in answer


@pytest.mark.parametrize(("name", "option"), [((), ""), (("--as", "one"), " and another `--as`")])
def test_a_command_is_run_again_with_the_file_as_input(
    real_site: Site, name: tuple[str, ...], option: str
) -> None:
    (real_site.jobs / "cuts.txt").write_text("1 50\n")

    answer = real_site.d0ctl("run", *name, "--array", "1-2", "--", "cat cuts.txt; exit 3 # {n}").out

    fact = "`cuts.txt` is in the folder of the command but is not an input, so it is not on the"
    assert f"{fact} node: run the command again with `--input cuts.txt`{option}\n" in answer
    assert "job file" not in answer


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("cd . && sim.sh", "write `./sim.sh` for the input, then run it again"),
        ("cd . && geant9", "ship it as an input (`./geant9 ...` as the command)"),
        ("cd . && lib/reco", "`lib/reco` is neither an input nor in the folder of the command: run "
         "the command again with `--input FILE`"),
        ("f=fit; ./$f.sh", "run the command again with `--input fit.sh`"),
        ("cd . && python3 -c 'import mylib'", "run the command again with `--input mylib.py`"),
    ],
)  # fmt: skip
def test_hints_for_a_command_name_no_job_file(real_site: Site, command: str, advice: str) -> None:
    write(real_site.jobs / "sim.sh")
    write(real_site.jobs / "fit.sh")
    (real_site.jobs / "mylib.py").touch()
    inputs = ("--input", "sim.sh") if "sim.sh" in command else ()

    answer = real_site.d0ctl("run", *inputs, "--", command).out

    assert advice in answer
    assert "job file" not in answer


def test_a_job_from_python_is_corrected_in_its_program(
    real_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(real_site.jobs)
    (real_site.jobs / "cuts.txt").write_text("1 50\n")
    one = Job(job="one")
    one.stage("cut").line(run="cat cuts.txt; exit 3")
    with pytest.warns(UserWarning, match="not an input"):
        one.submit(home=real_site.home.root)
    real_site.drive("one")

    answer = real_site.ok("why", "one/1/1/1")

    assert "`cuts.txt` is in the folder of the job but is not an input" in answer
    remedy = "add `inputs: cuts.txt` to the program that submitted it, then `update` the job there"
    assert f"{remedy} and `d0ctl retry 'one:failed'`, or submit it under another name" in answer


@SHELLS
@pytest.mark.parametrize("script", ["‘date’", "“date” > now", "‘date > now’"])
def test_quotes_that_a_shell_does_not_know_are_named(
    real_site: Site, shell: str, script: str
) -> None:
    answer = why(real_site, script, shell=shell)

    name = script.split()[0]
    assert f"is no quote for the shell, but a part of the name `{name}`: write a straight" in answer
    assert "not on the PATH" not in answer
