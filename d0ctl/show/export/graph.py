"""The packages of a job as the nodes of a graph, ordered by files and `after`."""

import re
from collections import defaultdict

from msgspec import Struct

from d0ctl.store.views.job_files.definition import JobRows, PackageRows

_SIGNS = re.compile(r"[^A-Za-z0-9]+")


class Graph(Struct):
    """Names of packages by their ids, and the packages directly after each."""

    names: dict[int, str]
    behind: dict[int, list[int]]
    groups: list[tuple[list[int], list[int]]]
    """Stages whose packages all come after those of another."""


def node_name(package: PackageRows) -> str:
    """Name a package as the D0 Job Definition does: `Stage1Line2Package1Reco`."""
    names = (package.row["name"], package.line_name, package.binaries[0]["name"])
    name = next((name for name in names if not name.isdigit() and "=" not in name), names[-1])
    word = "".join(part[:1].upper() + part[1:] for part in _SIGNS.split(name))
    return f"Stage{package.stage}Line{package.line}Package{package.row['seq']}{word}"


def read(job: JobRows) -> Graph:
    """Return the graph of a job, without files of other jobs."""
    packages = job.packages
    names = {package.row["id"]: node_name(package) for package in packages}
    behind: defaultdict[int, dict[int, None]] = defaultdict(dict)
    for package in packages:
        for row in package.inputs:
            if row["maker"] in names and row["maker"] != package.row["id"]:
                behind[row["maker"]][package.row["id"]] = None
    last = {(line.row["stage"], line.row["seq"]): line.packages[-1].row["id"]
            for stage in job.stages for line in stage.lines}  # fmt: skip
    for stage in job.stages:
        for line in stage.lines:
            for before, after in zip(line.packages, line.packages[1:], strict=False):
                behind[before.row["id"]][after.row["id"]] = None
            for row in line.after:
                first = line.packages[0].row["id"]
                behind[last[row["stage_seq"], row["seq"]]][first] = None
    return Graph(names, {key: list(followers) for key, followers in behind.items()}, _groups(job))


def _groups(job: JobRows) -> list[tuple[list[int], list[int]]]:
    """Return the ends of stages and the beginnings of those after them."""
    ends = {stage.row["name"]: [line.packages[-1].row["id"] for line in stage.lines]
            for stage in job.stages}  # fmt: skip
    starts = {stage.row["name"]: [line.packages[0].row["id"] for line in stage.lines]
              for stage in job.stages}  # fmt: skip
    arrows = [(ends[before], starts[stage.row["name"]])
             for stage in job.stages for before in stage.after]  # fmt: skip
    rest = [key for stage in job.stages if not stage.row["final"]
            for key in ends[stage.row["name"]]]  # fmt: skip
    arrows += [(rest, starts[stage.row["name"]]) for stage in job.stages if stage.row["final"]]
    return arrows


def dot(job: JobRows) -> str:
    """Return the graph for Graphviz, with a box for each stage."""
    graph, lines = read(job), [f"digraph {_quoted(job.row['name'])} {{"]
    for stage in job.stages:
        seq = stage.row["seq"]
        lines += [f"  subgraph cluster_{seq} {{", f"    label={_quoted(stage.row['name'])};"]
        lines += [f"    {graph.names[package.row['id']]};"
                  for line in stage.lines for package in line.packages]  # fmt: skip
        lines.append("  }")
    lines += [f"  {before} -> {after};" for before, after in _arrows(graph)]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(job: JobRows) -> str:
    """Return the graph for Mermaid, with a box for each stage."""
    graph, lines = read(job), ["flowchart LR"]
    for stage in job.stages:
        label = stage.row["name"].replace('"', "#quot;")
        lines.append(f'  subgraph S{stage.row["seq"]}["{label}"]')
        lines += [f"    {graph.names[package.row['id']]}"
                  for line in stage.lines for package in line.packages]  # fmt: skip
        lines.append("  end")
    lines += [f"  {before} --> {after}" for before, after in _arrows(graph)]
    return "\n".join(lines) + "\n"


def _arrows(graph: Graph) -> list[tuple[str, str]]:
    """Return arrows between packages; a point stands between stages with many lines."""
    names = graph.names
    arrows = [(names[a], names[b]) for a, followers in graph.behind.items() for b in followers]
    for number, (before, after) in enumerate(graph.groups, 1):
        point = f"Order{number}"
        arrows += [(names[a], point) for a in before] + [(point, names[b]) for b in after]
    return arrows


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
