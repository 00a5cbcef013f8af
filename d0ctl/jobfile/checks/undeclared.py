"""Files that a package makes or reads, but that its job file does not declare."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice

from d0ctl.jobfile.input_files import InputFiles
from d0ctl.jobfile.recipe import JobRecipe, PackageRecipe
from d0ctl.jobfile.yaml.faults import shown

MOST_COMPARED = 100
"""How many outputs of a job are compared with each pattern in a command."""


def outputs_by_stage(job: JobRecipe) -> dict[str, str]:
    """Return the outputs of the first line of each loop, with the names of their stages."""
    return {
        output.file.render(values): stage.name
        for stage in job.stages
        for line in stage.lines
        if (values := next(iter(line.loop), None)) is not None
        for package in line.packages
        for binary in package.binaries
        for output in binary.outputs
    }


def kept_by_none(
    package: PackageRecipe, written: Mapping[str, str], files: InputFiles
) -> Iterator[tuple[str, str]]:
    """Yield the file that a package without outputs writes from files of others, with a warning.

    A package that only stores or checks files writes none.
    """
    binaries = package.binaries
    if any(binary.outputs for binary in binaries) or not any(
        files.comes_from_packages(entry) for binary in binaries for entry in binary.inputs
    ):
        return
    for name, word in written.items():
        if name[0].isalpha():
            yield (
                word,
                (
                    f"{shown(word)} is written, but the package has no `outputs`, so only its log "
                    f"is kept; add `outputs: {name}`"
                ),
            )
            return


def unread_outputs(
    run_words: Iterable[str], known: Collection[str], made: Mapping[str, str], *, has_inputs: bool
) -> Iterator[tuple[str, str]]:
    """Yield the words that name outputs of other packages, but no inputs, with a warning."""
    for word in run_words:
        name = word.removeprefix("./")
        found = name if name in made else _matched(name, made)
        if found is None or any(own == name or fnmatchcase(own, name) for own in known):
            continue
        entry = f"{{from: {made[found]}}}"
        remedy = f"`{entry}` to its `inputs`" if has_inputs else f"`inputs: {entry}`"
        what = "is" if found == name else f"matches {shown(found)},"
        yield (
            word,
            (
                f"{shown(word)} {what} an output of stage `{made[found]}`, but not an input: it "
                f"will not be on the node; add {remedy}"
            ),
        )


def _matched(pattern: str, made: Mapping[str, str]) -> str | None:
    """Return the first output that a pattern matches; one of few letters says too little."""
    if "*" not in pattern or len(pattern.strip("*.")) < 2:
        return None
    return next((name for name in islice(made, MOST_COMPARED) if fnmatchcase(name, pattern)), None)
