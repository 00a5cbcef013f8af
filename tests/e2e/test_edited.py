"""A script that a person changes while its packages run, or after they have succeeded."""

from pathlib import Path

from tests.support.site import Site

EDIT = """\
job: edit
stages:
  - name: sim
    lines:
      - for: {n: [1, 2]}
        run: ./sim.sh {n}
        inputs: sim.sh
        outputs: "{n}.txt"
  - name: merge
    lines:
      - run: cat {inputs} > all.txt
        inputs: {from: sim}
        outputs: all.txt
"""


def script(site: Site, text: str) -> Path:
    """Write the script beside the job file."""
    path = site.jobs / "sim.sh"
    path.write_text(f"#!/bin/sh -e\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_retry_reads_a_script_as_it_is_now_while_others_still_need_it(site: Site) -> None:
    site.add("farm", cpus=1)
    site.alone()
    site.start_daemon()
    gate = site.gate("second")
    path = script(site, f"[ $1 = 1 ] && exit 3\n[ $1 = 2 ] && {gate}\necho old > $1.txt")
    site.submit(EDIT)
    site.wait_phase("edit/1/1/1", "failed")
    site.wait_phase("edit/1/2/1", "running")
    script(site, "echo new > $1.txt")

    plan = site.ok("retry", "edit:failed", "--dry-run")
    done = site.ok("retry", "edit:failed")

    told = "changed since earlier attempts; packages that start now read the new contents:\n"
    told += f"  {path}\n"
    assert plan.endswith(told) and done.endswith(told)
    site.open("second")
    site.ok("wait", "edit")
    assert site.result("edit/all.txt") == "new\nold\n"
    assert "out of date" in (plan := site.ok("update", "edit", "--dry-run"))
    assert "1 package out of date" in plan and "edit/1/2/1" in plan, plan


def test_what_ran_out_of_memory_is_retried_as_it_is_once_its_script_was_corrected(
    site: Site,
) -> None:
    takes = "python3 -c \"x = b'1' * (1 << 28); import time; time.sleep(60)\""
    path = script(site, f"[ $1 = 1 ] && {takes}\necho $1 > $1.txt")
    site.submit(EDIT.replace("inputs: sim.sh\n", "inputs: sim.sh\n        memory: 60MB\n"))
    site.d0ctl("run", "edit")
    assert "would get no more" in site.d0ctl("retry", "edit:failed").err
    path.write_text("#!/bin/sh -e\necho $1 > $1.txt\n")

    site.ok("retry", "edit:failed")

    site.ok("run", "edit")
    assert site.result("edit/all.txt") == "1\n2\n"


def test_an_update_runs_again_what_a_changed_script_has_made(site: Site) -> None:
    path = script(site, "echo old > $1.txt")
    site.submit(EDIT)
    site.ok("run", "edit")
    path.touch()
    assert "already matches" in site.ok("update", "edit")
    assert "out of date" not in site.ok("update", "edit")
    script(site, "echo new > $1.txt")

    plan = site.ok("update", "edit")
    site.ok("update", "edit", "--again")
    site.ok("run", "edit")

    assert f"{path}" in plan and "2 packages out of date" in plan, plan
    assert "to run what is out of date: d0ctl update edit --again" in plan
    assert site.result("edit/all.txt") == "new\nnew\n"
    assert "out of date" not in site.ok("update", "edit")
    assert "has changed since" not in site.d0ctl("results", "edit").err
    assert site.ok("doctor")


def test_an_update_knows_what_ran_before_a_retry_read_the_changed_script(site: Site) -> None:
    path = script(site, "[ $1 = 1 ] && exit 3\necho old > $1.txt")
    site.submit(EDIT)
    assert site.d0ctl("run", "edit").code == 1
    script(site, "echo new > $1.txt")
    mixed = (
        f"`{path}` has changed since 1 finished package read it: "
        "`d0ctl update edit/1/2/1 --again` runs it again, `d0ctl update edit/1/2/1 --accept` keeps "
        "its results"
    )
    assert mixed in site.ok("retry", "edit:failed", "--dry-run")
    assert mixed in site.ok("retry", "edit:failed")
    site.ok("run", "edit")
    assert site.result("edit/all.txt") == "new\nold\n"
    assert mixed in site.d0ctl("results", "edit").err
    of_package = site.ok("why", "edit/1/2/1")
    assert f"`{path}` has changed since it read it" in of_package
    assert "d0ctl update edit/1/2/1 --again" in of_package
    assert "has changed since" not in site.ok("why", "edit/1/1/1")
    assert mixed in site.ok("status", "edit") and mixed in site.ok("why", "edit")

    plan = site.ok("update", "edit", "--dry-run")

    assert "1 package out of date" in plan and "edit/1/2/1" in plan, plan
    assert "changed since attempt 1: sim.sh" in site.ok("status", "edit/1/2/1")
    assert "changed since" not in site.ok("status", "edit/1/1/1")
    assert "changed since attempt 1: sim.sh" in site.ok("status", "edit/1/2/1/1")

    assert "1 package out of date" in site.ok("update", "edit")
    after = site.d0ctl("results", "edit").err
    assert "2 packages of `edit` are out of date" in after and "has changed since" not in after
    assert "2 packages of `edit` are out of date" in site.ok("status", "edit")
    script(site, "echo newest > $1.txt")
    for verb in ("results", "wait", "run"):
        told = site.d0ctl(verb, "edit").err
        assert "2 packages of `edit` are out of date" in told
        too = "has changed since 1 finished package read it: `d0ctl update edit --again` runs it "
        assert f"{too}again, too" in told


def test_results_of_a_changed_script_are_accepted_until_it_changes_again(site: Site) -> None:
    path = script(site, "echo old > $1.txt")
    site.submit(EDIT)
    site.ok("run", "edit")
    script(site, "# a comment\necho old > $1.txt")

    done = site.ok("update", "edit", "--accept")

    assert f"{path}" in done and "2 packages whose results are accepted, made with files" in done
    told = site.d0ctl("results", "edit").err + site.ok("status", "edit") + site.ok("why", "edit")
    assert "has changed since" not in told and "out of date" not in told
    assert "already matches" in site.ok("update", "edit")
    assert "its results were accepted" in site.ok("why", "edit/1/1/1")
    assert site.ok("doctor")
    script(site, "echo new > $1.txt")
    assert "has changed since 2 finished packages" in site.d0ctl("results", "edit").err


def test_packages_of_a_command_run_again_with_a_changed_script(site: Site) -> None:
    path = script(site, "echo old > $1.txt").rename(site.jobs / "sim")
    words = ("--array", "1-2", "--output", "{n}.txt", "--", "./sim", "{n}")
    assert site.d0ctl("run", "--as", "edit", *words).code == 0
    updated = site.ok("update", "edit")
    assert "as it was submitted; it has no job file" in updated and "warning" not in updated
    path.write_text("#!/bin/sh -e\n[ $1 = 2 ] && exit 3\necho new > $1.txt\n")
    assert "`d0ctl update edit/1 --again` runs them again" in site.d0ctl("results", "edit").err

    site.ok("update", "edit", "--again")

    assert site.d0ctl("run", "edit").code == 1
    assert site.result("edit/1.txt") == "new\n"
    assert "the job file" not in site.ok("retry", "edit:failed", "--dry-run")
    assert "the job file" not in site.ok("why", "edit/1/2/1")


DATA = """\
job: data
stages:
  - name: read
    lines:
      - {run: grep v2 data.txt > here.txt, inputs: data.txt, outputs: here.txt, nodes: localhost}
      - {run: grep v2 data.txt > there.txt, inputs: data.txt, outputs: there.txt, nodes: farm}
"""


def test_a_node_gets_a_changed_file_as_it_is_though_this_machine_has_an_earlier_copy(
    site: Site,
) -> None:
    site.add("farm", cpus=1)
    site.start_daemon()
    data = site.jobs / "data.txt"
    data.write_text("v1\n")
    site.submit(DATA)
    for number in (1, 2):
        site.wait_phase(f"data/1/{number}/1", "failed")

    data.write_text("v2 longer\n")
    site.ok("retry", "data:failed")

    site.ok("wait", "data")
    assert site.result("data/here.txt") == site.result("data/there.txt") == "v2 longer\n"


def chained(number: int, name: str, node: str, gate: str) -> str:
    """A package that keeps its copy of the data, and ends when its gate opens."""
    return f"""\
          - run: "cat data.txt > {name}{number}.txt; {gate}"
            inputs: data.txt
            outputs: {{file: {name}{number}.txt, result: yes}}
            nodes: {node}
"""


def read_old_copy(site: Site) -> None:
    """Run packages on two nodes of which the second has a copy of a file from before a change."""
    site.add("farm", cpus=1)
    site.start_daemon()
    data = site.jobs / "data.txt"
    data.write_text("v1\n")
    gates = [site.gate(name) for name in ("h1", "h2", "t1", "t2", "t3")]
    here = "".join(chained(n, "h", "localhost", gates[n - 1]) for n in (1, 2))
    there = "".join(chained(n, "t", "farm", gates[n + 1]) for n in (1, 2, 3))
    site.submit("job: data\nstages:\n  - name: read\n    lines:\n"
                f"      - packages:\n{here}      - packages:\n{there}")  # fmt: skip
    site.wait_phase("data/1/1/1", "running")
    site.wait_phase("data/1/2/1", "running")
    data.write_text("v2 longer\n")
    site.open("h1")
    site.wait_phase("data/1/1/2", "running")
    site.open("t1")
    site.wait_phase("data/1/2/2", "running")
    site.open("h2")
    site.wait_phase("data/1/1/2", "done")

    site.open("t2")
    site.wait_phase("data/1/2/3", "running")
    site.open("t3")
    site.ok("wait", "data")


def test_what_read_an_old_copy_on_a_node_is_known_and_the_next_package_gets_the_file_as_it_is(
    site: Site,
) -> None:
    read_old_copy(site)

    old, new = (["v1\n"], ["v2 longer\n"])
    assert [site.result(f"data/h{number}.txt") for number in (1, 2)] == old + new
    assert [site.result(f"data/t{number}.txt") for number in (1, 2, 3)] == old + old + new
    assert "has changed since 3 finished packages read it" in site.d0ctl("results", "data").err
    assert "has changed since it read it" in site.ok("why", "data/1/2/2")
    assert "changed since attempt 1: data.txt" in site.ok("status", "data/1/2/2")
    assert "changed since" not in site.ok("status", "data/1/2/3")
    site.ok("update", "data", "--accept")
    assert "has changed since" not in site.d0ctl("results", "data").err
    assert site.ok("doctor")


def test_a_node_that_was_down_when_a_file_was_corrected_gets_it_as_it_is(site: Site) -> None:
    sshd = site.start_sshd("farm")
    site.add("farm", sshd, cpus=1)
    site.alone()
    site.start_daemon()
    data = site.jobs / "data.txt"
    data.write_text("v1\n")
    site.submit(DATA.replace("nodes: localhost", "nodes: farm"))
    for number in (1, 2):
        site.wait_phase(f"data/1/{number}/1", "failed")
    sshd.stop()
    site.wait_node("farm", "down")
    data.write_text("v2\n")

    site.ok("retry", "data:failed")
    sshd.start()

    site.ok("wait", "data")
    assert site.result("data/here.txt") == site.result("data/there.txt") == "v2\n"


def test_a_file_that_was_only_touched_makes_nothing_that_read_it_out_of_date(site: Site) -> None:
    site.add("farm", cpus=1)
    site.alone()
    site.start_daemon()
    data = site.jobs / "data.txt"
    data.write_text("v1\n")
    waiting = "      - {run: cat data.txt, inputs: data.txt, nodes: farm}\n"  # keeps the copy there
    site.submit(DATA.replace("nodes: localhost", "nodes: farm") + waiting, "--hold")
    site.ok("hold", "data/1/3/1")
    site.ok("release", "data")
    for number in (1, 2):
        site.wait_phase(f"data/1/{number}/1", "failed")
    data.write_text("v2 longer\n")
    site.ok("retry", "data:failed")
    for number in (1, 2):
        site.wait_phase(f"data/1/{number}/1", "done")
    data.touch()

    site.ok("set-status", "data/1/1/1", "unscheduled", "--yes")
    site.wait_phase("data/1/1/1", "done")

    assert "has changed since" not in site.d0ctl("results", "data").err + site.ok("why", "data")
    assert "changed since" not in site.ok("status", "data/1/2/1")
