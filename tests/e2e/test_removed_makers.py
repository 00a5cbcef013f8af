"""Jobs that have read files of a job which was archived or removed since."""

import pytest

from tests.support.site import Site

MAKER = """\
job: maker
stages:
  - name: sim
    lines:
      - for: {n: [1, 2]}
        run: echo {n} > s-{n}.txt
        outputs: s-{n}.txt
"""
READER = """\
job: reader
stages:
  - name: count
    lines:
      - run: cat {inputs} > half.txt
        inputs: [{from: maker/sim}, other]
        outputs: half.txt
  - name: end
    lines:
      - run: cat half.txt > all.txt
        inputs: half.txt
        outputs: all.txt
"""
GONE = "packages of `reader` read files that {}\n"


@pytest.fixture
def read(site: Site) -> Site:
    """A site where `reader` has ended, which has read the results of `maker`."""
    site.write("3\n", "other")
    for spec, job in ((MAKER, "maker"), (READER, "reader")):
        site.submit(spec)
        site.ok("run", job)
    return site


@pytest.mark.parametrize("words", [("archive", "maker"), ("remove", "maker", "--keep-results")])
def test_a_package_runs_again_with_the_results_of_a_job_that_has_left(
    read: Site, words: tuple[str, ...]
) -> None:
    before = read.json("why", "reader:half.txt", "--json")["details"]["origin"]
    done = read.ok(*words, "--yes")
    assert "read files" not in done
    assert "the job file of `reader` reads its files: it can't be updated or cloned" in done

    after = read.json("why", "reader:half.txt", "--json")["details"]["origin"]
    read.ok("set-status", "reader", "unscheduled")
    read.ok("run", "reader")

    assert [each["checksum"] for each in after["inputs"]] == [
        each["checksum"] for each in before["inputs"]
    ]
    assert after["command"] == before["command"]
    names = [each["file"].partition(":")[2] for each in before["inputs"]]
    assert [each["file"].partition(":")[2] for each in after["inputs"]] == names
    assert read.result("reader/all.txt") == "1\n2\n3\n"
    assert read.phase("reader/1/1/1") == "done"


def test_a_package_does_not_run_again_without_files_that_were_removed(read: Site) -> None:
    plan = read.ok("remove", "maker", "--dry-run")
    done = read.ok("remove", "maker", "--yes")
    assert GONE.format("would be gone: they could not run again") in plan
    assert GONE.format("are gone: they can't run again without these") in done

    read.ok("set-status", "reader", "unscheduled")
    read.start_daemon()
    read.wait_phase("reader/1/1/1", "cooloff")

    assert "s-1.txt` does not exist" in read.ok("why", "reader/1/1/1")
    assert read.result("reader/all.txt") == "1\n2\n3\n"


def test_the_fault_of_a_job_file_that_reads_an_archived_job_says_how_to_read_its_results(
    read: Site,
) -> None:
    read.ok("archive", "maker", "--as", "old")
    folder = read.home.results / "maker"
    fault = f"job `maker` was moved to archive `old`: write `glob: {folder}/s-*.txt`"
    for words in (("update", "reader"), ("clone", "reader"), ("submit", read.jobs / "job.yaml")):
        refused = read.d0ctl(*words)
        assert (refused.code, fault in refused.err) == (2, True)

    path = read.write(READER.replace("{from: maker/sim}", f"{{glob: '{folder}/s-*.txt'}}"))
    assert "--previous" not in read.ok("update", "reader", "--file", path)
    back = read.d0ctl("update", "reader", "--previous")
    assert (back.code, "the job file before the last update can't be taken" in back.err) == (
        4,
        True,
    )
    read.ok("update", "reader", "--again")
    read.ok("run", "reader")

    assert read.result("reader/all.txt") == "1\n2\n3\n"


def test_files_that_are_no_results_are_said_to_go_with_an_archived_job(site: Site) -> None:
    kept = "outputs: {file: 's-{n}.txt', disposition: retain-temp}"
    site.write("3\n", "other")
    for spec, job in ((MAKER.replace("outputs: s-{n}.txt", kept), "maker"), (READER, "reader")):
        site.submit(spec)
        site.ok("run", job)

    assert GONE.format("would be gone: they could not run again") in site.ok(
        "archive", "maker", "--dry-run"
    )
