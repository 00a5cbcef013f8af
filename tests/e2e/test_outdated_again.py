"""What is out of date and runs again: by which recipe, and what does not."""

from tests.e2e.test_outdated import GROW, WITH_SCALE
from tests.support.site import Site


def test_a_restored_line_says_which_packages_run_again_with_their_former_recipe(
    site: Site,
) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    site.write(GROW.replace("run: echo {n}", "run: echo {n}0"))
    site.ok("update", "grow")
    said = "2 packages {} with their former recipe or inputs; with those that the job has now: "
    said += "d0ctl update grow --again\n"

    plan = site.ok("restore-line", "grow/1/2", "--again", "--dry-run")
    done = site.ok("restore-line", "grow/1/2", "--again")

    assert said.format("would run") in plan and said.format("will run") in done
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "10\n20\n"


def test_an_update_runs_no_package_of_a_dropped_line_again(site: Site) -> None:
    select = ("  - name: select\n    lines:\n      - for: {n: [1, 2]}\n"
              "        run: cat s-{n}.txt > t-{n}.txt\n        inputs: s-{n}.txt\n"
              "        outputs: t-{n}.txt\n")  # fmt: skip
    chain = GROW.replace("  - name: part\n", f"{select}  - name: part\n")
    chain = chain.replace("from: sim}", "from: select}")
    site.submit(chain)
    site.ok("run", "grow")
    site.ok("kill-line", "grow/2/1", "--drop-outputs")
    site.write(chain.replace("run: echo {n}", "run: echo {n}0"))

    plan = site.ok("update", "grow", "--again")

    assert site.phase("grow/2/1/1") == "done"
    assert "to run again, too: 2 packages that have read their files" in plan
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "20\n"
    assert site.ok("doctor")


def test_what_is_out_of_date_after_a_step_back_runs_by_the_job_file_before(site: Site) -> None:
    counts = GROW.replace("cat {inputs} > all.txt", "cat {inputs} | wc -l > all.txt")
    site.submit(counts)
    site.ok("run", "grow")
    path = site.write(counts.replace("wc -l", "wc -c"))
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "4\n"
    assert "d0ctl update grow --again" in site.ok("update", "grow", "--previous")

    plan = site.ok("update", "grow/3", "--again", "--dry-run")
    site.ok("update", "grow", "--again")

    assert "1 package to run again: 1 successful" in plan
    assert "as `--previous` left it; `d0ctl update grow` takes the job file as it is" in plan
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "2\n"
    assert "was changed since" not in site.d0ctl("retry", "grow").err
    path.write_text(counts.replace("wc -l", "wc -w"))
    assert "1 package to run again" in site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    site.ok("update", "grow", "--previous")
    assert "1 package of `grow` is out of date" in site.ok("status", "grow")
    site.ok("update", "grow")
    assert "out of date" not in site.ok("status", "grow")


NAMED = """
job: named
parameters: {tag: v1}
stages:
  - name: gen
    lines:
      - for: {seed: {range: [1, 2]}}
        packages:
          - {run: "echo {seed} > gen-{seed}.txt", outputs: "gen-{seed}.txt"}
          - run: cat gen-{seed}.txt > n-{seed}-{tag}.txt
            inputs: gen-{seed}.txt
            outputs: n-{seed}-{tag}.txt
  - name: merge
    lines:
      - {run: "cat {inputs} > all-{tag}.txt", inputs: {from: gen}, outputs: "all-{tag}.txt"}
"""


def test_a_kept_result_keeps_its_origin_although_its_inputs_have_other_names_now(
    site: Site,
) -> None:
    site.submit(NAMED)
    site.ok("run", "named")
    before = [line for line in site.ok("why", "named:all-v1.txt").splitlines() if "n-1-v1" in line]

    site.ok("update", "named", "--set", "tag=v2", "--again")
    site.ok("run", "named")

    kept = site.ok("why", "named:all-v1.txt")
    assert len(before) == 2 and all(line in kept for line in before)
    assert "wasDerivedFrom" in site.ok("export", "named:all-v1.txt", "--format", "prov")
    refused = site.d0ctl("set-status", "named/2/1/1", "unscheduled")
    assert refused.code == 4
    assert "nothing makes `n-1-v1.txt` any more, which it has read" in refused.err
    (site.home.root / "results/named/all-v1.txt").unlink()
    assert "put it back: it can't be made again" in site.ok("why", "named:all-v1.txt")

    site.ok("update", "named", "--previous", "--again")
    site.ok("run", "named")

    assert site.result("named/all-v1.txt") == "1\n2\n"
    assert site.ok("doctor")


def test_an_exported_job_is_said_to_have_the_former_recipes_of_what_is_out_of_date(
    site: Site,
) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    before = site.d0ctl("export", "grow")
    site.write(GROW.replace("[1, 2]", "[1, 2, 3]"))
    site.ok("update", "grow")

    text, graph = site.d0ctl("export", "grow"), site.d0ctl("export", "grow", "--format", "dot")

    said = "1 package of `grow` is out of date, and exported with its former recipe and inputs"
    assert said in text.err and "`d0ctl update grow --again`" in text.err
    assert (before.err, graph.err) == ("", "")


def test_an_update_has_nothing_to_do_for_ended_packages_that_never_run_again(site: Site) -> None:
    site.write(GROW)
    (site.jobs / "scale").write_text("1\n")
    site.submit(WITH_SCALE.replace("[1, 2]", "[1, 2, 3]"))
    site.ok("run", "grow")
    (site.jobs / "scale").write_text("2\n")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")
    site.write(WITH_SCALE)  # without the third line, which stays successful
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")

    assert site.result("grow/all.txt") == "1 2\n"
    assert "nothing to change" in site.ok("update", "grow", "--dry-run")
    assert "already matches" in site.ok("update", "grow")
    site.ok("restore-line", "grow/1/2", "--again")
    assert "1 package out of date" in site.ok("update", "grow", "--dry-run")
