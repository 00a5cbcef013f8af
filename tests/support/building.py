"""Small productions, whose files are made by one package and read by another."""

import json
from collections.abc import Sequence
from typing import Any

from d0ctl.jobfile.spec import (
    BinarySpec,
    InputSpec,
    JobSpec,
    LineSpec,
    OutputSpec,
    PackageSpec,
)
from d0ctl.jobfile.spec import StageSpec as Stage


def package(
    *outputs: str, needs: Sequence[str] = (), takes: Sequence[str] = (), name: str = "", **more: Any
) -> PackageSpec:
    """A package of one binary; `needs` are required inputs, `takes` are not.

    What starts with `/` is a file from outside.
    """
    inputs = [InputSpec(file, made=not file.startswith("/")) for file in needs]
    inputs += [InputSpec(file, required=False) for file in takes]
    binary = BinarySpec(
        "tool",
        script="tool",
        inputs=tuple(inputs),
        outputs=tuple(OutputSpec(file) for file in outputs),
    )
    return PackageSpec(name or "1", (binary,), **more)


def line(*packages: PackageSpec, name: str = "1") -> LineSpec:
    """A line of packages."""
    return LineSpec(name, packages)


def job(*stages: tuple[str, Sequence[LineSpec]], name: str = "prod", **more: Any) -> JobSpec:
    """A job of stages by name."""
    fields: dict[str, Any] = {
        "title": "A production", "originator": "me@here", "priority": 50, "hold": False,
        "parameters": {}, "policy": {}, "directory": "/tmp", "source": "job.yaml",
    }  # fmt: skip
    number = sum(len(one.packages) for _, lines in stages for one in lines)
    return JobSpec(
        name=name,
        named=True,
        stages=tuple(Stage(word, tuple(lines)) for word, lines in stages),
        packages=number,
        **(fields | more),
    )


def production(name: str = "prod", lines: int = 3, **more: Any) -> JobSpec:
    """Lines of gen and sim, a merge that takes what comes, and a plot that needs the merge."""
    return job(
        ("make", [line(package(f"gen-{i}", name="gen"),
                       package(f"sim-{i}", needs=[f"gen-{i}"], name="sim"))
                  for i in range(1, lines + 1)]),
        ("merge", [line(package("all", takes=[f"sim-{i}" for i in range(1, lines + 1)]))]),
        ("plot", [line(package("plot.png", needs=["all"]))]),
        name=name, **more,
    )  # fmt: skip


def document(text: str) -> Any:
    """The one JSON document of an output."""
    return json.loads(text)
