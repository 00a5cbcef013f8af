"""Instances of WfCommons and lists of Snakemake as job files."""

import json
from pathlib import Path
from typing import Any

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.importers.formats import read
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.spec import JobSpec


def job_of(path: Path) -> JobSpec:
    """Import a file; the job."""
    return read_text(read(path).text, str(path.with_suffix(".yaml")), path.parent)


def instance(tasks: int) -> dict[str, Any]:
    """An instance in which task n reads a file of task n // 2."""
    specification = [
        {
            "name": "first" if n == 1 else "more", "id": f"task_{n}", "children": [],
            "parents": [f"task_{n // 2}"] if n > 1 else [],
            "inputFiles": [f"f{n // 2}.dat", "raw.dat"] if n > 2 else [],
            "outputFiles": [f"f{n}.dat"],
        }
        for n in range(1, tasks + 1)
    ]  # fmt: skip
    runs = [
        {"id": "task_2", "runtimeInSeconds": 12.4, "coreCount": 2, "memoryInBytes": 1000,
         "command": {"program": "merge", "arguments": ["-x", "{inputs}"]}},
    ]  # fmt: skip
    return {
        "name": "flow", "schemaVersion": "1.5", "description": "A flow",
        "workflow": {
            "specification": {"tasks": specification,
                              "files": [{"id": "f1.dat", "sizeInBytes": 500}]},
            "execution": {"makespanInSeconds": 9, "tasks": runs},
        },
    }  # fmt: skip


def test_tasks_become_lines_that_read_the_files_of_others(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(instance(4)))

    job, found = job_of(path), read(path)

    first, more = job.stages
    assert (job.title, first.name, more.name) == ("A flow", "first", "more")
    second, third, fourth = more.lines
    assert second.after == ((1, 1),) and not third.after
    binary = second.packages[0].binaries[0]
    assert (binary.argv, binary.runtime) == (("merge", "-x", "{inputs}"), 12.0)
    assert (second.packages[0].cpus, second.packages[0].memory) == (2, 1000)
    assert [entry.file for entry in fourth.packages[0].binaries[0].inputs] == ["f2.dat"]
    (line,) = first.lines
    assert "truncate -s 500 'f1.dat'" in str(line.packages[0].binaries[0].script)
    assert found.left_out == (
        "flow.json: input `raw.dat` of 2 tasks: there is no such file beside it",
        "flow.json: 3 tasks have no command: they make their outputs with the recorded sizes",
    )


DOT = r"""
digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
    0[label = "all", color = "0.33 0.6 0.85", style="rounded"];
    1[label = "map\nsample: A", color = "0.00 0.6 0.85", style="rounded,dashed"];
    2[label = "map\nsample: B", color = "0.00 0.6 0.85", style="rounded"];
    1 -> 0
    2 -> 0
}
"""
D3 = {
    "nodes": [
        {"id": 0, "value": {"jobid": 0, "label": "all", "rule": "all"}},
        {"id": 1, "value": {"jobid": 1, "label": "map\nsample: A", "rule": "map"}},
        {"id": 2, "value": {"jobid": 2, "label": "map\nsample: B", "rule": "map"}},
    ],
    "links": [{"u": 1, "v": 0}, {"u": 2, "v": 0}],
}


@pytest.mark.parametrize("text", [DOT, json.dumps(D3)], ids=["dag", "d3dag"])
def test_jobs_of_snakemake_become_lines_of_their_rule(tmp_path: Path, text: str) -> None:
    path = tmp_path / "list"
    path.write_text(text)

    job = job_of(path)

    names = {stage.name: [line.name for line in stage.lines] for stage in job.stages}
    assert names == {"all": ["0"], "map": ["sample=A", "sample=B"]}
    (last,) = job.stages[0].lines
    assert last.after == ((2, 1), (2, 2))
    (first, _) = job.stages[1].lines
    assert "--target-jobs map:sample=A" in str(first.packages[0].binaries[0].script)


REAL = r"""
digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
    node[shape=box, style=rounded, fontname=sans,                 fontsize=10, penwidth=2];
    edge[penwidth=2, color=grey];
	0[label = "report", color = "0.33 0.6 0.85", style="rounded"];
	1[label = "sort", color = "0.50 0.6 0.85", style="rounded"];
	2[label = "map\nsample: A", color = "0.17 0.6 0.85", style="rounded"];
	3[label = "sort", color = "0.50 0.6 0.85", style="rounded"];
	4[label = "map\nsample: B", color = "0.17 0.6 0.85", style="rounded"];
	5[label = "part\nn: 1", color = "0.50 0.6 0.85", style="rounded"];
	6[label = "part\nn: 1", color = "0.50 0.6 0.85", style="rounded"];
	7[label = "copy\nn: 1\ns: A", color = "0.50 0.6 0.85", style="rounded"];
	8[label = "copy\nn: 1\ns: B", color = "0.50 0.6 0.85", style="rounded"];
	9[label = "plot", color = "0.50 0.6 0.85", style="rounded"];
	1 -> 0
	3 -> 0
	2 -> 1
	4 -> 3
	1 -> 5
	3 -> 6
	1 -> 7
	3 -> 8
	5 -> 9
}
"""
"""What Snakemake 9 prints: of a wildcard that a job before has, too, it says nothing."""


def test_wildcards_that_a_list_leaves_out_are_those_of_the_job_before(tmp_path: Path) -> None:
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow" / "Snakefile").touch()
    path = tmp_path / "dag.dot"
    path.write_text(REAL)

    found = read(path)

    calls = [line.split() for line in found.text.splitlines() if "--target-jobs" in line]
    assert [call[-1].rstrip('"') for call in calls] == [
        "report:", "sort:sample=A", "sort:sample=B", "map:sample=A", "map:sample=B",
        "part:n=1,sample=A", "part:n=1,sample=B", "copy:n=1,s=A", "copy:n=1,s=B",
        "plot:n=1,sample=A",
    ]  # fmt: skip
    assert {call[call.index("--snakefile") + 1] for call in calls} == {
        str(tmp_path / "workflow" / "Snakefile")
    }
    assert found.left_out[0] == (
        "dag.dot: rule `plot` is taken to have `n`, `sample`, as the job before it; the list does "
        "not say so"
    )


def test_a_list_of_seemingly_equal_jobs_is_refused(
    tmp_path: Path,
) -> None:
    nodes = [{"id": n, "value": {"jobid": n, "label": rule, "rule": rule}}
             for n, rule in enumerate(("all", "map", "map"))]  # fmt: skip
    path = tmp_path / "dag.json"
    path.write_text(json.dumps({"nodes": nodes, "edges": [{"u": 1, "v": 0}, {"u": 2, "v": 0}]}))

    with pytest.raises(BadJobFile, match="which wildcards the jobs of rule `map` have"):
        read(path)


def test_an_instance_of_ten_thousand_tasks_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps(instance(10_000)))

    assert job_of(path).packages == 10_000
