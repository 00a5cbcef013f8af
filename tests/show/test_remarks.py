"""The words for the notes that the store keeps as codes."""

import re

from d0ctl.model import Remark
from d0ctl.show.drawing.signs import REMARKS, remark
from d0ctl_sql import queries


def test_every_code_has_words() -> None:
    assert set(REMARKS) == set(Remark)


def test_a_code_is_shown_as_its_words_and_the_note_of_a_person_as_it_is() -> None:
    assert remark("repackaged") == "its files go into other packages"
    assert remark("wrong calibration") == "wrong calibration"
    assert remark(None) is None


def test_notes_that_queries_write_are_codes() -> None:
    written = {
        note for text in queries().values() for note in re.findall(r"\bnote = '(.*?)'", text)
    }

    assert written and written <= set(Remark)
