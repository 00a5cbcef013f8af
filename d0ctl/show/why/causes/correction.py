"""How a job is corrected: in its job file, its command, or the program that submitted it."""

import re
from pathlib import Path

from msgspec import Struct

from d0ctl.jobfile.spec import STDIN
from d0ctl.store.connection import Store
from d0ctl.store.views.shapes.of_package import PackageView

_OF_A_COMMAND = re.compile(r"title: .*\nstages:\n- name: .*\n")
"""How the text begins that d0ctl writes for a command; other programs begin with `job`."""


class Correction(Struct, frozen=True):
    """What defines a job, and what to do after it was corrected; a retry alone runs it as it was.

    The fields are those of a job file.
    """

    again: str
    source: str = "job file"
    folder: str = "beside the job file"
    """Where the files of the job are."""
    update: str = ""
    """The command that takes the corrected job file, if the file still exists."""

    @property
    def advice(self) -> str:
        """What to do if the job is wrong."""
        return f"correct the {self.source}, then {self.again}"

    def add_input(self, name: str, *, has_inputs: bool) -> str:
        """Say how a file becomes an input."""
        remedy = f"`{name}` to the `inputs` in" if has_inputs else f"`inputs: {name}` to"
        return f"add {remedy} the {self.source}, then {self.again}"

    def add_unknown_input(self) -> str:
        """Say how a file that is elsewhere becomes an input."""
        return f"add it to `inputs`, then {self.again}"

    def ship(self, name: str) -> str:
        """Say how a command is written whose program is an input."""
        return f"`inputs: {name}`, `run: ./{name} ...`"


class CommandCorrection(Correction, frozen=True):
    """A job of `d0ctl run -- COMMAND`."""

    source: str = "command"
    folder: str = "in the folder of the command"
    name: str = ""
    """What follows if the job has a name that can't be used twice."""

    def add_input(self, name: str, *, has_inputs: bool) -> str:
        """Say how a file becomes an input, with others or alone."""
        return f"run the command again with `--input {name}`{self.name}"

    def add_unknown_input(self) -> str:
        """Say how a file that is elsewhere becomes an input."""
        return self.add_input("FILE", has_inputs=False)

    def ship(self, name: str) -> str:
        """Say how the command is written: d0ctl makes files that it names inputs."""
        return f"`./{name} ...` as the command"


def correction_of(store: Store, package: PackageView) -> Correction:
    """Return how the job of a package is corrected."""
    from d0ctl.store.jobs.submission.submit import text_of  # much, and needed for few failures

    job, known = package.path.partition("/")[0], text_of(store, package.job_id)
    if known is None or known.has_file:
        if known is not None and Path(known.source).is_file():
            update = f"d0ctl update {job}"
            return Correction(f"`{update}` and `{_retry(job)}`", update=update)
        return Correction("`d0ctl run FILE --as NAME`, or remove the job and run it again")
    if known.source == STDIN:
        return Correction("run it under another name, or remove the job and run it again")
    if _OF_A_COMMAND.match(known.text):
        is_numbered = re.fullmatch(rf"{re.escape(Path(known.source).name)}-\d+", job)
        name = "" if is_numbered else " and another `--as`"
        return CommandCorrection(f"run it again{name and ' with another `--as`'}", name=name)
    return Correction(
        f"`update` the job there and `{_retry(job)}`, or submit it under another name",
        source="program that submitted it", folder="in the folder of the job",
    )  # fmt: skip


def _retry(job: str) -> str:
    return f"d0ctl retry '{job}:failed'"
