"""Warnings of inputs that `run` names beside the list of all inputs."""

from pathlib import Path

import pytest

from .conftest import Warnings, line


def test_an_input_that_is_named_beside_the_list_with_it_is_a_warning(
    warnings: Warnings, folder: Path
) -> None:
    (folder / "sum.sh").write_text("cat")
    (folder / "sum.sh").chmod(0o755)
    (folder / "a.txt").write_text("1")

    def called(run: str) -> list[str]:
        return warnings(line(f"{{run: {run}, inputs: [sum.sh, a.txt]}}"))

    assert called("'./sum.sh {inputs}'") == [
        "`./sum.sh` is an input, so `{inputs}` contains it, too: write `a.txt` for `{inputs}`, "
        "or let the program leave it out"
    ]
    assert called("'sh sum.sh -o t {inputs}'") == [
        "`sum.sh` is an input, so `{inputs}` contains it, too: write `a.txt` for `{inputs}`, "
        "or let the program leave it out"
    ]
    assert called("'sh sum.sh {inputs.list}'") == [
        "`sum.sh` is an input, so `{inputs.list}` contains it, too: let the program leave it out"
    ]
    assert called('[sh, sum.sh, "{inputs}"]') == [
        "`sum.sh` is an input, so `{inputs}` contains it, too: let the program leave it out"
    ]
    assert called("'sh sum.sh *.txt'") == called("'cat {inputs}'") == []


def test_an_input_that_a_placeholder_names_beside_the_list_is_no_warning(
    warnings: Warnings, folder: Path
) -> None:
    for name in ("a.raw", "b.raw"):
        (folder / name).write_text("1")
    entry = "{for: {f: [a.raw, b.raw]}, run: 'reco {f} {inputs}', inputs: ['{f}', raw/a.raw]}"

    assert warnings(line(entry)) == []


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["h-1.txt", "h-2.txt"], "h-*.txt"),
        (["h-10.txt", "h-11.txt"], "h-*.txt"),
        (["out/a.csv", "out/b.csv"], "out/*.csv"),
        (["a.txt", "b.sh"], ""),
        (["a.sh", "b.sh"], ""),
    ],
)
def test_the_warning_has_the_pattern_of_the_other_inputs_of_the_job(
    warnings: Warnings, folder: Path, names: list[str], pattern: str
) -> None:
    (folder / "out").mkdir()
    for name in ("sum.sh", *names):
        (folder / name).write_text("cat")
    others = ", ".join(names)

    (listed,) = warnings(line(f"{{run: 'sh sum.sh {{inputs}}', inputs: [sum.sh, {others}]}}"))
    (beside,) = warnings(line(f"{{run: 'sh sum.sh {{inputs}}', inputs: [{others}]}}"))

    instead = f"write `{pattern}` for `{{inputs}}`" if pattern else ""
    assert listed == (
        "`sum.sh` is an input, so `{inputs}` contains it, too: "
        f"{instead + ', or ' if instead else ''}let the program leave it out"
    )
    without = f", and {instead}, which would contain it" if instead else ""
    assert beside.endswith(f"add `sum.sh` to its `inputs`{without}")
