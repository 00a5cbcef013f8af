"""How people are led to the lines that they want to restore."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


def test_a_retry_of_a_dropped_package_is_led_to_a_restore_that_is_not_refused(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    site.fail("prod/1/2/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.finish("prod/2/1/1")

    hint = d0ctl("retry", "prod/1/2/1").stderr.splitlines()[1]

    assert hint == "d0ctl restore-line prod/1/2 --again"
    assert d0ctl(*hint.split()[1:]).exit_code == 0


def test_a_stage_or_job_to_restore_is_led_to_its_lines(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill-line", "prod/1/1-2", "--drop-outputs")

    hints = [d0ctl("restore-line", target).stderr.splitlines()[1] for target in ("prod/1", "prod")]

    assert hints == ["d0ctl restore-line 'prod/1/*'", "d0ctl restore-line 'prod/*/*'"]
    assert d0ctl("restore-line", "prod/*/*").exit_code == 0
    assert "a line reads" in d0ctl("kill-line", "prod/1").stderr


def test_restored_packages_that_would_run_out_of_memory_again_are_led_to_what_helps(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package(name, memory=300_000_000)) for name in "xyz"])))
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1", reason="out-of-memory", rss=403_000_000)
    for target in ("prod/1/1", "prod/1/2"):
        d0ctl("kill-line", target, "--drop-outputs")

    alone = d0ctl("restore-line", "prod/1/2", "--dry-run").stdout
    both = d0ctl("restore-line", "prod/1/1-2").stdout

    helps = "would run out of memory or time again: `d0ctl why prod/1/2/1` says what helps"
    assert alone.splitlines()[-2:] == [
        "1 package that had failed or was canceled before the drop is so again",
        f"it {helps}",
    ]
    assert both.splitlines()[-2:] == [
        "2 packages that had failed or were canceled before the drop are so again: "
        "`d0ctl retry 'prod/1/1-2/*:failed,canceled'` runs 1 of them",
        f"1 of them {helps}",
    ]
    assert "d0ctl retry prod/1/2/1 --memory 700MB" in suggested(d0ctl, "why", "prod/1/2/1")


SEEDS = """\
job: q
stages:
  - name: gen
    lines:
      - for: {seed: [1, 2, 3]}
        run: "./g {seed}"
        outputs: "g-{seed}.txt"
  - name: select
    lines:
      - for: {seed: [1, 2, 3]}
        run: "true"
        inputs: "g-{seed}.txt"
        outputs: "s-{seed}.txt"
  - lines:
      - run: "cat {inputs} > all.txt"
        inputs: {from: select}
        outputs: all.txt
"""


@pytest.mark.parametrize("is_restored", [False, True])
def test_a_line_that_an_update_removed_is_led_back_into_the_job_file(
    site: Site, d0ctl: Type, tmp_path: Path, is_restored: bool
) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(SEEDS)
    d0ctl("submit", str(path))
    for name in ("1/1/1", "1/3/1", "2/1/1", "2/3/1"):
        site.finish(f"q/{name}")
    site.fail("q/1/2/1")
    path.write_text(SEEDS.replace("[1, 2, 3]", "[1, 3]"))
    d0ctl("update", "q")
    site.finish("q/3/1/1")

    plan = d0ctl("restore-line", "q/1/2", "--dry-run").stdout
    retried = d0ctl("retry", "q/2/2/1").stderr.splitlines()
    advised = suggested(d0ctl, "why", "q/1/2/1")

    assert (
        "the job file does not have `q/1/2`, so `from` leaves these files out: "
        "put it back there, then `d0ctl update q`\n"
    ) in plan
    assert retried[1] == "to restore it, put `q/2/2` back into the job file, then: d0ctl update q"
    assert "d0ctl update q" in advised
    assert not any("restore-line" in command for command in advised)
    if is_restored:
        d0ctl("restore-line", "q/1/2", "--again")
        d0ctl("restore-line", "q/2/2")
    path.write_text(SEEDS)
    d0ctl("update", "q", "--again")
    assert site.phase("q/1/2/1") == "failed"
    assert site.phase("q/3/1/1") == "waiting"
    inputs = document(d0ctl("status", "q/3/1/1", "--json").stdout)["inputs"]
    assert sorted(one["file"] for one in inputs) == ["s-1.txt", "s-2.txt", "s-3.txt"]


def test_a_line_that_needs_a_file_dropped_after_it_is_restored_with_the_line_that_makes_it(
    site: Site, d0ctl: Type
) -> None:
    merge = ("merge", [line(package("u", needs=["t"]))])
    reader = ("red", [line(package("t", needs=["s"]))])
    site.submit(job(("gen", [line(package("s"))]), reader, merge))
    site.finish("prod/1/1/1")
    d0ctl("kill-line", "prod/2/1", "--drop-outputs")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    both = "d0ctl restore-line prod/1/1 prod/2/1"
    assert f"$ {both}\n" in d0ctl("why", "prod/2/1/1").stdout
    planned = d0ctl("restore-line", "prod/2/1", "--dry-run").stdout
    assert f"1 package stays dropped, as files that it needs are: {both}\n" in planned
    assert "-1" not in planned and "also restored" not in planned
    d0ctl("restore-line", "prod/2/1")
    assert d0ctl("restore-line", "prod/1/1").exit_code == 0
    assert set(site.phases().values()) == {"done", "ready", "waiting"}


def test_a_part_of_a_scan_is_led_back_by_all_its_lines(site: Site, d0ctl: Type) -> None:
    seeds = [[f"gen-{energy}-{seed}" for seed in range(6)] for energy in (10, 20)]
    site.submit(job(
        ("gen", [line(package(name)) for names in seeds for name in names]),
        ("merge", [line(package("e-0", takes=seeds[0])), line(package("e-1", takes=seeds[1]))]),
        ("table", [line(package("table", takes=["e-0", "e-1"]))]),
    ))  # fmt: skip
    d0ctl("kill-line", "prod/1/7-12", "prod/2/2", "--drop-outputs")
    for path in (*(f"prod/1/{number}/1" for number in range(1, 7)), "prod/2/1/1", "prod/3/1/1"):
        site.finish(path)
    whole = "d0ctl restore-line prod/1/7-12 prod/2/2 --again"

    planned = d0ctl("restore-line", "prod/2/2", "--again", "--dry-run").stdout

    assert f"1 of 2 inputs, missing: e-1; to get it: `{whole}`" in d0ctl("why", "prod").stdout
    assert planned == f"1 package stays dropped, as files that it needs are: {whole}\n"
    why = d0ctl("why", "prod/2/2").stdout
    assert f"$ {whole}\n" in why and why.count("restore-line") == 1
    assert d0ctl(*whole.split()[1:]).exit_code == 0
    assert site.phase("prod/3/1/1") == "waiting"
    assert "missing" not in d0ctl("status", "prod").stdout


def test_a_line_that_is_being_killed_is_not_to_be_restored_before_that_has_ended(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")
    restore = "d0ctl restore-line prod/1/1"

    assert d0ctl("restore-line", "prod/1/1").exit_code == 4
    for dropped in ("prod/1/1", "prod/1/1/2", "prod:sim-1"):
        assert restore not in suggested(d0ctl, "why", dropped)
        said = "1 package is still being killed in `prod/1/1`: restore it after that"
        assert said in d0ctl("why", dropped).stdout
    site.end("prod/1/1/1", "killed", reason="killed")
    for dropped in ("prod/1/1", "prod/1/1/1", "prod/1/1/2", "prod:sim-1"):
        assert restore in suggested(d0ctl, "why", dropped)
    assert d0ctl("restore-line", "prod/1/1").exit_code == 0


def test_inputs_that_an_update_adds_later_do_not_count_as_those_of_the_run(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "prod.yaml"
    text = (
        "job: prod\nstages:\n"
        "- {name: sim, lines: [{for: {n: [1, 2]}, run: 'echo > x{n}', outputs: 'x{n}'}]}\n"
        "- {name: merge, lines: [{run: cat x* > all, inputs: {from: sim}, outputs: all}]}\n"
    )
    path.write_text(text)
    d0ctl("submit", str(path))
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.finish("prod/1/1/1")
    site.finish("prod/2/1/1")
    before = d0ctl("status", "prod").stdout
    path.write_text(text.replace("[1, 2]", "[1, 2, 3, 4]"))
    d0ctl("update", "prod")

    assert "prod/2/1/1 ran with 1 of 2 inputs, missing: x2" in before
    for page in (d0ctl("status", "prod").stdout, d0ctl("results", "prod").stderr):
        assert "prod/2/1/1 ran with 1 of 2 inputs at that time, missing: x2" in page
    assert "- it ran with 1 of 2 inputs at that time, " in d0ctl("why", "prod/2/1/1").stdout
    d0ctl("update", "prod", "--again")
    assert "prod/2/1/1 will run with 3 of 4 inputs, missing: x2" in d0ctl("status", "prod").stdout


def test_a_line_is_not_said_to_be_restored_while_packages_of_it_are_being_killed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    site.launch("prod/1/2/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--yes")
    site.finish("prod/2/1/1")
    site.finish("prod/3/1/1")
    restore = "d0ctl restore-line prod/1/2 --again"

    assert d0ctl(*restore.split()[1:]).exit_code == 4
    said = [d0ctl(*words).output for words in (("results", "prod"), ("why", "prod/2/1/1"))]
    assert all("missing: sim-2\n" in text and "restore-line" not in text for text in said)

    site.end("prod/1/2/1", "killed")

    assert restore in d0ctl("results", "prod").output
    assert d0ctl(*restore.split()[1:]).exit_code == 0


def test_a_stage_whose_successful_lines_are_all_dropped_is_not_led_to_set_status(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    for path in ("prod/1/1/1", "prod/1/1/2", "prod/2/1/1"):
        site.finish(path)
    d0ctl("kill-line", "prod/2/1", "--drop-outputs", "--yes")

    refused = d0ctl("retry", "prod/2")

    assert refused.exit_code == 4 and refused.stderr.splitlines()[-1] == "d0ctl status prod/2"
    assert d0ctl("retry", "prod/2/1").stderr.splitlines()[-1] == "d0ctl restore-line prod/2/1"
