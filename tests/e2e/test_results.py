"""results/JOB has the files of one job, whatever else was there under its name."""

import os
import time

from tests.support.site import Site

JOB = """
    job: fix
    stages:
      - lines:
          - for: {{n: {{range: [1, {n}]}}}}
            run: "echo {{n}} > {{n}}.txt"
            outputs: "{{n}}.txt"
"""

READER = """
    job: reader
    stages:
      - lines:
          - {run: "cat {inputs} > copy.txt", inputs: "fix:1.txt", outputs: copy.txt}
"""


def run(site: Site, n: int) -> str:
    """Run the job with this number of lines, and return the output of the command."""
    done = site.d0ctl("run", site.write(JOB.format(n=n)))
    assert done.code == 0, done
    return done.out + done.err


def names(site: Site, folder: str) -> list[str]:
    return sorted(path.name for path in (site.home.root / "results" / folder).iterdir())


def test_remove_shows_and_removes_the_results(site: Site) -> None:
    run(site, 3)

    assert "3 files in results/ would be removed" in site.ok("remove", "fix", "--dry-run")
    assert names(site, "fix") == ["1.txt", "2.txt", "3.txt"]
    assert "3 files in results/ removed" in site.ok("remove", "fix", "--yes")

    assert not (site.home.root / "results/fix").exists()
    assert not list((site.home.root / "results").glob(".removed-*"))
    answer = run(site, 2)
    assert names(site, "fix") == ["1.txt", "2.txt"]
    assert "3.txt" not in answer


def test_results_can_be_moved_aside_instead(site: Site) -> None:
    for n, folder in ((3, "fix.1"), (2, "fix.2")):
        run(site, n)
        planned = site.ok("remove", "fix", "--keep-results", "--dry-run")
        answer = site.ok("remove", "fix", "--keep-results", "--yes")
        path = site.home.results / folder
        assert f"{n} files in results/ would be moved to `{path}`\n" in planned
        assert f"{n} files in results/ moved to `{path}`\n" in answer
        assert len(names(site, folder)) == n

    run(site, 1)
    assert names(site, "fix") == ["1.txt"]


def test_files_left_by_others_are_moved_aside_by_a_new_job(site: Site) -> None:
    folder = site.home.root / "results/fix"
    folder.mkdir(parents=True)
    (folder / "old.txt").write_text("a person's")

    answer = run(site, 1)

    assert "older results of this name are now in" in answer
    assert names(site, "fix") == ["1.txt"]
    assert (site.home.root / "results/fix.1/old.txt").read_text() == "a person's"


def test_the_summary_lists_only_what_the_job_made(site: Site) -> None:
    run(site, 1)
    (site.home.root / "results/fix/note.txt").write_text("a person's")

    answer = site.d0ctl("run", "fix").out

    assert "1.txt" in answer
    assert "note.txt" not in answer


def test_a_late_output_is_shown_with_its_files(site: Site) -> None:
    text = """
        job: late
        stages:
          - lines:
              - run: "touch part-1 part-2"
                outputs: [{file: "part-*", late: yes}]
    """
    assert site.d0ctl("run", site.write(text)).code == 0

    answer = site.ok("status", "late/1/1/1")

    assert "not made yet" not in answer
    [line] = [line for line in answer.splitlines() if "part-*" in line]
    assert "2 files" in line


def test_a_result_that_a_corrected_job_reads_is_replaced_when_it_is_made_again(site: Site) -> None:
    text = "job: fix\nstages: [{lines: [{run: echo one > r.txt, outputs: r.txt}]}%s]\n"
    file = site.folder / "fix.yaml"
    file.write_text(text % "")
    site.ok("run", str(file))
    reader = ", {lines: [{run: cat r.txt > all.txt, inputs: r.txt, outputs: all.txt}]}"
    file.write_text((text % reader).replace("one", "two"))

    site.ok("submit", "--update", str(file), "--again")
    site.ok("run", "fix")

    results = site.home.root / "results" / "fix"
    assert [(results / name).read_text() for name in ("r.txt", "all.txt")] == ["two\n", "two\n"]


def test_a_result_that_is_to_be_made_again_is_called_the_former_one(site: Site) -> None:
    run(site, 1)
    site.ok("set-status", "fix/1/1/1", "unscheduled", "--yes")

    shown = site.d0ctl("results", "fix")
    copied = site.d0ctl("results", "fix", "--copy", str(site.folder / "out"))

    assert "to be made again; the former one is in results/" in site.ok("file", "list", "fix")
    assert "1.txt (the former one: fix/1/1/1 is ready)" in " ".join(shown.out.split())
    assert "1.txt is the former one, not made again yet" in copied.err
    assert (site.folder / "out" / "1.txt").exists()


def test_a_file_between_stages_that_is_to_be_made_again_was_made_before(site: Site) -> None:
    job = "stages: [{lines: [{run: echo > a, outputs: a}]}, {lines: [{run: wc a, inputs: a}]}]\n"
    (file := site.folder / "two.yaml").write_text("job: two\n" + job)
    site.ok("submit", str(file))
    first = site.ok("file", "list", "two")
    site.ok("run", "two")

    site.ok("set-status", "two/1/1/1", "unscheduled", "--yes")

    assert "not made yet" in first
    assert "to be made again" in site.ok("file", "list", "two")


def test_why_of_a_result_that_was_removed_by_hand_says_that_it_is_gone(site: Site) -> None:
    run(site, 1)
    (site.home.root / "results/fix/1.txt").unlink()

    answer = site.ok("why", "fix:1.txt")

    assert answer.startswith("file `1.txt` of job `fix` is recorded, but its copy is gone: ")
    assert "a copy on this machine is gone: " in answer
    assert "$ d0ctl set-status fix/1/1/1 unscheduled" in answer


def test_results_and_why_say_that_one_was_changed_by_hand(site: Site) -> None:
    run(site, 1)
    before = site.ok("results", "fix")

    path = site.home.root / "results/fix/1.txt"
    with path.open("a") as file:
        file.write("more")

    assert "changed after its delivery" in site.ok("results", "fix")
    assert "changed" not in before
    answer = site.ok("why", "fix:1.txt")
    assert answer.startswith("file `1.txt` of job `fix` is recorded, but its copy was changed: ")
    assert f"a copy on this machine was changed: it has {path.stat().st_size} B now: " in answer
    assert "$ d0ctl set-status fix/1/1/1 unscheduled" in answer


def test_a_list_of_files_says_that_a_result_was_removed_by_hand(site: Site) -> None:
    run(site, 1)
    before = site.ok("file", "list", "fix:1.txt")

    (site.home.root / "results/fix/1.txt").unlink()

    assert "missing from results/" in site.ok("file", "list", "fix:1.txt")
    assert "in results/" in before and "missing" not in before


def test_a_result_that_was_written_again_with_the_same_size_is_made_again_for_a_reader(
    site: Site,
) -> None:
    run(site, 1)
    path = site.home.root / "results/fix/1.txt"
    before = path.read_text()
    path.write_text(before.replace("1", "7"))
    assert len(path.read_text()) == len(before) and path.read_text() != before
    os.utime(path, (time.time() + 1, time.time() + 1))  # the clock of files is coarse

    assert "written again after its delivery" in site.ok("results", "fix")
    assert "its copy was changed: " in site.ok("why", "fix:1.txt")
    site.ok("run", site.write(READER))

    assert (site.home.root / "results/reader/copy.txt").read_text() == before
    assert path.read_text() == before
