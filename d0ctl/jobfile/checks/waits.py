"""The check of what packages wait for: lines and stages that come first, and circles."""

from collections.abc import Sequence

from d0ctl.jobfile.checks.layout import Layout, PackageRange
from d0ctl.jobfile.checks.wait_graph import WaitGraph
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.placeholders import LoopValues
from d0ctl.jobfile.order import Order
from d0ctl.jobfile.recipe import StageRecipe
from d0ctl.jobfile.yaml.faults import Faults, shown


class Waits:
    """The packages of a job that wait for others."""

    def __init__(self, layout: Layout, order: Order, faults: Faults) -> None:
        self._layout, self._order, self._faults = layout, order, faults
        self._waits = WaitGraph()
        self.add = self._waits.add

    def line(self, part: PackageRange, values: LoopValues, at: int, number: int) -> None:
        """Find the lines that a line comes after, and record that its first package waits."""
        own = part.first_line + at + 1
        try:
            references = part.line.fields.get(values)["after"]
        except BadValueError:
            return
        for reference in references:
            try:
                stage, line = self._order.line(reference, own)
            except BadValueError as error:
                self._faults.add_similar(part.line.position, "after", f"`after`: {error}")
                continue
            if (stage, line) == (part.stage_number, own):
                message = f"`after`: line {own} can't come after itself"
                self._faults.add_similar(part.line.position, "after", message)
            elif (last := self._layout.last_package(stage, line)) is not None:
                self._waits.add(last, number)

    def stages(self, stages: Sequence[StageRecipe]) -> None:
        """Check the stages that `after` names, and record that their packages wait."""
        for number, stage in enumerate(stages, 1):
            position = stage.after_position or stage.position
            for name in stage.after:
                try:
                    before = self._order.stage(name)
                except BadValueError as error:
                    self._faults.add(position, f"`after`: {error}")
                    continue
                if before == number:
                    self._faults.add(position, f"stage {shown(name)} can't come after itself")
                else:
                    self._waits.add_group(*map(self._layout.of_stages, ({before}, {number})))
        final = {number for number, stage in enumerate(stages, 1) if stage.final}
        if stages and len(final) == len(stages):
            message = "all stages are `final`, so there is no other stage to come after"
            self._faults.add(stages[0].position, message)
        elif final:
            rest = set(range(1, len(stages) + 1)) - final
            self._waits.add_group(*map(self._layout.of_stages, (rest, final)))

    def cycles(self) -> None:
        """Record faults for packages that wait for each other."""
        for cycle in self._waits.cycles(self._layout.packages, self._layout.follows()):
            cycle = [number for number in cycle if number < self._layout.packages]
            paths = ", ".join(f"`{self._layout.path(number)}`" for number in sorted(cycle)[:10])
            more = f" and {len(cycle) - 10:,} more" if len(cycle) > 10 else ""
            message = f"packages {paths}{more} wait for each other in a circle"
            self._faults.add_similar(self._layout.recipe(min(cycle)).position, "circle", message)
