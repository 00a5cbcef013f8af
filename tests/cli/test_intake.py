"""validate, submit, run and wait."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store import lifecycle
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.site import Site
from tests.support.waiting import wait_until

PROGRAM = Path(sys.executable).with_name("d0ctl")

GOOD = """\
job: good
parameters: {word: hello}
stages:
  - name: say
    lines:
      - for: {n: {range: [1, 2]}}
        run: "echo {parameters.word} > said-{n}"
        outputs: ["said-{n}"]
  - name: sum
    lines:
      - run: "cat said-1 said-2 > all"
        inputs: {from: say}
        outputs: [all]
"""

BAD = """\
job: bad
stags: []
stages:
  - name: say
    lines:
      - run: "echo x"
        inpts: [nothing-here]
        runtime: soon
"""


@pytest.fixture
def good(tmp_path: Path) -> str:
    """A job file without fault."""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    """A job file with faults."""
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)
    return str(path)


def test_validating_a_good_file_prints_ok_and_creates_nothing(
    d0ctl: Type, good: str, home: Home
) -> None:
    result = d0ctl("validate", good)

    assert (result.exit_code, result.stdout) == (0, "ok: 2 stages, 3 lines, 3 packages\n")
    assert document(d0ctl("validate", good, "--json").stdout)["packages"] == 3
    assert not home.root.exists()


@pytest.mark.parametrize("verb", ["validate", "submit", "run"])
def test_faults_have_line_numbers_and_nothing_is_stored(
    d0ctl: Type, bad: str, home: Home, verb: str
) -> None:
    result = d0ctl(verb, bad)

    lines = result.stderr.splitlines()
    assert result.exit_code == 2
    assert len(lines) >= 3
    assert all(line.startswith(f"{bad}:") for line in lines)
    assert not home.root.exists()


def test_a_missing_input_file_is_a_fault(d0ctl: Type, tmp_path: Path) -> None:
    result = d0ctl("validate", str(tmp_path / "none.yaml"))

    assert result.exit_code == 2
    assert "there is no such file" in result.stderr


def test_a_job_is_read_from_stdin(d0ctl: Type) -> None:
    assert d0ctl("validate", "-", input=GOOD).exit_code == 0


def test_submit_prints_the_number_of_packages(d0ctl: Type, good: str) -> None:
    result = d0ctl("submit", good, "--json")

    assert document(result.stdout) == {
        "job": "good", "packages": 3, "no_node": [], "estimated_end": None,
        "sizes": [],
    }  # fmt: skip
    assert "no daemon is running" in result.stderr
    assert document(d0ctl("status", "good", "--json").stdout)["packages"]["unscheduled"] == 3
    (node,) = document(d0ctl("node", "list", "--json").stdout)["nodes"]
    assert (node["node"], node["kind"]) == ("localhost", "local")


def test_a_name_in_use_is_refused_and_as_gives_another(d0ctl: Type, good: str) -> None:
    d0ctl("submit", good)

    refused = d0ctl("submit", good)
    again = d0ctl("submit", good, "--as", "second", "--json")

    assert refused.exit_code == 4
    assert "job `good` already exists and is submitted" in refused.stderr
    assert document(again.stdout)["job"] == "second"
    assert d0ctl("submit", good, "--as", "2nd").exit_code == 2


def test_a_dry_run_submits_nothing(d0ctl: Type, good: str, home: Home) -> None:
    result = d0ctl("submit", good, "--dry-run")

    assert result.stdout.startswith("would submit `good`: 2 stages, 3 lines, 3 packages\n")
    assert not home.root.exists()


def test_a_job_submitted_on_hold_is_held(d0ctl: Type, good: str) -> None:
    assert "d0ctl release good" in d0ctl("submit", good, "--hold").stderr
    assert document(d0ctl("status", "good", "--json").stdout)["held"]["reason"]


def test_a_parameter_is_set(d0ctl: Type, good: str) -> None:
    assert d0ctl("validate", good, "--set", "word=bye").exit_code == 0
    assert d0ctl("validate", good, "--set", "wrd=bye").exit_code == 2
    assert d0ctl("validate", good, "--set", "word").exit_code == 2


def test_wait_returns_at_once_for_an_ended_job(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")

    assert d0ctl("wait", "prod").exit_code == 1
    assert d0ctl("wait", "prod").stdout == "`prod` failed: 1 failed of 2 packages\n"
    assert d0ctl("wait", "prod").stderr == "d0ctl why prod\n"
    assert d0ctl("wait", "prod/1/1").exit_code == 0
    assert d0ctl("wait", "prod/1/2/1").exit_code == 1
    assert d0ctl("wait", "prod/1").exit_code == 1
    assert d0ctl("wait", "none").exit_code == 3


def test_wait_returns_when_only_a_person_can_help(site: Site, d0ctl: Type) -> None:
    site.submit(production("held"), hold=True)
    site.submit(production("part", lines=1))
    with site.store.writing():
        selected = site.store.select([site.id_of("part/1/1/1")])
        lifecycle.hold(selected, actor="me", note=None, now=1.0)

    held = d0ctl("wait", "held")

    assert (held.exit_code, held.stdout) == (1, "`held` is held\n")
    assert d0ctl("wait", "part").exit_code == 1


def test_run_drives_a_job_to_its_end_and_says_where_its_results_are(good: str, home: Home) -> None:
    done = subprocess.run([PROGRAM, "run", good], capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr
    assert "`good` is successful: 3 packages in" in done.stdout
    assert f"results in {home.results}/good\n  all\n" in done.stdout
    assert (home.results / "good" / "all").read_text() == "hello\nhello\n"


def test_run_of_a_job_that_fails_exits_1_and_shows_why(tmp_path: Path) -> None:
    path = tmp_path / "sad.yaml"
    path.write_text(
        "stages: [{name: a, lines: [{run: 'echo so sad >&2; exit 7', outputs: [x]}]}]\n"
    )

    done = subprocess.run([PROGRAM, "run", path], capture_output=True, text=True, timeout=120)

    assert done.returncode == 1
    assert done.stdout.count("exit-code: binary 1 (a) ended with exit code 7: so sad") == 1
    assert "actions of people" not in done.stdout and "failed last" not in done.stdout
    assert done.stdout.splitlines()[-1].strip() == "$ d0ctl logs sad-001/1/1/1"


def test_an_interrupted_run_is_resumed_by_its_name(tmp_path: Path, home: Home) -> None:
    gate = tmp_path / "gate"
    path = tmp_path / "slow.yaml"
    path.write_text(
        "job: slow\nstages: [{name: a, lines: [{run: "
        f"'touch {gate}.begun; while [ ! -e {gate} ]; do sleep 0.05; done; echo ok > x', "
        "outputs: [x]}]}]\n"
    )
    running = subprocess.Popen(
        [PROGRAM, "run", path], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_until(Path(f"{gate}.begun").exists)

    os.kill(running.pid, signal.SIGINT)
    _, talk = running.communicate(timeout=60)
    gate.touch()
    done = subprocess.run([PROGRAM, "run", "slow"], capture_output=True, text=True, timeout=120)

    assert running.returncode == 130
    # the time between the two commands was no time of the job
    assert re.search(r"`slow` is successful: 1 package, submitted \d\d:\d\d:\d\d\n", done.stdout)
    assert "`slow` continues with `d0ctl run slow` or `d0ctl daemon start`" in talk
    assert done.returncode == 0, done.stderr
    assert (home.results / "slow" / "x").read_text() == "ok\n"


def test_run_of_an_existing_job_takes_no_parameters(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert d0ctl("run", "prod", "--set", "a=b").exit_code == 2


WARNED = """\
job: warned
stages:
  - name: say
    lines:
      - {run: ./say.sh, cpu: 5, outputs: [out-1, out-2, out-3, out-4, out-5, out-6]}
"""


@pytest.fixture
def warned(tmp_path: Path) -> str:
    """A job file with seven warnings, beside its script."""
    (tmp_path / "say.sh").write_text("echo hello")
    path = tmp_path / "warned.yaml"
    path.write_text(WARNED)
    return str(path)


def test_validate_prints_warnings_and_accepts_the_file(d0ctl: Type, warned: str) -> None:
    result = d0ctl("validate", warned)

    assert (result.exit_code, result.stdout) == (0, "ok: 1 stage, 1 line, 1 package, 7 warnings\n")
    assert len(result.stderr.splitlines()) == 7
    assert f"{warned}:5:15: warning: `./say.sh` is beside the job file, but no" in result.stderr
    answer = document(d0ctl("validate", warned, "--json").stdout)
    assert answer["warnings"] == result.stderr.splitlines()


def test_validate_strict_refuses_a_file_with_warnings(d0ctl: Type, warned: str, good: str) -> None:
    assert d0ctl("validate", warned, "--strict").exit_code == 2
    assert d0ctl("validate", good, "--strict").exit_code == 0


def test_submit_prints_the_first_warnings(d0ctl: Type, warned: str) -> None:
    result = d0ctl("submit", warned, "--hold")

    assert (result.exit_code, result.stdout) == (0, "submitted `warned`: 1 package\n")
    answer = result.stderr.splitlines()
    assert [" warning: " in one for one in answer[:6]] == [True] * 5 + [False]
    assert answer[5] == f"and 2 more warnings: d0ctl validate {warned}"


@pytest.mark.parametrize(
    ("wish", "expected"),
    [("needs: NOSERVICE", "no service NOSERVICE"), ("cpus: 5000", "needs 5000")],
)
def test_validate_warns_of_packages_that_no_node_can_take(
    d0ctl: Type, site: Site, tmp_path: Path, wish: str, expected: str
) -> None:
    path = tmp_path / "unfit.yaml"
    path.write_text(f"stages: [{{name: reco, lines: [{{run: x, {wish}}}]}}]")
    result = d0ctl("validate", str(path))

    assert (result.exit_code, result.stdout) == (
        0, "ok: 1 stage, 1 line, 1 package, 1 warning\n"
    )  # fmt: skip
    assert result.stderr.startswith(
        f"{path}: warning: no node can ever take some of its packages: stage `reco`: `localhost` "
    )
    assert expected in result.stderr
    assert d0ctl("validate", str(path), "--strict").exit_code == 2


def test_only_removal_of_an_ended_job_is_suggested_to_free_a_name(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "prod.yaml"
    path.write_text("job: prod\nstages: [{lines: [{run: 'true'}]}]\n")
    site.submit(job(("a", [line(package("x"))])))

    while_it_runs = d0ctl("submit", str(path)).stderr
    site.finish("prod/1/1/1")
    when_it_has_ended = d0ctl("submit", str(path)).stderr

    assert "`--as NAME` submits another" in while_it_runs
    assert "d0ctl remove prod" not in while_it_runs
    assert "`d0ctl remove prod` makes room" in when_it_has_ended
