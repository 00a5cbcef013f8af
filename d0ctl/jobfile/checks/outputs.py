"""The outputs of a job: which package makes each, and in which stage."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from d0ctl.jobfile.checks.layout import Layout, PackageRange
from d0ctl.jobfile.checks.package import outputs_of
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.file_names import is_pattern, output_name, takes
from d0ctl.jobfile.language.placeholders import LoopName, LoopValues
from d0ctl.jobfile.recipe import JobRecipe, OutputRecipe
from d0ctl.jobfile.sections.late_outputs import check_late_pattern
from d0ctl.jobfile.yaml.faults import NAMES_SEARCHED, Faults, Position, shown
from d0ctl.units import listed


class Outputs:
    """The names of a job's outputs, numbered in the order of their makers.

    A job has up to 10^7 of them, so their properties are in flat arrays by number.
    """

    def __init__(self, layout: Layout, faults: Faults) -> None:
        self.numbers: dict[str, int] = {}
        self.of_stage: dict[str, range] = {}
        """The numbers of each stage's outputs."""
        self.late: set[str] = set()
        """Those that are patterns, as their files get names only when they are made."""
        self._folders: dict[str, Position] = {}
        """The directories among them, and where they are declared."""
        self._makers = array("I")
        self._layout = layout
        self._faults = faults

    @property
    def are_known(self) -> bool:
        """Whether the list is complete; faults can hide some: an empty loop or a misspelt name."""
        return not self._faults.hidden

    def collect(self, job: JobRecipe) -> None:
        """Expand the job for its outputs; record wrong names, and names that are made twice."""
        for stage, parts in zip(job.stages, self._layout.of_stage, strict=True):
            begin = len(self.numbers)
            for part in parts:
                self._collect(part)
            self.of_stage[stage.name] = range(begin, len(self.numbers))
        if self._folders:
            self._check_folders()

    def _check_folders(self) -> None:
        """Record faults for outputs with the name of a directory output, or inside one."""
        for name in self.numbers:
            ends = [at for at, sign in enumerate(name, 1) if sign == "/" and at < len(name)]
            around = next((name[:end] for end in ends if name[:end] in self._folders), None)
            if around is None and f"{name}/" in self._folders:
                around = f"{name}/"
            if around is not None:
                message = f"output {shown(name)} would be a part of directory {shown(around)}"
                self._faults.add(self._folders[around], message)

    def maker(self, name: str) -> int:
        """Return the number of the package that makes an output."""
        return self._makers[self.numbers[name]]

    def readable_by(self, reader: int) -> Iterator[str]:
        """Iterate over the outputs that a package may read, among the first of a long list.

        Those of itself and of later packages of its line are not there when it starts. Those of
        other lines of a loop are left out too, as they differ from its own only in the values.
        """
        is_earlier = self._layout.earlier_than(reader)
        outputs = zip(self.numbers, self._makers, strict=True)
        return (name for name, maker in islice(outputs, NAMES_SEARCHED) if is_earlier(maker))

    def name(self, output: OutputRecipe, values: LoopValues) -> str | None:
        """Return the name of an output; None if it is faulty."""
        if output.file.broken:
            return None
        try:
            name = output_name(output.file.render(values))
            if output.fields.fixed.get("late") and is_pattern(name):
                check_late_pattern(name, output.fields.fixed)
                self.late.add(name)
            return name
        except BadValueError as error:
            message = str(error)
            self._faults.add_similar(output.position, "output", message)
            return None

    def without(self, consumed: bytearray) -> Callable[[str], Sequence[str]]:
        """Return a function that lists the outputs of a stage that are not flagged as consumed."""
        names = list(self.numbers)
        return lambda stage: [names[at] for at in self.of_stage[stage] if not consumed[at]]

    def by_stage(self) -> dict[str, list[str]]:
        """Return the names of the outputs of each stage, in the order of their makers."""
        names = list(self.numbers)
        return {stage: names[found.start : found.stop] for stage, found in self.of_stage.items()}

    def _collect(self, part: PackageRange) -> None:
        number = part.first_package
        recipes = [outputs_of(package) for package in part.line.packages]
        for output in chain.from_iterable(recipes):
            if output.file.broken or not part.line.loop.size:
                self._faults.hidden.add(output.position, [output.file.scalar.text])
        numbers, makers = self.numbers, self._makers
        for values in part.line.loop:
            for outputs in recipes:
                for output in outputs:
                    name = self.name(output, values)
                    if name is None:
                        continue
                    if name.endswith("/"):
                        self._folders.setdefault(name, output.position)
                    if numbers.setdefault(name, len(makers)) != len(makers):
                        self._note_second_maker(output, name, number, part)
                    else:
                        makers.append(number)
                number += 1

    def _note_second_maker(
        self, output: OutputRecipe, name: str, number: int, part: PackageRange
    ) -> None:
        def message() -> str:
            maker, path = self.maker(name), self._layout.path
            if maker == number:
                return f"package `{path(number)}` makes {shown(name)} twice"
            both = f"packages `{path(maker)}` and `{path(number)}` both make {shown(name)}"
            if maker < part.first_package:
                return both
            written = output.file.scalar.text
            absent = [_placeholder(name, loop) for name, loop in part.line.loop.names.items()
                      if f"{{{name}" not in written]  # fmt: skip
            if not absent:
                return both
            lacks = f"{both}: its name lacks {listed(f'`{loop}`' for loop in absent)}"
            return lacks + (_folder_each(written, absent) if name in self.late else "")

        self._faults.add_similar(output.position, "twice", message)


def _placeholder(name: str, loop: LoopName) -> str:
    """Return what stands for one value of a loop name in the name of a file."""
    attribute = ".index" if loop.is_group else f".{loop.columns[0]}" if loop.columns else ""
    return f"{{{name}{attribute}}}"


def _folder_each(pattern: str, absent: Sequence[str]) -> str:
    """Advise a folder of each package for the files of a pattern; nothing if that would fail."""
    folder = "-".join(["out", *absent])
    if takes(pattern, folder):
        return ""  # it would be moved into itself
    output = f"{folder}/{pattern.rpartition('/')[2]}"
    return f"; end the command with `&& mv {pattern} {folder}/`, and name `{output}`"
