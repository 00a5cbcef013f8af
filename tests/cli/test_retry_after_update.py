"""`retry --set` after the lines of the job file have moved: each package stays what it is."""

from pathlib import Path

import pytest

from d0ctl.store.views import one_package
from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.site import Site

LOOP = """
job: loop
parameters: {events: 100}
stages:
  - lines:
      - for: {model: [z, h], seed: {range: [1, 3]}}
        run: "simulate {model} {seed} {events}"
"""

FILES = LOOP.replace(
    '{events}"', '{events} > g-{model}-{seed}"\n        outputs: "g-{model}-{seed}"'
)


def script(site: Site, path: str) -> str:
    """What the only binary of a package runs."""
    return str(one_package.binaries(site.store, site.id_of(path))[0].script).strip()


def submitted(d0ctl: Type, folder: Path, text: str) -> Path:
    """Submit a job file, and return it."""
    path = folder / "loop.yaml"
    path.write_text(text)
    assert d0ctl("submit", str(path)).exit_code == 0
    return path


def updated(d0ctl: Type, path: Path, text: str) -> None:
    """Change a job file, and its job."""
    path.write_text(text)
    assert d0ctl("update", "loop").exit_code == 0


@pytest.mark.parametrize("text", [LOOP, FILES])
@pytest.mark.parametrize("seeds", ["[1, 4]", "[2, 5]"])
def test_a_retry_runs_the_same_line_after_an_update_that_moves_it(
    site: Site, d0ctl: Type, tmp_path: Path, text: str, seeds: str
) -> None:
    path = submitted(d0ctl, tmp_path, text)
    site.fail("loop/1/5/1")
    updated(d0ctl, path, text.replace("[1, 3]", seeds))

    answer = d0ctl("retry", "loop/1/5/1", "--set", "events=500")

    assert answer.exit_code == 0, answer.stderr
    assert script(site, "loop/1/5/1").startswith("simulate h 2 500")


def test_a_failed_package_that_was_changed_while_its_line_was_dropped_says_so(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = submitted(d0ctl, tmp_path, LOOP)
    site.fail("loop/1/5/1")
    d0ctl("kill-line", "loop/1/5", "--drop-outputs", "--yes")
    updated(d0ctl, path, LOOP.replace("simulate", "simulate2"))

    d0ctl("restore-line", "loop/1/5", "--yes")

    changed = " ".join(d0ctl("why", "loop/1/5/1").stdout.split())
    updated(d0ctl, path, LOOP)
    back = " ".join(d0ctl("why", "loop/1/5/1").stdout.split())
    fact, advice = "`update` changed what it runs", "a plain retry may fail again"
    assert [fact in text for text in (changed, back)] == [True, False], changed
    assert [advice in text for text in (changed, back)] == [False, True], back


def test_a_retry_runs_the_line_of_a_loop_that_an_update_has_added(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    updated(d0ctl, submitted(d0ctl, tmp_path, LOOP), LOOP.replace("[1, 3]", "[1, 4]"))
    site.fail("loop/1/7/1")
    before = script(site, "loop/1/7/1")

    d0ctl("retry", "loop/1/7/1", "--set", "events=500")

    assert before == "simulate z 4 100"
    assert script(site, "loop/1/7/1") == "simulate z 4 500"


def test_a_retry_runs_the_same_line_of_those_named_by_number(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = (
        LOOP[: LOOP.index("      - for")]
        + "      - {run: 'a {events}'}\n      - {run: 'b {events}'}\n"
    )
    path = submitted(d0ctl, tmp_path, text)
    site.fail("loop/1/2/1")
    updated(d0ctl, path, text.replace("lines:\n", "lines:\n      - {run: 'new {events}'}\n"))

    d0ctl("retry", "loop/1/2/1", "--set", "events=500")

    assert script(site, "loop/1/2/1") == "b 500"


def test_a_retry_runs_the_same_stage_after_an_update_that_moves_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = LOOP.replace("- lines:", "- name: sim\n    lines:")
    path = submitted(d0ctl, tmp_path, text)
    site.fail("loop/1/5/1")
    first = "stages:\n  - {name: first, lines: [{run: 'prepare {events}'}]}\n"
    updated(d0ctl, path, text.replace("stages:\n", first))

    d0ctl("retry", "loop/1/5/1", "--set", "events=500")

    assert script(site, "loop/1/5/1") == "simulate h 2 500"


def test_a_parameter_of_a_loop_moves_no_line(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    text = LOOP.replace("100", "100, first: 1").replace("[1, 3]", '["{first}", 3]')
    submitted(d0ctl, tmp_path, text)
    site.fail("loop/1/5/1")

    kept = d0ctl("retry", "loop/1/5/1", "--set", "first=2", "--set", "events=500")
    gone = d0ctl("retry", "loop/1/5/1", "--set", "first=3", "--set", "events=500")

    assert "no binary of `loop/1/5/1` depends on `first`" in kept.stderr
    assert "another job: it has no package `loop/1/5/1`" in gone.stderr


def test_a_line_that_a_parameter_names_is_the_same_with_another_value(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = LOOP.replace("{model: [z, h], seed: {range: [1, 3]}}", '{n: ["{events}", 7]}')
    submitted(d0ctl, tmp_path, text.replace("{model} {seed}", "{n}"))
    site.fail("loop/1/1/1")

    d0ctl("retry", "loop/1/1/1", "--set", "events=500")

    assert script(site, "loop/1/1/1") == "simulate 500 500"


def test_new_files_of_a_pattern_move_no_line(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    (tmp_path / "m.raw").touch()
    text = LOOP[: LOOP.index("      - for")] + (
        '      - {for: {raw: {glob: "*.raw"}}, run: "reco {raw} {events}", inputs: "{raw}"}\n'
        '  - {lines: [{run: "merge {inputs} {events}", inputs: {glob: "*.raw"}}]}\n'
    )
    submitted(d0ctl, tmp_path, text)
    site.fail("loop/1/1/1")
    site.fail("loop/2/1/1")
    (tmp_path / "a.raw").touch()

    one = d0ctl("retry", "loop/1/1/1", "--set", "events=500")
    merged = d0ctl("retry", "loop/2/1/1", "--set", "events=500")

    assert one.exit_code == 0, one.stderr
    assert "m.raw 500" in script(site, "loop/1/1/1")
    assert "`loop/2/1/1` would read or make other files now, with any parameters" in merged.stderr
    assert "d0ctl update loop --dry-run" in merged.stderr


def test_a_package_that_the_job_file_lacks_keeps_its_parameters(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = submitted(d0ctl, tmp_path, LOOP)
    site.launch("loop/1/1/1")
    updated(d0ctl, path, LOOP.replace("[1, 3]", "[2, 4]"))
    site.end("loop/1/1/1", "failed", reason="exit-code", detail="ended", exit_code=3, binary=1)

    refused = d0ctl("retry", "loop/1/1/1", "--set", "events=500")

    assert refused.exit_code == 4
    assert "`loop/1/1/1` is not in the job file of `loop` as it is read now" in refused.stderr
    assert "d0ctl retry loop/1/1/1" in refused.stderr
    assert d0ctl("retry", "loop/1/1/1").exit_code == 0


def test_parameters_are_not_those_of_two_jobs(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    path = submitted(d0ctl, tmp_path, LOOP)
    d0ctl("submit", str(path), "--as", "other")
    site.fail("loop/1/1/1")
    site.fail("other/1/2/1")

    refused = d0ctl("retry", "loop:failed", "other:failed", "--set", "events=500")

    assert refused.exit_code == 2 and "names several jobs" in refused.stderr
    assert script(site, "other/1/2/1") == "simulate z 2 100"


LIMITED = "job: mc\nstages: [{lines: [{run: go 9, memory: 1GB}, {run: go 9, wall-time: 1s}]}]\n"


def failed_at_limits(site: Site, d0ctl: Type, folder: Path, text: str = LIMITED) -> Path:
    """A job whose packages ran out of memory and of time, and its file."""
    (path := folder / "mc.yaml").write_text(text)
    assert d0ctl("submit", str(path)).exit_code == 0
    site.up()
    site.fail("mc/1/1/1", reason="out-of-memory", rss=2 * 10**9)
    site.fail("mc/1/2/1", reason="wall-time", detail="ran longer than its wall time of 1.0 s")
    return path


def test_what_ended_at_a_limit_is_retried_once_an_update_has_changed_what_it_runs(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = failed_at_limits(site, d0ctl, tmp_path)
    path.write_text(LIMITED.replace("go 9", "go 1"))
    d0ctl("update", "mc")

    why = [d0ctl("why", f"mc/1/{line}/1").stdout for line in (1, 2)]
    result = d0ctl("retry", "mc:failed")

    assert result.stdout.startswith("retried 2 packages"), result.stderr
    assert "its peak was 2.0 GB of memory" in " ".join(why[0].split())
    assert [f"$ d0ctl retry mc/1/{line}/1\n" in why[line - 1] for line in (1, 2)] == [True, True]


def test_what_ended_at_a_limit_is_not_retried_once_an_update_was_undone(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = failed_at_limits(site, d0ctl, tmp_path)
    path.write_text(LIMITED.replace("go 9", "go 1"))
    d0ctl("update", "mc")
    d0ctl("update", "mc", "--previous")

    assert "would get no more" in d0ctl("retry", "mc:failed").stderr


def test_what_ended_at_a_limit_is_retried_with_other_parameters(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = LIMITED.replace("go 9", "'go {n}'").replace("stages", "parameters: {n: 9}\nstages")
    failed_at_limits(site, d0ctl, tmp_path, text)

    refused = d0ctl("retry", "mc:failed")
    result = d0ctl("retry", "mc:failed", "--set", "n=1")

    assert "would get no more" in refused.stderr
    assert result.stdout.startswith("retried 2 packages"), result.stderr


@pytest.mark.parametrize(
    ("memory", "wall_time", "options"),
    [(", memory: 3GB", ", wall-time: 1m", (" --memory 3GB", " --wall-time 1m")),
     ("", "", ("", ""))],
)  # fmt: skip
def test_why_advises_the_limits_that_an_update_has_raised(
    site: Site, d0ctl: Type, tmp_path: Path, memory: str, wall_time: str, options: tuple[str, str]
) -> None:
    path = failed_at_limits(site, d0ctl, tmp_path)
    path.write_text(LIMITED.replace(", memory: 1GB", memory).replace(", wall-time: 1s", wall_time))
    d0ctl("update", "mc")

    advised = [suggested(d0ctl, "why", f"mc/1/{line}/1") for line in (1, 2)]

    assert f"d0ctl retry mc/1/1/1{options[0]}" in advised[0]
    assert f"d0ctl retry mc/1/2/1{options[1]}" in advised[1]
    assert d0ctl("retry", "mc:failed").stdout.startswith("retried 2 packages")


def test_a_rule_that_an_update_changed_after_the_failure_is_said_to_be_newer(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{lines: [{run: go}]}]\n"
    (file := tmp_path / "mc.yaml").write_text(text)
    d0ctl("submit", str(file))
    site.fail("mc/1/1/1")
    file.write_text(f"policy: {{exit-code: {{tries: 1}}}}\n{text}")
    later = "after this failure: a rule that it changed did not count yet"
    before = d0ctl("why", "mc/1/1/1").stdout

    d0ctl("update", "mc")

    after = " ".join(d0ctl("why", "mc/1/1/1").stdout.split())
    assert later not in before and "- job `mc` was updated at " in after and later in after
    d0ctl("retry", "mc/1/1/1")
    site.fail("mc/1/1/1")
    site.fail("mc/1/1/1")
    assert later not in d0ctl("why", "mc/1/1/1").stdout


def test_an_update_says_that_a_package_which_runs_then_is_to_be_updated_again(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = submitted(d0ctl, tmp_path, LOOP)
    site.launch("loop/1/1/1")
    path.write_text(LOOP.replace("simulate", "simulate --new"))
    again = "a retry would run the same as now; once it has ended, update again: d0ctl update loop"

    for words in (["update", "loop", "--dry-run"], ["update", "loop"]):
        assert f"{again}\n" in d0ctl(*words).stdout
    site.end("loop/1/1/1", "failed", reason="exit-code")
    d0ctl("update", "loop")

    assert script(site, "loop/1/1/1").startswith("simulate --new")
