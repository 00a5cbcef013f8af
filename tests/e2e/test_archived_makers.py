"""Job files of archived jobs that have read files of others in their archive."""

import json

import pytest

from tests.support.site import Site

MAKER = """\
job: maker
stages:
  - name: sim
    lines:
      - for: {n: [1, 2]}
        run: mkdir -p sub; echo {n} > sub/s-{n}.txt; echo log > s-{n}.log
        outputs:
          - sub/s-{n}.txt
          - {file: "s-{n}.log", disposition: retain-temp}
  - name: cut
    lines:
      - run: echo a > c-1.dat; echo b > c-2.dat
        outputs: {file: "c-*.dat", late: yes}
"""
READER = """\
job: reader
stages:
  - name: count
    lines:
      - for: {part: {from: maker/sim, match: "*.txt", by: 1}}
        run: cat {part} > half-{part.index}.txt
        inputs: "{part}"
        outputs: half-{part.index}.txt
      - run: cat {inputs} > late.txt
        inputs: [{from: maker/cut}]
        outputs: late.txt
      - run: cat {inputs} > one.txt
        inputs: [{from: maker/cut, match: "c-2*"}]
        outputs: one.txt
  - name: end
    lines:
      - run: cat {inputs} > all.txt
        inputs: [{from: count}, "maker:sub/s-1.txt"]
        outputs: all.txt
"""


def archived(site: Site, reader: str) -> Site:
    """Run `maker` and a job that reads its files, then archive both."""
    for spec in (MAKER, reader):
        site.submit(spec)
    for job in ("maker", "reader"):
        site.ok("run", job)
    site.ok("archive", "maker", "reader", "--as", "paper", "--yes")
    return site


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_an_archived_job_is_submitted_again_as_it_is_exported(site: Site, form: str) -> None:
    archived(site, READER)
    done = site.d0ctl("--archive", "paper", "export", "reader", "--format", form)
    assert done.err == ""

    site.ok("submit", site.write(done.out), "--as", "again")
    site.ok("run", "again")

    assert site.result("again/all.txt") == site.result("reader/all.txt") == "1\n2\na\nb\nb\n1\n"


def test_an_export_names_the_inputs_that_are_no_results(site: Site) -> None:
    archived(site, READER.replace('s-1.txt"]', 's-1.txt", "maker:s-1.log"]'))

    done = site.d0ctl("--archive", "paper", "export", "reader")

    absent, advice = done.err.splitlines()
    assert absent.startswith("results/ does not have 1 input of `reader`: `maker:s-1.log`; write")
    assert advice.endswith("export maker | d0ctl submit -")
    assert "maker:s-1.log" in done.out and "maker:sub" not in done.out


def test_an_export_reads_results_that_a_later_job_of_the_name_has_moved_aside(site: Site) -> None:
    archived(site, READER)
    site.submit(MAKER.replace("echo {n}", "echo 7{n}"))
    site.ok("run", "maker")

    done = site.d0ctl("--archive", "paper", "export", "reader")

    assert done.err == ""
    assert "results/maker.1/sub/s-1.txt" in done.out and "results/maker.1/sub/s-2.txt" in done.out
    assert "results/maker.1/c-1.dat" in done.out  # of two equal files, the older one

    site.ok("remove", "maker", "--yes")
    refused = site.d0ctl("submit", site.write(NEW.replace("INPUT", "{from: maker/sim}")))
    moved = site.home.results / "maker.1"
    assert f"write `glob: {moved}/sub/s-*.txt, as: sub/`" in refused.err


def test_results_at_a_path_that_a_later_job_has_taken_are_said_to_be_its_own(site: Site) -> None:
    archived(site, READER)
    site.submit(site.ok("--archive", "paper", "export", "reader"), "--as", "again")
    site.ok("run", "again")
    first = site.ok("why", "again:one.txt")
    site.submit(MAKER.replace("> c-2", "z > c-2"))
    site.ok("run", "maker")

    path = site.home.results / "maker" / "c-2.dat"
    origin = "- it was made from `{}`, sha256:"
    assert origin.format("maker:c-2.dat") in first
    assert origin.format(f"again:{path}") in site.ok("why", "again:one.txt")
    said = site.d0ctl("results", "again").err
    assert (
        f"`{path}` has changed since 2 finished packages read it, and is one of a later job "
        "`maker` now: `d0ctl update again/1 --again`" in said
    )


ADVISED = (
    ("{from: maker/sim, match: '*1.txt'}", "glob: {}/sub/*1.txt, as: sub/", 1),
    ("{from: maker/sim, match: '*.txt'}", "glob: {}/sub/*.txt, as: sub/", 2),
    ("{from: maker/sim}", "glob: {}/sub/s-*.txt, as: sub/", 2),
    ("{from: maker/cut}", "glob: {}/c-*.dat", 2),
    ("{from: maker/cut, match: '*[2]*'}", "glob: '{}/*[2]*'", 1),
    ("{from: maker/cut, match: 'c-{n}*'}", "glob: '{}/c-{{n}}*'", 1),
    ("'maker:c-2.dat'", "{}/c-2.dat", 1),
    ("'maker:sub/s-2.txt'", "{{file: {}/sub/s-2.txt, as: sub/}}", 1),
)
"""Inputs of an archived job, what is advised in their place, and how many files these are."""

NEW = """\
job: new
stages:
  - lines:
      - for: {n: [1]}
        run: ls {inputs}
        inputs: [INPUT]
"""


def test_a_fault_about_an_archived_job_says_how_to_read_just_these_files(
    site: Site,
) -> None:
    archived(site, READER)
    for number, (written, advice, files) in enumerate(ADVISED):
        refused = site.d0ctl("submit", site.write(NEW.replace("INPUT", written)))
        advised = advice.format(site.home.results / "maker")
        assert f"job `maker` was moved to archive `paper`: write `{advised}`" in refused.err

        entry = f"{{{advised}}}" if advised.startswith("glob") else advised
        site.ok("submit", site.write(NEW.replace("INPUT", entry)), "--as", f"new{number}")
        exported = json.loads(site.ok("export", f"new{number}", "--format", "json"))
        inputs = exported["stages"][0]["lines"][0]["packages"][0]["binaries"][0]["inputs"]
        assert len(inputs) == files
        assert {entry.get("as") for entry in inputs} == {"sub/" if "as: sub/" in advice else None}


def test_advice_about_an_archived_job_is_given_once(site: Site) -> None:
    archived(site, READER)
    inputs = ["maker:c-1.dat", "maker:s-1.log", "maker:x", "maker:c-1.dat"]
    lines = "".join(f"  - run: cat {{inputs}}\n    inputs: '{name}'\n" for name in inputs)

    refused = site.d0ctl("submit", site.write(f"job: new\nstages:\n- lines:\n{lines}"))

    said = [line.partition("`paper`")[2] for line in refused.err.splitlines()]
    assert said == [
        f": write `{site.home.results}/maker/c-1.dat`, and 1 more like it",
        ", but results/ does not have file `s-1.log`",
        ": it has no file `x`",
    ]


def test_why_of_an_archived_result_says_where_it_is(site: Site) -> None:
    archived(site, READER)
    why = ("why", "maker:sub/s-1.txt", "--archive", "paper")

    assert f"it is a result: {site.home.results}/maker/sub/s-1.txt\n" in site.ok(*why)

    site.submit(MAKER.replace("echo {n}", "echo 7{n}"))
    site.ok("run", "maker")
    assert f"it is a result: {site.home.results}/maker.1/sub/s-1.txt\n" in site.ok(*why)
