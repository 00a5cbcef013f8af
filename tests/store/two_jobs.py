"""Two jobs, one reading a file of the other, and the changes that people make to their files."""

from collections.abc import Iterable

from msgspec.structs import replace

from d0ctl.jobfile.spec import InputSpec, JobSpec, OutputSpec
from tests.support.jobs import job, line, simple, stage

FIRST = job(
    "first",
    stage(
        simple(outputs=["a1"]),
        simple(outputs=["a2"]),
        line(simple(outputs=["b1"]), simple(inputs=["b1"], outputs=["b2", "b3"])),
        name="make",
    ),
    stage(
        simple(
            inputs=[
                InputSpec("a1", required=False),
                InputSpec("a2", required=False),
                InputSpec("b2"),
            ],
            outputs=["merged"],
        ),
        simple(inputs=["a1", "/outside"], outputs=["c"]),
        name="merge",
    ),
    stage(simple(inputs=["merged", "c"], outputs=[OutputSpec("result", result=True)]), name="end"),
)
SECOND = job("second", stage(simple(inputs=["first:merged"], outputs=["d"])))


def changed(spec: JobSpec, changes: Iterable[int]) -> JobSpec:
    """A job file after these changes: other scripts, and lines that are added or left out."""
    stages = [list(stage.lines) for stage in spec.stages]
    for change in changes:
        at, rest = divmod(change, 3)
        lines = stages[at % len(stages)]
        number = at // len(stages) % max(1, len(lines))
        if rest == 0:
            lines.append(line(simple(f"more {at}", outputs=[f"more-{at % 4}"])))
        elif lines and rest == 1:
            del lines[number]
        elif lines:
            first, *others = lines[number].packages
            binaries = (replace(first.binaries[0], script=f"other {at % 2}"), *first.binaries[1:])
            lines[number] = replace(
                lines[number], packages=(replace(first, binaries=binaries), *others)
            )
    pairs = zip(spec.stages, stages, strict=True)
    return replace(
        spec,
        stages=tuple(replace(stage, lines=tuple(lines)) for stage, lines in pairs),
        packages=sum(len(line.packages) for lines in stages for line in lines),
    )
