"""The check of a job returns what it finds out."""

from pathlib import Path

from d0ctl.jobfile.checks.job import check_job
from d0ctl.jobfile.language.placeholders import Scope
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.sections.stages import read_job
from d0ctl.jobfile.site_names import NOTHING_KNOWN
from d0ctl.jobfile.source import mapping_of
from d0ctl.jobfile.yaml.faults import Faults


def test_the_check_of_a_job_leaves_its_recipe_as_it_is(folder: Path) -> None:
    text = (
        "stages: [{name: a, lines: [{run: x, inputs: raw/a.raw, outputs: a.x}]}, "
        "{name: b, lines: [{run: x, inputs: [{from: a}, {from: b}]}]}]"
    )
    faults, directory = Faults("job.yaml"), str(folder)
    root = mapping_of(text, faults, "`stages`")
    recipe = read_job(root, Reading(faults, directory, Scope()), {})
    before = repr(recipe)

    checked = check_job(recipe, "job", directory, NOTHING_KNOWN, faults)

    assert repr(recipe) == before
    assert checked.packages == 2
    assert faults.lines() == ["job.yaml:1:127: stage `b` can't take its inputs from itself"]
