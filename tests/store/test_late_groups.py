"""Groups of late outputs: their lines are made when the names are known."""

import json
from pathlib import Path

import pytest

from d0ctl.actions import apply, request
from d0ctl.jobfile.reader import read_text
from d0ctl.select import parse
from d0ctl.store import Store
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.job_files import definition, job_file_text
from tests.store.test_early import drop
from tests.store.test_files import lose
from tests.store.test_late import begun, end_with, given
from tests.support.homes import faults
from tests.support.jobs import phases, submitted
from tests.support.messages import end_message, output
from tests.support.rows import read
from tests.support.site import Site

SPLIT = """
job: late
stages:
  - name: split
    lines:
      - {run: split, outputs: {file: "part-*", late: yes, min-count: 0}}
  - name: merge
    lines:
      - {for: {p: {from: split, by: BY}}, run: "cat {p} > m{p.index}", inputs: "{p}",
         outputs: "m{p.index}"}
  - name: all
    lines:
      - {run: "cat {inputs} > all", inputs: {from: merge}, outputs: all}
"""


@pytest.fixture
def site(store: Store) -> Site:
    """A site."""
    return Site.of(store, cpus=2)


def submit(site: Site, folder: Path, file: str = SPLIT, by: str = "2") -> None:
    """Submit a job file of this folder."""
    submitted(site.store, read_text(file.replace("BY", by), directory=folder))


def made(site: Site) -> list[set[str]]:
    """What the packages of the second stage were launched with, by their lines."""
    paths = [path for path in phases(site.store) if path.startswith("late/2/")]
    return [given(site, path) for path in paths]


def test_lines_are_made_when_the_names_are_known(site: Site, tmp_path: Path) -> None:
    submit(site, tmp_path)
    attempt = begun(site.store, site)
    assert phases(site.store) == {
        "late/1/1/1": "starting", "late/2/1/1": "waiting", "late/3/1/1": "waiting",
    }  # fmt: skip
    assert faults(site.store) == {}

    end_with(site, attempt, "part-1", "part-2", "part-3")
    site.settle()

    assert made(site) == [{"part-1", "part-2"}, {"part-3"}]
    assert given(site, "late/3/1/1") == {"m1", "m2"}
    assert set(phases(site.store).values()) == {"done"}
    names = [row[0] for row in read(site.store, "line", "name", stage_id=2)]
    assert names == ["p=1", "p=2"]
    (entry,) = [row for row in read(site.store, "action", "verb", "target", "packages")
                if row[0] == "group"]  # fmt: skip
    assert entry == ("group", "late", 3)
    assert faults(site.store) == {}


def test_outputs_that_no_group_can_take_are_results(site: Site, tmp_path: Path) -> None:
    with_log = SPLIT.replace("min-count: 0}}", "min-count: 0}}\n      - {run: l, outputs: [p.log]}")
    submit(site, tmp_path, with_log.replace("from: split,", 'from: split, match: "part-*",'))

    assert ("p.log", 1) in read(site.store, "file", "name", "result")
    site.settle()

    assert made(site) == [{"part-0", "part-2"}]
    assert ("p.log", 1) in read(site.store, "file", "name", "result")
    assert faults(site.store) == {}


def test_an_export_reads_the_files_of_each_group_only(site: Site, tmp_path: Path) -> None:
    submit(site, tmp_path)
    end_with(site, begun(site.store, site), "part-1", "part-2", "part-3")
    site.settle()
    found = definition.read(site.store, "late")
    assert found is not None
    exported = job_file_text.document(found)
    again = {**exported, "job": "again"}

    submitted(site.store, read_text(json.dumps(again), directory=tmp_path))
    end_with(site, begun(site.store, site), "part-1", "part-2", "part-3")
    site.settle()

    paths = ("again/2/1/1", "again/2/2/1")
    assert [given(site, path) for path in paths] == [{"part-1", "part-2"}, {"part-3"}]
    second = definition.read(site.store, "again")
    assert second is not None and job_file_text.document(second) == again
    assert faults(site.store) == {}


def test_an_export_names_each_part_of_several_late_outputs_once(site: Site, tmp_path: Path) -> None:
    parts = [{"from": "split", "match": "part-1"}, {"from": "split", "match": "part-2"}]
    two = SPLIT.replace("{run: split,", "{for: {n: [x, y]}, run: split,")
    two = two.replace("part-*", "part-{n}*").replace("{p: {from: split, by: BY}}", "{p: [1]}")
    two = two.replace('"{p}"', json.dumps(parts)).replace("{p.index}", "{p}")
    submit(site, tmp_path, two)

    found = definition.read(site.store, "late")

    assert found is not None
    (line,) = job_file_text.document(found)["stages"][1]["lines"]
    inputs = line["packages"][0]["binaries"][0]["inputs"]
    assert [(entry["from"], entry["match"]) for entry in inputs] == [
        ("split", "part-1"), ("split", "part-2"),
    ]  # fmt: skip


def test_groups_by_size_have_the_sizes_of_what_was_made(site: Site, tmp_path: Path) -> None:
    submit(site, tmp_path, by="14B")

    end_with(site, begun(site.store, site), "part-1", "part-2", "part-3")
    site.settle()

    assert made(site) == [{"part-1", "part-2"}, {"part-3"}]


def test_files_that_fill_no_whole_group_are_named_in_the_history(
    site: Site, tmp_path: Path
) -> None:
    submit(site, tmp_path, by="2, whole: yes")

    end_with(site, begun(site.store, site), "part-1", "part-2", "part-3")
    site.settle()

    assert made(site) == [{"part-1", "part-2"}]
    notes = [row[1] for row in read(site.store, "action", "verb", "note") if row[0] == "group"]
    assert notes == [
        "the names of late outputs are known: 0 lines more; "
        "1 of 3 left out because of `whole`: `part-3`"
    ]
    assert faults(site.store) == {}


def test_no_file_makes_one_line_with_an_empty_list(site: Site, tmp_path: Path) -> None:
    submit(site, tmp_path)

    end_with(site, begun(site.store, site))
    site.settle()

    assert made(site) == [set()]
    assert set(phases(site.store).values()) == {"done"}
    assert faults(site.store) == {}


def test_a_dropped_maker_leaves_the_groups(site: Site, tmp_path: Path) -> None:
    two = SPLIT.replace("{run: split,", "{for: {n: [x, y]}, run: split,").replace(
        "part-*", "part-{n}-*"
    )
    submit(site, tmp_path, two)
    site.schedule()
    drop(site.store, 2)

    site.settle()

    assert {name[:7] for names in made(site) for name in names} == {"part-x-"}
    assert phases(site.store)["late/3/1/1"] == "done"
    assert faults(site.store) == {}


def test_a_fault_holds_the_job_until_it_is_corrected(site: Site, tmp_path: Path) -> None:
    file = SPLIT.replace("{run: split,", "{for: {n: {lines: list.txt}}, run: split,")
    (tmp_path / "list.txt").write_text("a\n")
    submit(site, tmp_path, file)
    attempt = begun(site.store, site)
    (tmp_path / "list.txt").unlink()

    end_with(site, attempt, "part-1", "part-2", "part-3")
    site.settle()

    job = browse.job(site.store, "late")
    assert job.hold_note == (
        "its groups of late outputs can't be made: "
        "-:6:27: there is no file `list.txt` beside the job file"
    )
    assert phases(site.store)["late/2/1/1"] == "waiting"
    assert faults(site.store) == {}
    (tmp_path / "list.txt").write_text("a\n")
    apply(site.store, request("release", parse("late")), actor="me", note=None, now=site.now)
    site.settle()
    assert set(phases(site.store).values()) == {"done"}


@pytest.mark.parametrize("names", [("part-1", "part-2"), ("part-1", "part-2", "part-3")])
def test_a_remake_has_to_make_what_is_in_groups(
    site: Site, tmp_path: Path, names: tuple[str, ...]
) -> None:
    submit(site, tmp_path)
    node = site.node("localhost")
    end_with(site, begun(site.store, site), "part-1", "part-2")
    site.schedule()
    lose(site.store, "part-1")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    attempt = max(node.attempts)
    outputs = [{**output(f"/here/{attempt}", name), "late": "part-*"} for name in names]

    site.deliver(node, [end_message(attempt, outputs=outputs)])

    state = one_package.attempts(site.store, 1)[-1]
    assert (state.reason == "verification") == (len(names) == 3)
    assert "part-3" in (state.message or "part-3")
    assert faults(site.store) == {}


def test_a_correction_keeps_the_lines_of_groups(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(SPLIT.replace("BY", "2"))
    submit(site, tmp_path)
    update = request("update", parse("late"), file=str(path))
    early = apply(site.store, update, actor="me", note=None, now=site.now)
    end_with(site, begun(site.store, site), "part-1", "part-2", "part-3")
    site.schedule()

    late = apply(site.store, update, actor="me", note=None, now=site.now)
    path.write_text(SPLIT.replace("BY", "1"))
    more = apply(site.store, update, actor="me", note=None, now=site.now)
    site.settle()

    assert (early.packages, late.packages, more.packages) == (0, 0, 4)
    assert made(site) == [{"part-1"}, {"part-2"}, {"part-3"}]
    assert faults(site.store) == {}
