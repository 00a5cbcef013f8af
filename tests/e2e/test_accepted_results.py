"""Results that are out of date, and that a person accepts as they are."""

from tests.e2e.test_outdated import CUT, GROW, SAID
from tests.support.site import Site


def test_results_of_another_recipe_are_accepted_and_only_later_runs_follow_it(site: Site) -> None:
    kept = GROW.replace("outputs: s-{n}.txt", "outputs: {file: 's-{n}.txt', result: yes}")
    site.submit(kept)
    site.ok("run", "grow")
    site.write(kept.replace("run: echo {n}", "run: printf 'no %s\\n' {n}"))
    assert "2 packages out of date" in site.ok("update", "grow")

    part = site.d0ctl("update", "grow/1/1", "--accept")
    done = site.ok("update", "grow", "--accept")

    accepted = "1 package whose results are accepted, made with another recipe: 1 successful"
    assert accepted in part.out and "1 package out of date" in part.out
    assert "accepted only" not in part.out and part.err == ""
    assert accepted in done and "out of date" not in done
    assert "out of date" not in site.ok("status", "grow") + site.ok("update", "grow")
    assert site.result("grow/all.txt") == "1\n2\n"
    assert site.ok("doctor")
    said = "of these, 1 package was accepted as it ran: now it runs as the job file says"
    for words in (["--dry-run"], ["--yes"]):
        assert said in site.ok("set-status", "grow/1/1", "unscheduled", *words)
    site.ok("run", "grow")
    assert site.result("grow/s-1.txt") == "no 1\n"
    assert "accepted" not in site.ok("set-status", "grow/1/1", "unscheduled", "--dry-run")


def test_an_accepted_file_is_said_to_be_made_by_the_command_that_made_it(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.write(GROW.replace("run: echo {n}", "run: echo {n}0"))
    site.ok("update", "grow", "--accept")
    site.ok("update", "grow", "--accept")

    file, unchanged = site.ok("why", "grow:s-1.txt"), site.ok("why", "grow:part.txt")

    assert "its command was echo 1 > s-1.txt" in " ".join(file.split())
    assert "although the job file had another recipe for it" in " ".join(file.split())
    assert "accepted" not in unchanged
    assert "echo 1 >" in site.ok("export", "grow", "--format", "prov")
    site.ok("set-status", "grow/1/1", "unscheduled", "--yes")
    site.ok("run", "grow")
    again = site.ok("why", "grow:s-1.txt")
    assert "echo 10 > s-1.txt" in again and "accepted" not in again


def test_accepted_results_are_up_to_date_again_once_the_job_file_says_what_they_ran(
    site: Site,
) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.write(GROW.replace("run: echo {n}", "run: echo {n}0"))
    site.ok("update", "grow", "--accept")
    site.write(GROW.replace("run: echo {n}", "run: echo {n}1"))
    site.ok("update", "grow", "--accept")
    site.write(GROW)

    plan = site.ok("update", "grow", "--dry-run")
    back = site.ok("update", "grow")

    for told in (plan, back):
        assert "2 packages up to date again, run with this recipe: 2 successful" in told
        assert "unchanged: 2 packages" in told and "out of date" not in told
    assert "already matches its job file" in site.ok("update", "grow")
    assert "accepted" not in site.ok("why", "grow:s-1.txt")
    site.ok("set-status", "grow/1/1/1", "unscheduled", "--yes")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "1\n2\n"
    assert "echo 1 >" in site.ok("export", "grow") and "echo 11 >" not in site.ok("export", "grow")
    assert site.ok("doctor")


def test_results_that_lack_an_input_of_the_job_file_are_not_accepted(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.write(GROW.replace("[1, 2]", "[1, 2, 3]"))

    told = site.ok("update", "grow", "--accept")
    site.ok("run", "grow")

    only = "results are accepted only if inputs and outputs have the same names"
    assert f"nothing is accepted: {only}" in told
    assert SAID in site.ok("status", "grow")
    assert "--accept instead" not in site.ok("status", "grow")
    assert "--accept" not in site.ok("update", "grow", "--dry-run")
    for file, part in (("part.txt", "grow/2"), ("all.txt", "grow/3")):
        assert "--accept" not in site.ok("why", f"grow:{file}")
        assert site.d0ctl("update", part, "--accept").code == 4
    assert only in site.d0ctl("update", "grow/2", "--accept").err


def test_results_with_files_of_a_line_dropped_later_are_accepted(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")
    assert CUT in site.ok("status", "grow")

    site.ok("update", "grow", "--accept")

    assert "out of date" not in site.ok("status", "grow") + site.ok("update", "grow")
    assert site.ok("doctor")


TRIES = """
job: tries
parameters: {n: 2}
stages:
  - name: sim
    lines:
      - for: {seed: {range: [1, 2]}}
        run: "[ {seed}{n} != 22 ] && echo {seed} {n} > s-{seed}.txt"
        outputs: s-{seed}.txt
  - {name: merge, lines: [{run: "cat {inputs} > all.txt", inputs: {from: sim}, outputs: all.txt}]}
"""


def test_what_was_accepted_and_runs_again_for_its_removed_outputs_is_named(site: Site) -> None:
    site.submit(TRIES)
    site.d0ctl("run", "tries")
    site.ok("retry", "tries:failed", "--set", "n=1")
    site.ok("run", "tries")
    site.ok("update", "tries", "--accept")
    site.write(TRIES.replace("[1, 2]", "[1, 3]"))
    said = "of these, 1 package was accepted as it ran: now it runs as the job file says\n"

    assert said in site.ok("update", "tries", "--again", "--dry-run")
    assert said in site.ok("set-status", "tries/2/1/1", "unscheduled", "--dry-run")
    assert said not in site.ok("update", "tries", "--dry-run")
