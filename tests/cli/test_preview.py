"""What a job would do, seen before it is submitted."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package
from tests.support.site import Site

TEXT = """\
stages:
  - name: sim
    lines:
      - for: {n: {range: [1, 4]}}
        run: sh sim.sh {n}
        inputs: [sim.sh]
        outputs: ["sim-{n}.txt"]
  - name: merge
    lines:
      - run: cat {inputs} > all.txt
        inputs: [{from: sim}, "old:gen-1", {file: db, acquire: none, locator: /db/a}]
        outputs: [all.txt, log.txt]
        memory: 900TB
  - name: plot
    lines:
      - for: {f: [x, y]}
        run: cp all.txt {f}.png
        inputs: [all.txt]
        outputs: ["{f}.png"]
"""


@pytest.fixture
def file(tmp_path: Path, site: Site) -> str:
    """A job file that reads a file of another job, which is not made yet."""
    site.submit(job(("make", [line(package("gen-1"))]), name="old"))
    (tmp_path / "sim.sh").write_text("echo $1 > sim-$1.txt\n")
    path = tmp_path / "reco.yaml"
    path.write_text(TEXT)
    return str(path)


def test_the_preview_shows_inputs_outputs_and_nodes_of_each_stage(
    site: Site, file: str, d0ctl: Type
) -> None:
    site.up()
    seen = d0ctl("submit", file, "--dry-run", "--force").stdout

    assert seen.startswith(
        "would submit `reco-001`: 3 stages, 7 lines, 7 packages\n"
        "no node can take it yet: stage `merge`: `localhost` is ruled out ("
    )
    assert ")\n\n1  sim  4 lines\n" in seen
    assert "   reads    1 file beside the job file\n   makes    4 files\n" in seen
    assert "2  merge  1 line, merges its inputs" in seen
    assert "reads    4 files of `sim`, 1 file of job `old` and 1 file on the node" in seen
    assert "makes    2 files, 1 of them a result" in seen
    assert "runs on  no node; not on localhost (" in seen
    assert "3  plot  2 lines, splits its inputs" in seen
    assert "makes    2 results" in seen
    assert "no estimate: no node can run packages of `merge`" in seen
    assert "1/2  n=2  sim.sh  ->  sim-2.txt" in seen


def test_a_drained_node_is_not_among_those_where_a_job_runs(
    site: Site, file: str, d0ctl: Type
) -> None:
    site.up()
    assert d0ctl("node", "drain", "localhost").exit_code == 0

    seen = d0ctl("submit", file, "--dry-run", "--force").stdout

    assert "runs on  no node; not on localhost (drained)\n" in seen
    assert "runs on  localhost" not in seen


def test_a_node_that_is_down_is_not_among_those_where_a_job_runs(
    site: Site, file: str, d0ctl: Type
) -> None:
    site.up()
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, "far").id, "no route", now=1e9)

    seen = d0ctl("submit", file, "--dry-run", "--force").stdout

    assert "runs on  localhost; not on far (down)\n" in seen


def test_a_rehearsal_submits_nothing(file: str, d0ctl: Type) -> None:
    d0ctl("submit", file, "--dry-run", "--force")

    assert d0ctl("status", "reco").exit_code == 3


def test_each_line_is_listed_with_its_files(file: str, d0ctl: Type) -> None:
    rows = d0ctl("validate", file, "--list").stdout.splitlines()

    assert "1/2  n=2  sim.sh  ->  sim-2.txt" in rows
    assert next(row for row in rows if row.startswith("2/1")).split("  ")[1:] == [
        "4 files of `sim`, gen-1 (job `old`, 1 not made yet) and db (on the node)",
        "->",
        "all.txt and log.txt",
    ]
    assert any(row.split() == ["3/2", "f=y", "all.txt", "->", "y.png"] for row in rows)


def test_a_rehearsal_of_many_lines_says_how_to_list_them(tmp_path: Path, d0ctl: Type) -> None:
    path = tmp_path / "many.yaml"
    path.write_text("stages: [{lines: [{for: {n: {range: [1, 21]}}, run: x}]}]")

    rows = d0ctl("submit", str(path), "--dry-run").stdout.splitlines()

    assert rows[-1] == f"each line with its files: d0ctl validate {path} --list"
    assert not any(row.startswith("1/1") for row in rows)


def test_a_stage_of_fewer_lines_that_read_one_file_each_is_no_merge(
    tmp_path: Path, d0ctl: Type
) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(
        "stages:\n"
        "  - {name: a, lines: [{for: {n: [1, 2]}, run: x, outputs: 'a{n}'}]}\n"
        "  - {name: b, lines: [{run: x, inputs: a1}]}\n"
    )

    assert "2  b  1 line\n" in d0ctl("validate", str(path), "--list").stdout


def test_the_json_preview_has_the_plan(site: Site, file: str, d0ctl: Type) -> None:
    site.up()
    found = document(d0ctl("validate", file, "--list", "--json").stdout)
    schema = document(d0ctl("schema", "validate").stdout)

    assert "plan" not in document(d0ctl("validate", file, "--json").stdout)
    assert Draft202012Validator(schema).is_valid(found)
    sim, merge, plot = found["plan"]
    assert [one["change"] for one in (sim, merge, plot)] == [None, "merge", "split"]
    assert (sim["nodes"], sim["seconds"]) == ({"localhost": None}, None)
    assert "needs 900 TB" in merge["nodes"]["localhost"]
    assert sim["lines"][1] == {
        "path": "1/2", "name": "n=2", "packages": 1, "makes": ["sim-2.txt"], "after": [],
        "reads": [{"kind": "here", "name": "", "files": ["sim.sh"]}],
    }  # fmt: skip
    assert [one["kind"] for one in merge["lines"][0]["reads"]] == ["stage", "job", "node"]


def test_a_dry_run_of_run_prints_the_plan_of_submit(site: Site, file: str, d0ctl: Type) -> None:
    submitted = d0ctl("submit", file, "--dry-run", "--force").stdout

    assert d0ctl("run", file, "--dry-run", "--force").stdout == submitted


def test_the_json_of_a_dry_run_has_the_same_plan(site: Site, file: str, d0ctl: Type) -> None:
    site.up()
    schema = document(d0ctl("schema", "submit").stdout)
    listed = document(d0ctl("validate", file, "--list", "--json").stdout)

    found = document(d0ctl("submit", file, "--dry-run", "--json", "--force").stdout)

    assert found["plan"] == listed["plan"]
    assert found["dry_run"]
    assert Draft202012Validator(schema).is_valid(found)


def test_files_of_a_glob_are_listed_by_their_paths(tmp_path: Path, d0ctl: Type) -> None:
    for folder in ("run1", "run2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "AOD.root").touch()
    path = tmp_path / "merge.yaml"
    path.write_text("stages: [{lines: [{run: 'cat {inputs}', inputs: {glob: '*/AOD.root'}}]}]")

    rows = d0ctl("validate", str(path), "--list").stdout.splitlines()

    assert "1/1  run1/AOD.root and run2/AOD.root  ->  nothing" in rows


def test_the_graph_has_a_row_for_each_edge(file: str, d0ctl: Type) -> None:
    rows = [" ".join(row.split()) for row in d0ctl("validate", file, "--graph").stdout.splitlines()]

    assert "1 file beside the job file -> sim 4 lines" in rows
    assert "sim 4 lines -> merge 1 line 4 files" in rows
    assert "merge 1 line -> plot 2 lines 1 file" in rows
    assert "plot 2 lines -> results 2 files" in rows


@pytest.mark.parametrize(("runtime", "is_said"), [("0.5s", True), ("2s", False)])
def test_an_estimate_for_short_packages_says_that_their_start_comes_on_top(
    site: Site, d0ctl: Type, tmp_path: Path, runtime: str, is_said: bool
) -> None:
    site.up(cpus=4)
    path = tmp_path / "short.yaml"
    path.write_text(f"stages: [{{lines: [{{run: date, runtime: {runtime}}}]}}]\n")

    plan = d0ctl("submit", str(path), "--dry-run").stdout

    assert "on 4 CPUs" in plan
    assert ("plus the start of each package, if nothing else runs" in plan) is is_said


def test_estimates_use_runtime_keys_or_earlier_runs(
    tmp_path: Path, site: Site, d0ctl: Type
) -> None:
    site.up()
    path = tmp_path / "a.yaml"
    stages = (
        "stages:\n  - name: s\n    lines: [{for: {n: {range: [1, 8]}}, run: x, runtime: 10m}]\n"
    )
    path.write_text(stages)
    assert (
        "about 20 min 00 s on 4 CPUs, if nothing" in d0ctl("submit", str(path), "--dry-run").stdout
    )

    path.write_text(stages.replace(", runtime: 10m", ""))
    assert "no estimate" in d0ctl("submit", str(path), "--dry-run").stdout
    d0ctl("submit", str(path))
    site.finish("a-001/1/1/1")
    seen = d0ctl("submit", str(path), "--dry-run").stdout
    assert "takes    about 2.0 s each" in seen
    assert "about 4.0 s on 4 CPUs as in `a-001`" in seen
    d0ctl("submit", str(path), "--hold", "--force")
    assert "as in `a-001`" in d0ctl("submit", str(path), "--dry-run").stdout


def test_an_estimate_is_by_the_last_success_of_each_stage(
    tmp_path: Path, site: Site, d0ctl: Type
) -> None:
    site.up()
    path = tmp_path / "a.yaml"
    path.write_text(
        "stages:\n- {name: s, lines: [{run: x, outputs: x}]}\n"
        "- {name: t, lines: [{run: y, inputs: x}]}\n"
    )
    for name, ended in (("one", "12"), ("two", "1")):
        assert d0ctl("submit", str(path), "--as", name, "--force").exit_code == 0
        for stage in ended:
            site.finish(f"{name}/{stage}/1/1")

    assert "about 4.0 s on 4 CPUs as in `two`" in d0ctl("submit", str(path), "--dry-run").stdout


def test_the_preview_shows_after_and_limits(tmp_path: Path, d0ctl: Type) -> None:
    path = tmp_path / "order.yaml"
    path.write_text(
        "stages:\n"
        "  - {name: a, max-running: 2, lines: [{for: {n: [1, 2]}, run: x, outputs: 'a{n}'}]}\n"
        "  - {name: b, after: a, lines: [{run: x}]}\n"
        "  - {name: c, require: 50%, lines: [{run: x, inputs: {from: a}}]}\n"
        "  - {name: d, final: yes, lines: [{run: x}]}\n"
        "  - {name: e, lines: [{for: {n: [1, 2]}, after: a/=, run: x}]}\n"
    )

    seen = d0ctl("validate", str(path), "--list", "--graph").stdout
    rows = [" ".join(row.split()) for row in seen.splitlines()]

    assert "runs at most 2 packages at a time" in rows
    assert "runs after `a`" in rows and "a 2 lines -> b 1 line after it" in rows
    assert "runs if 50 % of the packages it reads from succeed" in rows
    assert "runs after all other stages, whether they succeed or not" in rows
    assert "all others -> d 1 line final" in rows
    assert "runs after lines of `a`" in rows
    assert "a 2 lines -> e 2 lines after lines of it" in rows
    assert "5/2 n=2 after 1/2 -> nothing" in rows


LATE = """\
job: {name}
stages:
  - name: split
    lines:
      - for: {{n: [1, 2]}}
        run: "touch p{{n}}-1 p{{n}}-2 p{{n}}-3"
        outputs: [{{file: "p{{n}}-*", late: yes}}]
  - name: count
    lines: [{{run: "ls {{inputs}} > all", inputs: {{from: split}}, outputs: all}}]
"""


def test_late_outputs_are_counted_as_they_were_in_an_earlier_job(
    tmp_path: Path, d0ctl: Type
) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(LATE.format(name="first"))
    before = d0ctl("submit", str(path), "--dry-run").stdout
    assert d0ctl("run", str(path)).exit_code == 0

    path.write_text(LATE.format(name="second"))
    after = d0ctl("submit", str(path), "--dry-run").stdout

    assert "reads    files that match `p1-*` and `p2-*` of `split`\n" in before
    assert "reads    files that match `p1-*` and `p2-*` of `split`, 6 files in `first`\n" in after
