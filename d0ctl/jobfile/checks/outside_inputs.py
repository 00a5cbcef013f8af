"""Checks of inputs that no package of the job makes: from other jobs, disk and network."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from d0ctl.jobfile import local_files
from d0ctl.jobfile.checks.outputs import Outputs
from d0ctl.jobfile.input_files import Origin
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.file_names import foreign, is_pattern
from d0ctl.jobfile.language.placeholders import LoopValues
from d0ctl.jobfile.recipe import InputRecipe
from d0ctl.jobfile.site_names import KnownNames, OtherInput
from d0ctl.jobfile.spec import Acquire
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean, shown


class OutsideInputs(Struct, frozen=True):
    """The inputs that no package makes, compared with other jobs and with the disk.

    A name that a faulty entry may make is no fault.
    """

    job: str
    outputs: Outputs
    directory: str
    known: KnownNames
    faults: Faults
    others: set[str] = field(default_factory=set)
    """The files of other jobs that were named."""

    def origin(self, recipe: InputRecipe, name: str, values: LoopValues, reader: int) -> Origin:
        """Return where such an input comes from; record a fault if it can't exist.

        `reader` is the number of the package that reads it.
        """
        of_job = foreign(name)
        if of_job is not None:
            self.others.add(name)
            return self._foreign(recipe, *of_job)
        try:
            fields = recipe.fields.get(values)
        except BadValueError:
            return Origin.WRONG
        acquire = fields.get("acquire")
        if acquire in (Acquire.NONE, Acquire.SELF):
            return Origin.PRESENT
        is_directory = local_files.is_directory(local_files.absolute(self.directory, name))
        if is_directory is None:
            return self._absent(recipe, name, acquire is not None, fields, reader)
        if is_directory is name.endswith("/"):
            return Origin.FETCHED
        kinds = ("a directory", f"{name}/") if is_directory else ("a file", name.rstrip("/"))
        self.faults.add_similar(
            recipe.position, "input", f"input {shown(name)} is {kinds[0]}: write {shown(kinds[1])}"
        )
        return Origin.WRONG

    def _foreign(self, recipe: InputRecipe, job: str, name: str) -> Origin:
        """Check a file of another job, `JOB:NAME`."""
        if job == self.job:
            message = f"{shown(f'{job}:{name}')} is a file of this job: write {shown(name)}"
            self.faults.add_similar(recipe.position, "foreign", message)
        elif self.known.produced is not None:
            produced = self.known.produced(job, name)
            if produced is None:
                self.known.lacks_job(OtherInput(job, name), recipe.position, self.faults)
            elif not produced:
                self.faults.add_similar(
                    recipe.position, "foreign", f"job {shown(job)} makes no file {shown(name)}"
                )
        return Origin.FAR

    def _absent(
        self,
        recipe: InputRecipe,
        name: str,
        explicit: bool,
        fields: Mapping[str, Any],
        reader: int,
    ) -> Origin:
        """Check a file that is not on this host."""
        if "locator" in fields:
            return Origin.FETCHED
        if name.startswith("/") and not explicit:
            return Origin.PRESENT
        if name.startswith("/") or not self.faults.hidden.may_have(name):
            self.faults.add_similar(
                recipe.position, "absent", lambda: self._absence(name, recipe, reader)
            )
        return Origin.WRONG

    def _absence(self, name: str, recipe: InputRecipe, reader: int) -> str:
        if name.startswith("/"):
            return f"there is no file {shown(name)} on this host to pre-fetch"
        if is_pattern(name):
            ways = f"`from: STAGE` with `match: {name}`, or `glob: {name}` {self.faults.beside}"
            return f"{shown(name)} is a pattern, which `file` does not take: write {ways}"
        hint = did_you_mean(name, self._names_near(name, reader), cutoff=0.75)
        listed = f", which {shown(recipe.listed_in)} names" if recipe.listed_in else ""
        here = self.faults.beside
        return f"no package makes {shown(name)}{listed}, and it is not {here}{hint}"

    def _names_near(self, name: str, reader: int) -> Iterator[str]:
        yield from self.outputs.readable_by(reader)
        for beside in local_files.beside(self.directory, name):
            if beside not in self.outputs.numbers:
                yield beside
