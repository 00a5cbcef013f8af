"""export, as it is typed: job files, and the formats of other programs."""

import json
from pathlib import Path

import pytest

from d0ctl.importers.formats import read
from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.reader import read_text
from d0ctl.store.views.job_files import definition
from d0ctl.store.views.job_files import job_file_text as jobfile
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.rows import read as read_rows
from tests.support.site import Site

RECO = """\
job: reco001
title: "{{energy}} at {energy}"
originator: reco@fnal.gov
mail: never
priority: 60
max-running: 30
max-failures: 9
max-alike-failures: 4
parameters: {energy: 13, cuts: {low: 1}}
policy: {exit-code: {tries: 2, delay: [5m, 1h], elsewhere: only}, never: {attempt: no}}
stages:
  - name: reco
    require: 97%
    priority: 70
    max-running: 5
    lines:
      - for: {n: [1, 2]}
        name: "raw{n}"
        packages:
          - name: reco
            nodes: localhost
            memory: 2GB
            wall-time: 90m
            looping: 1h
            environment: {A: "{{energy}} {{inputs}} x"}
            wrapper: start.sh
            wrapper-parameters: {OPTIONS: "-v"}
            policy: {signal: {tries: 1}}
            binaries:
              - name: reco
                run: |
                  echo {{energy}} ${energy} {other} {{inptus}} {inputs} > all{n}.reco
                  cat {inputs} >filtered{n}.reco
                inputs: [{file: "raw{n}.raw", acquire: pre-fetch, disposition: deletable}]
                outputs:
                  - {file: "all{n}.reco", size: 2MB, min-size: 1, disposition: [retain-indef]}
                  - "filtered{n}.reco"
                runtime: 20m
                work-size: 10KB
                cpu: 99
                log-rules: [{match: "bad {3}", reason: "site:bad", required: no}]
                progress: {output: "all{n}.reco", of: 5MB}
                check: "test -s all{n}.reco"
                check-timeout: 5m
              - {name: sort, shell: sh, run: "sort all{n}.reco", inputs: "all{n}.reco"}
          - name: tidy
            run: [tidy, "{inputs}", "{{inputs}}"]
            inputs: "filtered{n}.reco"
            outputs: {file: "part{n}-*.txt", late: yes, min-count: 2}
  - name: recoA
    lines:
      - for: {n: [1, 2]}
        early-start: yes
        run: recoanalyze {inputs.list}
        inputs: {from: tidied, match: "all{n}*"}
        outputs: "root{n}.root"
      - for: {n: [1, 2]}
        run: store {inputs}
        inputs: [{from: reco, match: "part{n}-*"}, {file: "raw1.raw", writable: yes}]
  - name: cards
    lines:
      - for: {part: {glob: "cards/*.txt", by: 2}}
        run: "cat {part} > {outputs}"
        inputs: ["{part}", {file: calib/, as: geometry}, {file: cards/a.txt, as: "in/"}]
        outputs: "cards{part.index}/"
      - {run: [ls, "{inputs}"], inputs: cards/b.txt, layout: flat}
      - for: {part: {glob: "cards/*.txt", by: 2}}
        run: [ls, "{part}"]
        inputs: "{part}"
  - name: tidied
    lines: [{for: {n: [1, 2]}, run: "x", outputs: "all{n}.{{x}}"}]
  - name: check
    after: recoA
    lines:
      - {name: first, run: "true"}
      - {name: second, run: "true", after: check/first}
  - name: report
    final: yes
    lines: [{run: "echo $D0CTL_JOB_STATE"}]
"""


@pytest.fixture
def reco(tmp_path: Path, site: Site, d0ctl: Type) -> Path:
    """The file of a submitted job with most keys."""
    for name in ("raw1.raw", "raw2.raw", "start.sh"):
        (tmp_path / name).write_text(name)
    for name in ("calib/x", "cards/a.txt", "cards/b.txt", "cards/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    path = tmp_path / "reco.yaml"
    path.write_text(RECO)
    done = d0ctl("submit", str(path))
    assert done.exit_code == 0, done.output
    return path


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_submitting_an_export_makes_an_equal_job(
    reco: Path, site: Site, d0ctl: Type, tmp_path: Path, form: str
) -> None:
    text = d0ctl("export", "reco001", "--format", form).stdout
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "again.yaml").write_text(text)

    done = d0ctl("submit", str(folder / "again.yaml"), "--as", "again", "--json")
    assert done.exit_code == 0, done.output

    first, second = (definition.read(site.store, name) for name in ("reco001", "again"))
    assert first is not None and second is not None
    one, other = jobfile.document(first), jobfile.document(second)
    assert (one.pop("job"), other.pop("job")) == ("reco001", "again")
    assert one == other
    columns = ("seq", "phase", "missing", "early", "gathered", "awaited", "wrapper")
    rows = [
        read_rows(site.store, "package", *columns, job_id=found.row["id"])
        for found in (first, second)
    ]
    assert rows[0] == rows[1]
    names = [
        {local_name(input["name"], input["local"]) for input in package.inputs}
        for found in (first, second) for package in found.packages
    ]  # fmt: skip
    assert names[: len(names) // 2] == names[len(names) // 2 :]
    assert {"cards/b.txt", "geometry/"} < set().union(*names) and {"b.txt"} in names


CASE = """\
job: reco001
stages:
  - name: reco
    max-running: 2
    lines:
      - {name: reco, run: "reco --all 'x'", outputs: [all.reco, filtered.reco]}
  - name: analyze
    lines:
      - {name: recoA, run: [recoanalyze, "{inputs}"], inputs: all.reco, priority: 60}
      - {name: store, run: "a\\nb {inputs}", inputs: all.reco, memory: 1GiB}
      - {name: recoA, run: "recoanalyze {inputs}", inputs: filtered.reco, outputs: x.root}
  - name: mail
    final: yes
    lines: [{name: mail, run: mail, inputs: [{file: x.root, required: no}]}]
"""

EXPECTED = Path(__file__).with_name("case4.dag")


@pytest.fixture
def case(tmp_path: Path, site: Site, d0ctl: Type) -> None:
    """A submitted job as in case IV of the D0 Job Definition, for one raw file."""
    (tmp_path / "case.yaml").write_text(CASE)
    assert d0ctl("submit", str(tmp_path / "case.yaml")).exit_code == 0


def test_the_dagman_export_has_the_nodes_and_order_of_the_job(case: None, d0ctl: Type) -> None:
    assert d0ctl("export", "reco001", "--format", "dagman").stdout == EXPECTED.read_text()


def test_an_exported_workflow_is_imported_with_the_same_order(
    case: None, d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "back.dag"
    path.write_text(d0ctl("export", "reco001", "--format", "dagman").stdout)

    found = read(path)

    assert found.left_out == ()
    assert "- name: Stage2Line3Package1RecoA\n" in found.text
    assert found.text.count("after: [Stage1/1]") == 3
    assert "inputs: [all.reco]" in found.text


def test_graphs_have_a_node_per_package_and_an_arrow_per_dependency(
    case: None, d0ctl: Type
) -> None:
    dot = d0ctl("export", "reco001", "--format", "dot").stdout
    mermaid = d0ctl("export", "reco001", "--format", "mermaid").stdout

    assert "  Stage1Line1Package1Reco -> Stage2Line2Package1Store;\n" in dot
    assert '  subgraph cluster_2 {\n    label="analyze";\n    Stage2Line1Package1RecoA;\n' in dot
    assert "  Order1 -> Stage3Line1Package1Mail;\n" in dot
    assert "  Stage1Line1Package1Reco --> Stage2Line2Package1Store\n" in mermaid
    assert '  subgraph S2["analyze"]\n' in mermaid


def test_an_exported_wfcommons_instance_can_be_imported(
    case: None, site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = d0ctl("export", "reco001", "--format", "wfcommons").stdout
    instance = json.loads(text)
    tasks = instance["workflow"]["specification"]["tasks"]

    assert instance["schemaVersion"] == "1.5"
    assert tasks[1]["parents"] == ["Stage1Line1Package1Reco"]
    assert tasks[1]["inputFiles"] == ["all.reco"]
    path = tmp_path / "flow.json"
    path.write_text(text)
    assert "inputs: [all.reco]" in read(path).text


def test_export_refuses_unknown_jobs_and_formats(site: Site, d0ctl: Type) -> None:
    assert d0ctl("export", "none").exit_code == 3
    assert d0ctl("export", "none", "--format", "x").exit_code == 2


def test_export_of_a_part_names_its_job_and_not_one_of_a_similar_name(
    site: Site, d0ctl: Type
) -> None:
    for name in ("prod", "prod2"):
        site.submit(production(name=name))

    result = d0ctl("export", "prod/2")

    assert (result.exit_code, result.stderr.splitlines()) == (
        3, ["d0ctl: `prod/2` is not a whole job", "did you mean `prod`?"],
    )  # fmt: skip


def test_an_exported_binary_without_inputs_has_its_empty_list(site: Site, d0ctl: Type) -> None:
    lines = '[{run: "cat {inputs}", inputs: []}, {run: date}]'
    site.submit(read_text(f"job: none\nstages: [{{lines: {lines}}}]\n"))

    text = d0ctl("export", "none").stdout

    assert text.count("inputs: []") == 1
    assert text.count("cat {inputs}") == 1
