"""Lines that are added to a finished job, and dropped again: its merge has read all the others."""

import pytest

from tests.e2e.test_outdated import BY_RECIPE, GROW, SAID
from tests.support.site import Site

GROUPED = GROW.replace(
    "run: cat {inputs} > part.txt\n        inputs: {from: sim}\n        outputs: part.txt",
    "for: {g: {from: sim, by: 9}}\n        run: cat {g} > part-{g.index}.txt\n"
    "        inputs: '{g}'\n        outputs: part-{g.index}.txt",
)
MORE = "[1, 2, 3, 4]"
SHOWN = (
    ("status",), ("status", "grow"), ("why", "grow"), ("why", "grow/2/1/1"),
    ("status", "grow/2/1/1"), ("why", "grow:all.txt"), ("results", "grow"), ("wait", "grow"),
)  # fmt: skip


def outdated(site: Site) -> list[bool]:
    """Whether each of these screens says that something is out of date."""

    answers = (site.d0ctl(*words) for words in SHOWN)
    return ["out of date" in answer.out + answer.err for answer in answers]


@pytest.mark.parametrize("job", [GROW, GROUPED], ids=["list", "group"])
def test_a_merge_is_up_to_date_once_all_lines_added_after_it_are_dropped(
    site: Site, job: str
) -> None:
    site.submit(job)
    site.ok("run", "grow")
    site.write(job.replace("[1, 2]", MORE))
    site.ok("update", "grow")
    site.ok("run", "grow")

    site.ok("kill-line", "grow/1/3", "--drop-outputs")
    some = outdated(site)
    site.ok("kill-line", "grow/1/4", "--drop-outputs")

    assert (all(some), any(outdated(site))) == (True, False)
    assert "already matches" in site.ok("update", "grow", "--again")
    said = "package that ran before these files were added is out of date again"
    assert said in site.ok("restore-line", "grow/1/4", "--dry-run")
    assert said in site.ok("restore-line", "grow/1/4")
    assert SAID in site.ok("status", "grow") and all(outdated(site))
    assert BY_RECIPE in site.ok("why", "grow/2/1/1")
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "1\n2\n4\n"
    assert not any(outdated(site)) and site.ok("doctor")


@pytest.mark.parametrize("job", [GROW, GROUPED], ids=["list", "group"])
def test_an_update_after_the_drop_of_added_lines_leaves_the_merge_up_to_date(
    site: Site, job: str
) -> None:
    site.submit(job)
    site.ok("run", "grow")
    site.write(job.replace("[1, 2]", MORE))
    site.ok("update", "grow")
    site.ok("run", "grow")
    site.ok("kill-line", "grow/1/3", "grow/1/4", "--drop-outputs")

    site.write("title: new\n" + job.replace("[1, 2]", MORE))
    first = site.ok("update", "grow")
    again = site.ok("update", "grow")

    assert "out of date" not in first and not any(outdated(site))
    assert "already matches" in again
    assert "was launched without its files" in site.d0ctl("restore-line", "grow/1/3").err
    site.ok("restore-line", "grow/1/3", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "1\n2\n3\n"
    assert not any(outdated(site)) and site.ok("doctor")


def test_the_merge_stays_up_to_date_when_the_job_file_lists_the_dropped_lines_no_more(
    site: Site,
) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.write(GROW.replace("[1, 2]", MORE))
    site.ok("update", "grow")
    site.ok("kill-line", "grow/1/3", "grow/1/4", "--drop-outputs")
    site.write(GROW)

    done = site.ok("update", "grow")

    assert "out of date" not in done and not any(outdated(site))
    assert site.ok("doctor")


@pytest.mark.parametrize("job", [GROW, GROUPED], ids=["list", "group"])
def test_a_merge_without_a_dropped_line_is_up_to_date_if_the_job_file_leaves_it_out(
    site: Site, job: str
) -> None:
    site.submit(job.replace("[1, 2]", MORE), "--hold")
    site.ok("kill-line", "grow/1/3", "--drop-outputs")
    site.ok("release", "grow")
    site.ok("run", "grow")
    site.write(job.replace("[1, 2]", "[1, 2, 4]"))

    done = site.ok("update", "grow")

    assert site.result("grow/all.txt") == "1\n2\n4\n"
    assert "out of date" not in done and not any(outdated(site))


def test_a_merge_that_ran_while_lines_were_added_is_up_to_date_once_they_are_dropped(
    site: Site,
) -> None:
    site.start_daemon()
    gated = GROW.replace("cat {inputs} > part", f"{site.gate('merge')}; cat {{inputs}} > part")
    site.submit(gated)
    site.wait_phase("grow/2/1/1", "running")
    site.write(gated.replace("[1, 2]", "[1, 2, 3]"))
    site.ok("update", "grow")
    site.wait_phase("grow/1/3/1", "done")

    site.ok("kill-line", "grow/1/3", "--drop-outputs")
    site.open("merge")
    site.ok("wait", "grow")

    assert site.result("grow/all.txt") == "1\n2\n"
    assert not any(outdated(site)) and site.ok("doctor")
