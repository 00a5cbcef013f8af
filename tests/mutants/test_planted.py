"""The planted bugs fit the sources: each text is found once, and its tests are there."""

from pathlib import Path

import pytest

from tests.mutants.planted import PLANTED, Mutant

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda mutant: f"{mutant.file} {mutant.name}")
def test_a_planted_bug_has_one_place_in_its_file_and_tests_that_exist(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1

    for test in mutant.tests:
        assert (ROOT / test.partition("::")[0]).exists()
