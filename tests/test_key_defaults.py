"""The defaults in the tables of keys are those of the program."""

import pytest
from msgspec.structs import fields

from d0ctl.jobfile.language.field_types import FLAG
from d0ctl.notify.routes import DIGEST_S, RATE
from d0ctl.notify.site_command import TIMEOUT_S
from d0ctl.policy.rules import DEFAULTS, NEVER
from d0ctl.sitefile.defaults import BAD_NODES, EXCLUSION, STANDARD
from d0ctl.sitefile.spec import Pilots
from d0ctl.units import parse_fraction, parse_size, parse_time
from d0ctl_wrapper.protocol.launch import CHECK_TIMEOUT_S, HOOK_TIMEOUT_S
from tests.support.key_tables import documented

PILOTS = {
    field.name.replace("_", "-"): field.default for field in fields(Pilots) if field.default
} | {"gpus": 0}
del PILOTS["kind"]

LEVELS = [
    ("sitefile", "Defaults", {key: value for key, value in STANDARD.items() if value is not None}),
    ("sitefile", "Cluster", PILOTS),
    ("sitefile", "Bad nodes", BAD_NODES),
    ("sitefile", "Exclusion", EXCLUSION),
    ("sitefile", "Mail", {"digest": DIGEST_S, "rate": RATE, "command-timeout": TIMEOUT_S}),
    ("sitefile", "Hooks", {"timeout": HOOK_TIMEOUT_S}),
    ("jobfile", "Binary", {"check-timeout": CHECK_TIMEOUT_S}),
    ("policy", "Never", DEFAULTS[NEVER]),
]
DEFAULTS_OF_KEYS = [
    pytest.param(page, level, key, value, id=f"{level}-{key}")
    for page, level, values in LEVELS
    for key, value in values.items()
]


@pytest.mark.parametrize(("page", "level", "key", "value"), DEFAULTS_OF_KEYS)
def test_a_default_is_that_of_the_program(
    page: str, level: str, key: str, value: float | str
) -> None:
    cell = documented(page)[level, key].removesuffix(" |").rpartition(" | ")[2]

    assert written(cell.strip("`").partition(",")[0], value) == value


def written(text: str, like: float | str) -> float | str:
    """Read a default as a value of the same type."""
    if isinstance(like, bool):
        return bool(FLAG.convert(text))
    if isinstance(like, str):
        return text
    if isinstance(like, int):
        return parse_size(text)
    return parse_fraction(text) if text.endswith("%") else parse_time(text)


def test_settings_that_are_off_have_no_number_as_default() -> None:
    off = {key for key, value in STANDARD.items() if value is None}
    cells = {key: documented("sitefile")["Defaults", key] for key in off}

    assert {key for key, cell in cells.items() if cell.rpartition(" | ")[2][:1].isdigit()} == {
        "control-reserve"
    }
