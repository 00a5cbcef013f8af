"""Order without files: the lines and stages that `after` names, by their numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence

from d0ctl.jobfile.expand import line_names
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.recipe import LineRecipe, StageRecipe
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

SAME = "="
"""Stands for the line with the same number in another stage."""


class Order:
    """The stages of a job and, for those that are referred to, the names of their lines."""

    def __init__(self, stages: Sequence[StageRecipe]) -> None:
        self._stages = stages
        self._numbers = {stage.name: number for number, stage in enumerate(stages, 1)}
        self._sizes = [sum(line.loop.size for line in stage.lines) for stage in stages]
        self._names: dict[int, dict[str, int]] = {}
        self._repeated: dict[int, Counter[str]] = {}

    def stage(self, name: str) -> int:
        """Return the number of a stage. Raises BadValueError."""
        if name not in self._numbers:
            raise BadValueError(
                f"there is no stage {shown(name)}{did_you_mean(name, self._numbers)}"
            )
        return self._numbers[name]

    def stages(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers of stages."""
        return tuple(self.stage(name) for name in names)

    def lines(self, references: Iterable[tuple[str, str]], own: int) -> tuple[tuple[int, int], ...]:
        """Return the numbers of stages and lines; `own` is that of the line that comes after."""
        return tuple(dict.fromkeys(self.line(reference, own) for reference in references))

    def line(self, reference: tuple[str, str], own: int) -> tuple[int, int]:
        """Return the numbers of a stage and a line of it. Raises BadValueError."""
        name, line = reference
        stage = self.stage(name)
        size = self._sizes[stage - 1]
        if line == SAME or (line.isascii() and line.isdigit() and len(line) < 10):
            number = own if line == SAME else int(line)
            if not 1 <= number <= size:
                raise BadValueError(
                    f"stage {shown(name)} has no line {number}: it has {size:,} line"
                    f"{'s' if size != 1 else ''}"
                )
            return stage, number
        names = self._names_of(stage)
        if line not in names:
            raise BadValueError(f"stage {shown(name)} has no line {shown(line)}"
                                f"{did_you_mean(line, names)}")  # fmt: skip
        if self._repeated[stage][line]:
            raise BadValueError(f"several lines of stage {shown(name)} have the name {shown(line)}")
        return stage, names[line]

    def _names_of(self, stage: int) -> dict[str, int]:
        if stage not in self._names:
            names: dict[str, int] = {}
            repeated: Counter[str] = Counter()
            for number, name in enumerate(_names(self._stages[stage - 1].lines), 1):
                if name in names:
                    repeated[name] += 1
                names.setdefault(name, number)
            self._names[stage], self._repeated[stage] = names, repeated
        return self._names[stage]


def _names(lines: Iterable[LineRecipe]) -> Iterable[str]:
    number = 0
    for line in lines:
        name_of = line_names(line)
        for values in line.loop:
            number += 1
            yield name_of(values) or str(number)
