"""Whatever job file is accepted: its job is whole, can be shown, and is equal when exported."""

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.preview import Preview
from d0ctl.jobfile.reader import read_text
from d0ctl.show.export import dagman, graph, wfcommons
from d0ctl.store import Store
from d0ctl.store.views.job_files import definition, job_file_text
from tests.support.examples import examples
from tests.support.homes import faults
from tests.support.jobs import NOW, submitted
from tests.support.rows import count

Record = dict[str, Any]

TEXTS = st.sampled_from(["{n}", "{n:03}", "{n+1}", "a b", "'", "$HOME", "{{n}}", "{x}", "é",
                          "%s", "{{parameterz}}", "{{inputs}}", "{other}", "{{{n}}}"])  # fmt: skip
SIZES = st.sampled_from(["1", "200MB", "1.5 GiB"])
TIMES = st.sampled_from(["90", "1h30m", "2d"])
PRIORITIES = st.sampled_from(["0", "50", "{n}"])
FLAGS = st.sampled_from(["yes", "no"])
COUNTS = st.sampled_from(["1", "3"])
VARIABLES = st.dictionaries(st.sampled_from(["A", "LONG_NAME"]), TEXTS, max_size=2)

JOB: dict[str, st.SearchStrategy[Any]] = {
    "title": TEXTS, "hold": FLAGS, "max-running": COUNTS, "max-failures": COUNTS,
    "max-alike-failures": COUNTS, "mail": st.sampled_from(["never", "when-needed"]),
}  # fmt: skip
STAGE: dict[str, st.SearchStrategy[Any]] = {"max-running": COUNTS}
PACKAGE: dict[str, st.SearchStrategy[Any]] = {
    "cpus": COUNTS, "memory": SIZES, "disk": SIZES, "wall-time": TIMES, "looping": TIMES,
    "layout": st.sampled_from(["flat", "paths"]), "priority": PRIORITIES, "environment": VARIABLES,
}  # fmt: skip
BINARY: dict[str, st.SearchStrategy[Any]] = {
    "parameters": VARIABLES, "runtime": TIMES,
    "work-size": SIZES, "cpu": st.sampled_from(["0", "100"]), "check": st.just("test -e {outputs}"),
    "image": st.just("/images/{n}.sif"), "log-rules": st.just("FATAL {n}"),
}  # fmt: skip
OUTPUT: dict[str, st.SearchStrategy[Any]] = {
    "size": SIZES, "min-size": SIZES, "result": FLAGS,
    "disposition": st.sampled_from(["retain-temp", "deletable", ["forward", "retain-indef"]]),
}  # fmt: skip
INPUT: dict[str, st.SearchStrategy[Any]] = {
    "required": FLAGS, "writable": FLAGS, "disposition": st.sampled_from(["deletable"]),
    "as": st.sampled_from(["in/", "other"]),
}  # fmt: skip


def some(keys: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Record]:
    """A few of these keys."""
    return st.lists(st.sampled_from(sorted(keys)), max_size=2, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: keys[name] for name in names})
    )


@st.composite
def sound_jobs(draw: st.DrawFn) -> Record:
    """A job whose files fit together; some are refused nevertheless, for a value or a loop."""
    stages: list[Record] = []
    for number in range(draw(st.integers(1, 3))):
        before = [stage["name"] for stage in stages]
        lines = [draw(_lines(f"{number}{at}", before)) for at in range(draw(st.integers(1, 2)))]
        stage: Record = {"name": f"s{number}", **draw(some(STAGE)), "lines": lines}
        if before and draw(st.integers(0, 3)) == 3:
            stage["after"] = draw(st.sampled_from(before))
        stages.append(stage)
    if len(stages) > 1 and draw(st.integers(0, 4)) == 4:
        stages[-1]["final"] = "yes"
    return {**draw(some(JOB)), "parameters": {"x": draw(TEXTS)}, "stages": stages}


@st.composite
def _lines(draw: st.DrawFn, place: str, before: list[str]) -> Record:
    """A line, a loop over lines, or one over groups of the files of a stage before."""
    ways = ["range", "list", *(["groups"] if before else [])]
    way = draw(st.sampled_from(ways))
    sources: dict[str, Record] = {
        "range": {"range": [1, draw(st.integers(1, 4))]},
        "list": {"list": ["7", "08"]},
        "groups": {"from": draw(st.sampled_from(before or [""])), "by": draw(st.integers(1, 3))},
    }
    n = "{n.index}" if way == "groups" else "{n}"
    packages = []
    for at in range(draw(st.integers(1, 2))):
        inputs: list[Any] = ["{n}"] if way == "groups" else []
        if before and way != "groups" and draw(st.booleans()):
            inputs = [{"from": draw(st.sampled_from(before)), **draw(some(INPUT))}]
        packages.append(
            {**draw(some(PACKAGE)), "binaries": draw(_chain(f"{place}{at}", n, inputs))}
        )
    return {"for": {"n": sources[way]}, "packages": packages}


@st.composite
def _chain(draw: st.DrawFn, place: str, n: str, inputs: list[Any]) -> list[Record]:
    """Binaries, each reading what the one before has made."""
    binaries: list[Record] = []
    for at in range(draw(st.integers(1, 2))):
        ending = draw(st.sampled_from([".txt", "-d/", "-*", "{{a}}.txt"]))
        folder = draw(st.sampled_from(["", "out/"]))
        output: Record = {"file": f"{folder}f{place}{at}-{n}{ending}", **draw(some(OUTPUT))}
        if ending == "-*":
            output["late"] = "yes"
        run = draw(
            st.sampled_from(
                ["go {inputs} > {outputs}", "go {inputs.list}", ["go", "{x}", "{{inptus}}"]]
            )
        )
        binaries.append({"run": run, **draw(some(BINARY)), "inputs": inputs, "outputs": [output]})
        inputs = [output["file"]] if ending != "-*" and draw(st.booleans()) else []
    return binaries


def exported(store: Store, name: str) -> str:
    """A job as a job file, without its name."""
    job = definition.read(store, name)
    assert job is not None
    for text in (dagman.text(job), graph.dot(job), graph.mermaid(job), wfcommons.text(job, NOW)):
        assert text.isascii() or text.encode()
    return re.sub("(?m)^job: .*\n", "", job_file_text.text(job))


@given(sound_jobs())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_job_file_that_is_accepted_makes_a_job_that_is_equal_when_exported(
    store: Store, document: Record
) -> None:
    try:
        spec = read_text(json.dumps(document), directory=Path("/"))
    except BadJobFile:
        return
    preview = Preview(spec)
    name = f"j{count(store, 'job')}"
    submitted(store, spec, name=name)

    assert faults(store) == {}
    assert sum(stage.packages for stage in preview.stages) == spec.packages
    text = exported(store, name)
    again = read_text(text, directory=Path("/"))
    submitted(store, again, name=f"{name}-again")
    assert exported(store, f"{name}-again") == text
