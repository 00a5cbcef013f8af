"""How much is tried: few examples and cases in `make test`, more in `make soak` and `make long`."""

import os
from collections.abc import Sequence
from typing import Any

import pytest


def examples(number: int) -> int:
    """Return how many examples Hypothesis tries: as many as EXAMPLES asks for, else this number."""
    return int(os.environ.get("EXAMPLES", number))


def first(number: int, cases: Sequence[Any]) -> list[Any]:
    """Parameters of a test, of which `make test` tries this number, and `make long` the others."""
    others = [pytest.param(case, marks=pytest.mark.long) for case in cases[number:]]
    return [*cases[:number], *others]
