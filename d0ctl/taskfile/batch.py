"""The packages of a task for some of its files, made by the rule of its task file."""

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from pathlib import Path

import msgspec

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.placeholders import LoopGroup, Scope
from d0ctl.jobfile.reader import spec_of
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.sections.stages import read_job
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.source import mapping_of
from d0ctl.jobfile.spec import JobSpec
from d0ctl.jobfile.yaml.faults import Faults
from d0ctl.taskfile.job_tree import job_tree, loop_of
from d0ctl.taskfile.spec import MERGE_STAGE, STAGE
from d0ctl.taskfile.split_rules import MERGE_RULES


class Rule:
    """A rule of a task file, `process` or `merge`, which makes packages of files."""

    def __init__(
        self, text: str, source: str, directory: str, parameters: AnyMapping[str, str],
        known: KnownNames, stage: str = STAGE,
    ) -> None:  # fmt: skip
        self._text, self._source, self._parameters = text, source, parameters
        self._directory = local_files.absolute(str(Path(directory)))
        self._known = known
        root = mapping_of(text, Faults(source, "a task file"), "`process`")
        self._tree = job_tree(root, (stage,), MERGE_RULES if stage == MERGE_STAGE else ())

    def packages(
        self, groups: Sequence[LoopGroup], events: Sequence[tuple[int, int]], first: int,
        datasets: Sequence[str] = (),
    ) -> JobSpec:  # fmt: skip
        """Return a job with a line for each group of files. Raises BadJobFile."""
        faults = Faults(self._source, "a task file")
        known = msgspec.structs.replace(
            self._known, contents=loop_of(groups, events, first, datasets)
        )
        reading = Reading(faults, self._directory, Scope(), known)
        recipe = read_job(self._tree, reading, self._parameters)
        if faults:
            raise BadJobFile(faults.lines())
        return spec_of(recipe, "", False, self._source, self._directory, known, faults)
