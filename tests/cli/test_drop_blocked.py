"""What a drop says of packages that lose inputs, and that other packages keep blocked."""

from pathlib import Path

from tests.cli.conftest import Type
from tests.store.requiring import end_all, merge
from tests.support.building import job, line, package, production
from tests.support.site import Site

READER = """\
job: use
stages:
  - {name: use, lines: [{for: {n: [1, 2]}, run: x, inputs: "prod:sim-{n}", outputs: "use-{n}"}]}
  - {name: merge, lines: [{run: x, inputs: {from: use}, outputs: all}]}
"""
CHAIN = """\
job: chain
stages:
  - {name: set-up, lines: [{run: x, outputs: a}]}
  - {name: make, lines: [{run: x, outputs: b}, {run: x, outputs: c}]}
  - {name: read, lines: [{run: x, inputs: {from: make}, after: set-up/1, outputs: d}]}
"""
OWN = """\
job: own
stages:
  - {name: gen, lines: [{for: {n: [1, 2]}, run: x, outputs: "g{n}"}]}
  - {name: all, lines: [{run: x, inputs: {from: gen}, outputs: all}]}
  - {name: plot, lines: [{run: x, inputs: all}]}
"""
READS = """\
job: reads
stages: [{lines: [{run: x, inputs: "own:g2", outputs: m}]}]
"""


def test_a_drop_says_which_other_package_keeps_a_reader_blocked(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=4))
    for path in ("prod/1/1/1", "prod/1/1/2", "prod/1/3/1"):
        site.finish(path)
    for path in ("prod/1/2/1", "prod/1/3/2", "prod/1/4/1"):
        site.fail(path)

    plan = d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--dry-run").stdout
    first = d0ctl("kill-line", "prod/1/2", "--drop-outputs").stdout
    second = d0ctl("kill-line", "prod/1/3", "--drop-outputs").stdout
    last = d0ctl("kill-line", "prod/1/4", "--drop-outputs").stdout

    assert (
        "staying blocked: 1 package\n"
        "  prod/2/1/1 loses 1 input, keeps 3; it waits for `prod/1/3/2`, which is failed\n"
    ) in plan
    stays = "`prod/2/1/1` stays blocked: it waits for"
    assert f"{stays} `prod/1/3/2`, which is failed\n" in first
    assert f"{stays} `prod/1/4/1`, which is failed\n" in second
    assert "continu" not in plan + first + second
    assert "1 package continues without these files; 1 is ready now\n" in last


def test_a_reader_that_waits_for_running_packages_continues(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=3))
    site.fail("prod/1/2/1")

    plan = d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--dry-run").stdout
    done = d0ctl("kill-line", "prod/1/2", "--drop-outputs").stdout

    assert "continuing without these files: 1 package\n  prod/2/1/1 loses 1 input" in plan
    assert "1 package continues without these files\n" in done


def test_a_drop_counts_the_readers_that_stay_blocked(site: Site, d0ctl: Type) -> None:
    makers = [line(package(f"a-{i}"), name=str(i)) for i in range(1, 4)]
    sums = [line(package(f"sum-{i}", takes=["a-1", "a-2", "a-3"])) for i in range(1, 4)]
    site.submit(job(("make", makers), ("merge", sums)))
    site.fail("prod/1/1/1")
    d0ctl("kill", "prod/1/2/1", "--yes")

    done = d0ctl("kill-line", "prod/1/1", "--drop-outputs").stdout

    assert (
        "`prod/2/1/1` stays blocked: it waits for `prod/1/2/1`, which is canceled"
        "; 2 other packages stay blocked, too\n"
    ) in done


def test_a_reader_that_is_canceled_itself_does_not_wait_for_itself(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    d0ctl("finish", "prod", "--hard", "--yes")

    plan = d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--dry-run").stdout
    done = d0ctl("kill-line", "prod/1/2", "--drop-outputs").stdout

    stays = "it is canceled itself: `d0ctl retry prod/2/1/1`"
    assert f"  prod/2/1/1 loses 1 input, keeps 1; {stays}\n" in plan
    assert f"`prod/2/1/1` stays blocked: {stays}\n" in done
    assert d0ctl("retry", "prod/2/1/1").exit_code == 0
    assert site.phase("prod/2/1/1") == "ready"


def test_a_reader_is_blocked_by_a_failed_package_of_another_job(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production(lines=2))
    use = tmp_path / "use.yaml"
    use.write_text(READER)
    d0ctl("submit", str(use))
    site.fail("prod/1/2/1")

    done = d0ctl("kill-line", "use/1/1", "--drop-outputs").stdout

    assert "`use/2/1/1` stays blocked: it waits for `prod/1/2/1`, which is failed\n" in done


def test_a_reader_that_may_continue_without_a_part_is_not_blocked(site: Site, d0ctl: Type) -> None:
    site.submit(merge(0.5, lines=4))
    site.fail("prod/1/4/1")

    done = d0ctl("kill-line", "prod/1/1", "--drop-outputs").stdout

    assert "1 package continues without these files\n" in done


def test_a_line_after_a_failed_one_stays_blocked(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    chain = tmp_path / "chain.yaml"
    chain.write_text(CHAIN)
    d0ctl("submit", str(chain))
    site.fail("chain/1/1/1")

    done = d0ctl("kill-line", "chain/2/1", "--drop-outputs").stdout

    assert "`chain/3/1/1` stays blocked: it waits for `chain/1/1/1`, which is failed\n" in done


def test_a_reader_that_requires_more_than_there_can_be_stays_blocked(
    site: Site, d0ctl: Type
) -> None:
    site.submit(merge(0.75, lines=7))
    end_all(site, 4, lines=7)

    plan = d0ctl("kill-line", "prod/1/4", "--drop-outputs", "--dry-run").stdout
    first = d0ctl("kill-line", "prod/1/4", "--drop-outputs").stdout
    enough = d0ctl("kill-line", "prod/1/5-6", "--drop-outputs").stdout

    assert "keeps 6; it waits for `prod/1/5/1`, which is failed\n" in plan
    assert "`prod/2/1/1` stays blocked: it waits for `prod/1/5/1`, which is failed\n" in first
    assert "1 package continues without these files\nnow 75.0% of stage `reco`" in enough


def submit_both(d0ctl: Type, folder: Path) -> None:
    """Submit a job, and another one that reads a file of it."""
    for name, text in (("own", OWN), ("reads", READS)):
        (file := folder / f"{name}.yaml").write_text(text)
        assert d0ctl("submit", str(file)).exit_code == 0


def test_a_drop_names_the_launched_packages_that_go_on_with_the_files(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    submit_both(d0ctl, tmp_path)
    site.finish("own/1/1/1")
    site.finish("own/1/2/1")
    site.launch("own/2/1/1")

    goes_on = (
        "1 package already launched has these files or what was made of them, and will go on with"
        " them\n  own/2/1/1\n"
        "to run it again without, after the end: d0ctl update own/2/1/1 --again\n"
    )
    drop = ("kill-line", "own/1/2", "--drop-outputs")
    planned = d0ctl(*drop, "--dry-run").stdout
    assert goes_on in planned and "read by no other package" not in planned
    assert goes_on in d0ctl(*drop).stdout
    site.end("own/2/1/1")
    assert d0ctl("update", "own/2/1/1", "--again").exit_code == 0
    assert site.phase("own/2/1/1") == "ready"


def test_a_drop_names_no_update_of_a_launched_package_that_needs_the_files(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    submit_both(d0ctl, tmp_path)
    site.finish("own/1/1/1")
    site.finish("own/1/2/1")
    site.finish("own/2/1/1")
    site.launch("own/3/1/1")
    site.launch("reads/1/1/1")

    said = d0ctl("kill-line", "own/1/2", "--drop-outputs").stdout

    have = "2 packages already launched have these files or what was made of them, and will go on"
    assert f"{have} with them\n  own/3/1/1\n  reads/1/1/1\n" in said
    assert "after the end: d0ctl update own --again\n" in said and "update reads" not in said
