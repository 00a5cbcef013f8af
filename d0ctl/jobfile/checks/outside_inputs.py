"""The only place that judges inputs which no package of the job makes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import WrongError
from d0ctl.jobfile.language.file_names import foreign, is_pattern
from d0ctl.jobfile.language.template import Env
from d0ctl.jobfile.recipe import InputRecipe
from d0ctl.jobfile.sections.inputs import Origin, World
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.spec import Acquire
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean, shown


@dataclass(slots=True)
class Outside:
    """Knows the names that the job makes, other jobs, and the disk.

    Not `sure` means that the job's own files are not all known because of other faults, so
    that an absent file is no news.
    """

    job: str
    names: Mapping[str, int]
    world: World
    known: KnownNames
    faults: Faults
    sure: bool = True

    def origin(self, recipe: InputRecipe, name: str, env: Env) -> int:
        """Tell where such an input comes from; one that can't be there is a fault."""
        named = foreign(name)
        if named is not None:
            return self._foreign(recipe, *named)
        try:
            fields = recipe.fields.get(env)
        except WrongError:
            return Origin.WRONG
        acquire = fields.get("acquire")
        if acquire in (Acquire.NONE, Acquire.SELF):
            return Origin.PRESENT
        directory = local_files.is_directory(self.world.absolute(name))
        if directory is None:
            return self._absent(recipe, name, acquire is not None, fields)
        if directory:
            self._note(recipe, "input", f"input {shown(name)} is a directory, not a file")
            return Origin.WRONG
        return Origin.FETCHED

    def _note(self, recipe: InputRecipe, kind: str, message: str) -> None:
        self.faults.alike(recipe.place, kind, lambda: message)

    def _foreign(self, recipe: InputRecipe, job: str, name: str) -> int:
        """Judge a file of another job, `JOB:NAME`."""
        if job == self.job:
            told = f"{shown(f'{job}:{name}')} is a file of this job, {shown(name)}"
            self._note(recipe, "foreign", told)
        elif self.known.produced is not None:
            produced = self.known.produced(job, name)
            if produced is None:
                self._note(recipe, "foreign", f"there is no job {shown(job)}")
            elif not produced:
                self._note(recipe, "foreign", f"job {shown(job)} makes no file {shown(name)}")
        return Origin.FAR

    def _absent(
        self, recipe: InputRecipe, name: str, explicit: bool, fields: Mapping[str, Any]
    ) -> int:
        """Judge a file that is not on this host."""
        if "locator" in fields:
            return Origin.FETCHED
        if name.startswith("/") and not explicit:
            return Origin.PRESENT
        if self.sure or name.startswith("/"):
            self.faults.alike(recipe.place, "absent", lambda: self._absence(name))
        return Origin.WRONG

    def _absence(self, name: str) -> str:
        if name.startswith("/"):
            return f"there is no file {shown(name)} here to pre-fetch"
        if is_pattern(name):
            ways = f"`from: STAGE` with `match: {name}`, or `glob: {name}` beside the job file"
            return f"{shown(name)} is a pattern, which `file` does not take: write {ways}"
        names = [*self.names, *local_files.beside(self.world.directory, name)]
        hint = did_you_mean(name, names, cutoff=0.75)
        return f"no package makes {shown(name)}, nor does it lie beside the job file{hint}"
