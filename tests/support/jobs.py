"""Small jobs, made without a job file, and their way into a store."""

from collections.abc import Iterable, Sequence
from typing import Any

from d0ctl.jobfile.spec import (
    BinarySpec,
    InputSpec,
    JobSpec,
    LineSpec,
    OutputSpec,
    PackageSpec,
    StageSpec,
)
from d0ctl.store import Store
from d0ctl.store.jobs.submission.submit import submit
from tests.support.rows import read, value

NOW = 1_000_000.0
"""When things happen, unless a test says otherwise."""

InputLike = str | InputSpec
OutputLike = str | OutputSpec


def binary(
    script: str = "true",
    inputs: Iterable[InputLike] = (),
    outputs: Iterable[OutputLike] = (),
    **more: Any,
) -> BinarySpec:
    """A binary; what starts with `/` is a file from outside."""
    return BinarySpec(
        name=more.pop("name", "work"),
        script=script,
        inputs=tuple(
            InputSpec(file=file, made=not file.startswith("/")) if isinstance(file, str) else file
            for file in inputs
        ),
        outputs=tuple(OutputSpec(file=file) if isinstance(file, str) else file for file in outputs),
        **more,
    )


def package(*binaries: BinarySpec, name: str = "package", **more: Any) -> PackageSpec:
    """A package of these binaries, or of one that does nothing."""
    return PackageSpec(name=name, binaries=binaries or (binary(),), **more)


def simple(
    script: str = "true",
    inputs: Iterable[InputLike] = (),
    outputs: Iterable[OutputLike] = (),
    **more: Any,
) -> PackageSpec:
    """A package of one binary."""
    return package(binary(script, inputs, outputs), **more)


def line(*packages: PackageSpec) -> LineSpec:
    """A line of these packages."""
    return LineSpec(name="line", packages=packages)


def stage(*lines: LineSpec | PackageSpec, name: str = "stage") -> StageSpec:
    """A stage of these lines; a package stands for a line of its own."""
    whole = tuple(line(part) if isinstance(part, PackageSpec) else part for part in lines)
    return StageSpec(name=name, lines=whole)


def job(name: str = "job", *stages: StageSpec | Sequence[PackageSpec], **more: Any) -> JobSpec:
    """A job of these stages, or of one package that does nothing."""
    whole = tuple(
        part if isinstance(part, StageSpec) else stage(*part)
        for part in stages or (stage(simple()),)
    )
    fields: dict[str, Any] = {
        "named": True,
        "title": "",
        "originator": "somebody@example.org",
        "priority": 50,
        "hold": False,
        "parameters": {},
        "policy": {},
        "directory": "/",
        "source": "-",
        "packages": sum(len(part.packages) for stage in whole for part in stage.lines),
    }
    return JobSpec(name=name, stages=whole, **{**fields, **more})


def submitted(store: Store, spec: JobSpec, *, now: float = NOW, name: str | None = None) -> int:
    """Submit a job and give its id."""
    chosen = submit(store, spec, now=now, actor="tester", name=name)
    return int(value(store, "job", "id", name=chosen))


def phases(store: Store) -> dict[str, str]:
    """The phase of every package, by its path."""
    return dict(read(store, "v_package", "path", "phase", by="package_id"))
