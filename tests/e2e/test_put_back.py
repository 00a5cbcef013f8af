"""Contents of files from outside that a person puts back after a change."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from d0ctl.store.files.edited_files import excuse_readers_of_put_back
from tests.support.site import Site
from tests.support.waiting import wait_until

MINI = """\
job: mini
stages:
  - name: sim
    lines:
      - for: {n: [1, 2]}
        run: ./sim.sh {n}
        inputs: sim.sh
        outputs: "{n}.txt"
  - name: add
    lines:
      - {run: cat 1.txt scale > a1.txt, inputs: [1.txt, scale], outputs: a1.txt}
      - {run: cat 2.txt > a2.txt, inputs: 2.txt, outputs: a2.txt}
  - name: merge
    lines:
      - {run: cat a1.txt > m1.txt, inputs: a1.txt, outputs: m1.txt}
      - {run: cat a2.txt > m2.txt, inputs: a2.txt, outputs: m2.txt}
"""
OLD = "#!/bin/sh -e\necho $1 > $1.txt\n"
NEW = "#!/bin/sh -e\n[ $1 = 3 ] && exit 3\necho $1 > $1.txt\n"


def script(site: Site, text: str) -> Path:
    """Write the script beside the job file."""
    path = site.jobs / "sim.sh"
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture(params=["localhost", "farm"])
def failed(site: Site, request: pytest.FixtureRequest) -> Site:
    """A site with a job of which a third line failed with another script than the others read."""
    if request.param == "farm":
        site.add("farm", cpus=1)
        site.alone()
    (site.jobs / "scale").write_text("1\n")
    script(site, OLD)
    site.submit(MINI)
    site.ok("run", "mini")
    script(site, NEW)
    site.write(MINI.replace("[1, 2]", "[1, 2, 3]"))
    return site


def test_packages_that_read_the_contents_put_back_are_up_to_date(failed: Site) -> None:
    failed.ok("update", "mini")
    assert "6 packages of `mini` are out of date" in failed.ok("status", "mini")
    failed.d0ctl("run", "mini")
    script(failed, OLD)

    failed.ok("retry", "mini:failed")
    ran = failed.d0ctl("run", "mini")

    assert ran.code == 0, ran
    assert "out of date" not in ran.err + failed.ok("why", "mini") + failed.ok("status", "mini")
    assert "out of date" not in failed.ok("why", "mini/1/1/1") + failed.ok("why", "mini/3/2/1")
    assert "out of date" not in failed.d0ctl("results", "mini").err
    assert "out of date" not in failed.ok("update", "mini", "--dry-run")


def test_packages_are_up_to_date_if_no_package_has_read_the_other_contents(failed: Site) -> None:
    failed.ok("update", "mini", "--hold")
    assert "6 packages of `mini` are out of date" in failed.ok("status", "mini")
    script(failed, OLD)

    failed.start_daemon()

    wait_until(lambda: "out of date" not in failed.ok("status", "mini"), what="it is noticed")
    assert "out of date" not in failed.ok("why", "mini") + failed.ok("history", "mini")
    assert "out of date" not in failed.ok("why", "mini/1/1/1") + failed.ok("why", "mini/3/2/1")
    assert "out of date" not in failed.ok("update", "mini", "--dry-run")


def test_contents_that_are_put_back_once_more_are_noticed_again(failed: Site) -> None:
    known: Mapping[int, float] = {}
    for _ in range(2):
        script(failed, NEW)
        failed.ok("update", "mini", "--hold")
        assert "6 packages of `mini` are out of date" in failed.ok("status", "mini")
        script(failed, OLD)
        with failed.opened() as store, store.writing():
            known = excuse_readers_of_put_back(store, known)
        assert "out of date" not in failed.ok("status", "mini")


def test_packages_stay_out_of_date_by_a_file_that_is_not_put_back(failed: Site) -> None:
    (failed.jobs / "scale").write_text("22\n")
    failed.ok("update", "mini", "--hold")
    script(failed, OLD)

    failed.start_daemon()

    left = "2 packages of `mini` are out of date"
    wait_until(lambda: left in failed.ok("status", "mini"), what="it is noticed")
    assert "out of date" in failed.ok("why", "mini/3/1/1")
    failed.ok("update", "mini")
    assert left in failed.ok("status", "mini")


def test_packages_that_are_out_of_date_by_another_file_stay_so(failed: Site) -> None:
    (failed.jobs / "scale").write_text("22\n")
    failed.ok("update", "mini")
    failed.d0ctl("run", "mini")
    script(failed, OLD)

    failed.ok("retry", "mini:failed")
    failed.d0ctl("run", "mini")

    assert "2 packages of `mini` are out of date" in (said := failed.ok("why", "mini")), said
    for stale in ("mini/2/1/1", "mini/3/1/1"):
        assert "out of date" in failed.ok("why", stale)
    failed.ok("update", "mini")
    assert "2 packages of `mini` are out of date" in failed.ok("status", "mini")


def test_packages_stay_out_of_date_if_a_file_is_changed_once_more(failed: Site) -> None:
    failed.ok("update", "mini")
    said = f"it is out of date: `{failed.jobs / 'sim.sh'}` has changed since it read it"
    assert said in failed.ok("why", "mini/1/1/1")
    failed.d0ctl("run", "mini")
    script(failed, NEW.replace("exit 3", "echo again"))

    failed.ok("retry", "mini:failed")
    failed.ok("run", "mini")

    assert "6 packages of `mini` are out of date" in failed.ok("why", "mini")
    assert said in failed.ok("why", "mini/1/1/1")
