"""The invoking script of a catalogue, filled when its node is known."""

import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from d0ctl.jobfile.language.quoting import with_inputs
from d0ctl.sitefile.invoking_script import Files, invoking_script

REFUSED = "\0\x01\x02"
"""Characters that no value has: the readers of job and site files refuse them."""

FILES = Files({"a.raw": "/data/raw/a.raw", "b c": "b c"}, ["-out"])


def filled(text: str, **parameters: str) -> str:
    """A script with its values and inputs in place."""
    return with_inputs(invoking_script(text, "bash", parameters, FILES), list(FILES.paths))


def test_a_script_gets_its_files_and_parameters() -> None:
    text = "reco {cards} {parameters_} {inputs} > {outputs} < {inputs.list} ${x} {{cards}} {print}"

    answer = "reco 'std cards' {parameters_} a.raw 'b c' > ./-out"
    answer += ' < "$D0CTL_INPUTS" ${x} {cards} {print}'
    assert filled(text, cards="std cards") == answer


def test_the_path_of_an_input_stands_for_its_name() -> None:
    for path in ("/data/raw/a.raw", "raw/a.raw", "./raw/a.raw"):
        assert filled("reco {raw}", raw=path) == "reco a.raw"
    assert filled("reco {raw}", raw="other/raw") == "reco other/raw"


@given(st.text(st.characters(exclude_characters=REFUSED, exclude_categories=["Cs"]), max_size=30))
def test_no_value_is_more_than_a_word(value: str) -> None:
    script = filled("printf %s {value}", value=value)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)

    if not value.endswith(("raw/a.raw", "b c")):
        assert done.stdout.decode() == value or done.stdout.decode() == "./" + value


def test_an_unknown_brace_is_left_to_the_script(tmp_path: Path) -> None:
    assert filled("awk '{print $1}' {n}", n="1") == "awk '{print $1}' 1"
