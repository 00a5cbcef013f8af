"""The rules of a task file in words, and the two-letter codes of PanDA's `splitRule`."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from d0ctl.jobfile.language.field_types import (
    COUNT,
    FLAG,
    FRACTION,
    LIMIT,
    POSITIVE_TIME,
    SIZE,
    BadValueError,
    FieldType,
    split_names,
)
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

ONE_EVENT = (
    "`events-per-package: 1` makes a package of each event, and each costs seconds to start: take"
    " as many as run for minutes"
)

GIGABYTE = 1_000_000_000


def _gigabytes(value: str) -> int:
    number = float(value)
    if not 0 < number <= 1_000_000:
        raise ValueError
    return round(number * GIGABYTE)


GIGABYTES = FieldType(_gigabytes, "a number of gigabytes, such as `2` or `0.5`")

WORDS: Mapping[str, tuple[str, FieldType]] = {
    "files-per-package": ("files_per_package", LIMIT),
    "max-files-per-package": ("max_files_per_package", LIMIT),
    "gigabytes-per-package": ("bytes_per_package", GIGABYTES),
    "size-per-package": ("bytes_per_package", SIZE),
    "events-per-package": ("events_per_package", LIMIT),
    "max-packages": ("max_packages", LIMIT),
    "target-time": ("target_time", POSITIVE_TIME),
    "scouts": ("scouts", COUNT),
    "scout-success": ("scout_success", FRACTION),
    "at-once": ("at_once", FLAG),
    "attempts": ("attempts", LIMIT),
    "wait-for-input": ("waits_for_input", FLAG),
}
"""The rules by their words: the field of `Rules`, and the type of the value."""

MERGE_WORDS: Mapping[str, tuple[str, FieldType]] = {
    "files-per-merge": ("files_per_merge", LIMIT),
    "max-files-per-merge": ("max_files_per_merge", LIMIT),
    "gigabytes-per-merge": ("bytes_per_merge", GIGABYTES),
    "size-per-merge": ("bytes_per_merge", SIZE),
    "at-end": ("merge_at_end", FLAG),
}
"""The rules of `merge` by their words."""

MERGE_RULES = (*MERGE_WORDS, "datasets")
"""The keys of `merge` that say what is merged, and not how."""


class Code(NamedTuple):
    """What a two-letter code means: the field of `Rules`, and its value from that of the code."""

    field: str
    value: Callable[[str], Any]


def _percent(text: str) -> float:
    return float(FRACTION.convert(f"{text}%"))


def _positive(text: str) -> int:
    return int(LIMIT.convert(text))


def _is_on(text: str) -> bool:
    return text != "0"


CODES: Mapping[str, Code] = {
    "NF": Code("files_per_package", _positive),
    "MF": Code("max_files_per_package", _positive),
    "NG": Code("bytes_per_package", _gigabytes),
    "NE": Code("events_per_package", _positive),
    "MX": Code("events_per_package", _positive),
    "MN": Code("max_packages", _positive),
    "TJ": Code("max_packages", _positive),
    "MW": Code("target_time", lambda text: _positive(text) * 3600.0),
    "SS": Code("scout_success", _percent),
    "US": Code("scouts", lambda text: 0 if text == "1" else 10),
    "DR": Code("attempts", lambda text: 1),
    "WI": Code("waits_for_input", _is_on),
    "RC": Code("waits_for_input", _is_on),
    "ZF": Code("files_per_merge", _positive),
    "ZM": Code("max_files_per_merge", _positive),
    "ZG": Code("bytes_per_merge", _gigabytes),
}
"""The codes that say something about a task here."""

NO_MEANING = frozenset(
    split_names(
        "AE AI AN AP AT AV CC CV DE DF DI DM DY EC EI EJ ES FC FG FP FT FU GB HO IA IF IK IL IM IN "
        "IP IS IT IW LC LI LS LX MC MD ME MJ MO MS NC ND NI NJ NP NS NT NW OI OL OM OS OT PC PJ PL "
        "PO RD RE RL RM RO RP RR RS RX RY RZ SC SE SO ST SW TN TW UB UC UE UF UP UT UX UZ WF WH XA "
        "XF XJ ZE"
    )
)
"""The other codes of PanDA: they are read, with a warning, and change nothing."""


def read_rules(node: MappingNode | None, reading: Reading) -> dict[str, Any]:
    """Read `split`: the fields of `Rules` that it sets."""
    rules: dict[str, Any] = {}
    if node is None:
        return rules
    level = Level(node, "`split`", (*WORDS, "codes"), reading)
    rules.update(read_words(level, WORDS))
    if (codes := level.scalar("codes")) is not None:
        for field, value in _codes(codes, reading).items():
            rules.setdefault(field, value)
    if rules.get("events_per_package") == 1:
        reading.faults.warnings.add(node.position, ONE_EVENT)
    return {field: value for field, value in rules.items() if value is not None}


def read_words(level: Level, types: Mapping[str, tuple[str, FieldType]]) -> dict[str, Any]:
    """Read rules in words: the fields of `Rules` that they set."""
    rule_values: dict[str, Any] = {}
    for name, (field, kind) in types.items():
        if (scalar := level.scalar(name)) is not None:
            value = convert(name, scalar, kind, level.reading)
            if field in rule_values:
                level.reading.fault(scalar.position, f"`{name}` says again what another rule says")
            rule_values[field] = value
    return rule_values


def convert(name: str, scalar: Scalar, kind: FieldType, reading: Reading) -> Any:
    """Return the value of a scalar; None, and a fault, if it does not fit its type."""
    text = reading.text(scalar)
    try:
        return kind.convert(text)
    except BadValueError as error:
        reading.fault(scalar.position, f"`{name}`: {error}")
    except ValueError:
        reading.fault(scalar.position, f"`{name}` takes {kind.expected}, not {shown(text)}")
    return None


def _codes(scalar: Scalar, reading: Reading) -> dict[str, Any]:
    """Read a list such as `NF=10,NG=2`."""
    codes: dict[str, Any] = {}
    for part in reading.text(scalar).replace(" ", "").split(","):
        name, equals, value = part.partition("=")
        position = scalar.position_at(part, 0)
        if name in NO_MEANING:
            reading.faults.warnings.add(position, f"code `{name}` changes nothing here")
        elif name not in CODES or not equals:
            hint = did_you_mean(name, CODES)
            message = f"{shown(part)} is no code with a value, such as `NF=10`{hint}"
            reading.fault(position, message)
        else:
            try:
                codes[CODES[name].field] = CODES[name].value(value)
            except ValueError:
                reading.fault(position, f"code `{name}` can't have the value {shown(value)}")
    return codes
