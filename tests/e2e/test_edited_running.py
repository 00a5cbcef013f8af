"""A script that a person changes while packages run on several nodes, or wait there for a slot."""

import pytest

from tests.e2e.test_edited import EDIT, script
from tests.support.site import Site


def test_a_package_that_waited_on_its_node_while_a_script_changed_hides_no_earlier_readers(
    site: Site,
) -> None:
    site.ok("node", "set", "localhost", "cpus=1")
    site.start_daemon()
    path = script(site, f"[ $1 = 7 ] && {site.gate('seventh')}\necho old > $1.txt")
    site.submit(EDIT.replace("[1, 2]", "{range: [1, 8]}"))
    site.wait_phase("edit/1/7/1", "running")
    site.wait_phase("edit/1/8/1", "starting")
    script(site, "echo new > $1.txt")
    site.open("seventh")
    site.ok("wait", "edit")
    assert site.result("edit/all.txt") == "old\n" * 7 + "new\n"

    plan = site.ok("update", "edit", "--dry-run")

    assert "7 packages out of date" in plan and "edit/1/8/1" not in plan, plan
    assert f"`{path}` has changed since 7 finished packages" in site.ok("status", "edit")
    assert "changed since attempt 1" in site.ok("status", "edit/1/7/1")
    assert "changed since" not in site.ok("status", "edit/1/8/1")


@pytest.mark.parametrize(("numbers", "running"), [("[1, 2]", 2), ("[2]", 1)])
def test_packages_that_start_after_an_update_read_a_changed_script_on_every_node(
    site: Site, numbers: str, running: int
) -> None:
    site.add("farm", cpus=1)
    site.alone()
    site.start_daemon()
    script(site, f"[ $1 = 2 ] && {site.gate('second')}\necho old > $1.txt")
    merge = "run: ./sim.sh all\n        inputs: [sim.sh, {from: sim}]"
    text = EDIT.replace("run: cat {inputs} > all.txt\n        inputs: {from: sim}", merge)
    site.submit(text.replace("[1, 2]", numbers))
    site.wait_phase(f"edit/1/{running}/1", "running")
    script(site, "echo new > $1.txt")

    site.ok("update", "edit")

    site.open("second")
    site.ok("wait", "edit")
    assert site.result("edit/all.txt") == "new\n"


def test_packages_that_an_update_runs_again_read_a_changed_script_on_every_node(site: Site) -> None:
    site.add("farm", cpus=1)
    site.alone()
    site.start_daemon()
    script(site, f"[ $1 = 2 ] && {site.gate('second')}\necho old > $1.txt")
    site.submit(EDIT)
    site.wait_phase("edit/1/2/1", "running")
    script(site, "echo new > $1.txt")

    done = site.ok("update", "edit", "--again")

    assert "1 launched package may have read files as they were before a change: " in done
    site.open("second")
    site.ok("wait", "edit")
    assert site.result("edit/all.txt") == "new\nold\n"


def test_a_retry_here_names_a_script_changed_since_it_failed(site: Site) -> None:
    path = script(site, "exit 3")
    site.submit(EDIT)
    site.d0ctl("run", "edit")

    for code in "4", "0; : > $1.txt":  # the second time no copy of it is known any more
        script(site, f"exit {code}")
        said = site.ok("retry", "edit:failed", "--dry-run")
        assert "changed since earlier attempts; packages that start now" in said
        assert said.endswith(f"  {path}\n")
        site.ok("retry", "edit:failed")
        site.d0ctl("run", "edit")
