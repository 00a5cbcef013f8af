"""Unknown keys that belong in another level of the job file."""

import pytest

from .conftest import Faults


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("lines: [{on: n1, packages: [{run: x}]}]", "nodes`, in an entry of `packages`?)"),
        ("lines: [{cmd: y, packages: [{run: x}]}]", "run`, in an entry of `packages`?)"),
        ("lines: [{foor: {n: [1]}, packages: [{run: x}]}]", "key `foor` (did you mean `for`?)"),
        ("lines: [{packages: [{in: a, binaries: [{run: x}]}]}]",
         "inputs`, in an entry of `binaries`?)"),
        ("lines: [{on: n1, binaries: [{run: x}]}]", "key `on` (did you mean `nodes`?)"),
        ("mem: 4GB, lines: [{run: x}]",
         "key `mem`: `memory` belongs in a line or a package, under `lines`"),
        ("hold: yes, lines: [{run: x}]", "key `hold`: it belongs in the job, beside `stages`"),
        ("lines: [{run: x, max-failures: 3}]", ": it belongs in the job, beside `stages`"),
        ("lines: [{run: x, final: yes}]", "`final`: it belongs in the stage, beside `lines`"),
        ("lines: [{packages: [{run: x, require: 5%}]}]", "it belongs in the stage, beside `lines`"),
    ],
)  # fmt: skip
def test_a_key_of_another_level_is_said_to_belong_there(
    faults: Faults, stage: str, expected: str
) -> None:
    (answer,) = faults(f"stages:\n- {{{stage}}}\n")
    assert answer.endswith(expected)
