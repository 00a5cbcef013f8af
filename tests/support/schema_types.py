"""What an editor accepts for the types of fields: pieces of a JSON Schema, by FieldType.

A piece is flat, without `anyOf`, so that an editor names one fault and not all alternatives; its
`errorMessage` is the sentence of the reader. It may accept more than the reader, never less: YAML
gives an editor numbers and booleans where the reader sees texts, and a key without a value counts
as absent.
"""

from collections.abc import Iterable
from typing import Any

from d0ctl.jobfile.language import field_types as of_job
from d0ctl.jobfile.language.field_types import FieldType
from d0ctl.jobfile.sections import log_rules, policy
from d0ctl.jobfile.sections.files import inputs
from d0ctl.jobfile.spec import Acquire, Disposition, MailMode
from d0ctl.sitefile import bad_nodes, fields, mail, nodes, settings
from d0ctl.sitefile.people import shares
from d0ctl.sitefile.queues import event_queue
from d0ctl.taskfile import timeouts
from d0ctl.units import listed

Schema = dict[str, Any]

ANY_SCALAR = ("string", "number", "boolean", "null")
NUMBER = ("number", "string", "null")
WORD = ("string", "boolean", "null")

_TEXT: Schema = {"type": ANY_SCALAR, "minLength": 1}
_DIGITS = "^[+-]?[0-9]{1,18}$"
_SECONDS = r"^\s*(?=[0-9])([0-9]+d)? ?([0-9]+h)? ?([0-9]+m)? ?([0-9]+(\.[0-9]+)?s?)?\s*$"
_NAME = "^[^/]*[^/ ][^/]*$"
_PATH: Schema = {"type": ANY_SCALAR, "pattern": r"^[A-Za-z0-9._/-]+$"}
_PART: Schema = {"type": ANY_SCALAR, "pattern": r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"}
_ADDRESS: Schema = {"type": ("string", "null"), "pattern": "^[^ @]+@[^ @]+$"}


def words(known: Iterable[str]) -> Schema:
    """One of a few words, which an editor offers."""
    names = list(known)
    return {"type": WORD, "pattern": f"^({'|'.join(names)})$", "examples": names,
            "errorMessage": f"takes {listed([f'`{name}`' for name in names], 'or')}"}  # fmt: skip


def whole(least: int, most: int) -> Schema:
    """A whole number."""
    return {"type": ("integer", "string", "null"), "minimum": least, "maximum": most,
            "pattern": _DIGITS}  # fmt: skip


def time(**limits: float) -> Schema:
    """A time, in seconds if it is a number."""
    return {"type": NUMBER, **(limits or {"minimum": 0}), "pattern": _SECONDS,
            "examples": ["90s", "20m", "1h30m"]}  # fmt: skip


def or_no(piece: Schema) -> Schema:
    """What a piece accepts, or `no`."""
    return {**piece, "type": (*piece["type"], "boolean"),
            "pattern": f"{piece['pattern']}|^no$"}  # fmt: skip


FLAG: Schema = {
    "type": ("boolean", "string", "null"),
    "pattern": "^([Yy][Ee][Ss]|[Tt][Rr][Uu][Ee]|[Oo][Nn]|[Nn][Oo]|[Ff][Aa][Ll][Ss][Ee]"
    "|[Oo][Ff][Ff])$",
    "examples": ["yes", "no"],
}
SIZE: Schema = {
    "type": NUMBER, "minimum": 0, "examples": ["200MB", "2GiB"],
    "pattern": r"^\s*[0-9]+(\.[0-9]+)? ?([KMGTPkmgtp][Ii]?)?[Bb]?\s*$",
}  # fmt: skip
FRACTION: Schema = {
    "type": NUMBER, "minimum": 0, "maximum": 1, "examples": ["97%", 0.97],
    "pattern": r"^\s*[0-9]+(\.[0-9]+)? ?%?\s*$",
}  # fmt: skip
FACTOR: Schema = {"type": NUMBER, "minimum": 1, "maximum": 1000, "pattern": r"^[0-9.]+$"}
REASON: Schema = {
    "type": ("string", "null"), "pattern": "^(log-message|site:.+)$",
    "examples": ["log-message", "site:NAME"],
}  # fmt: skip
TRIES = whole(0, 1_000_000)

_PIECES: list[tuple[FieldType, Schema]] = [
    (of_job.TEXT, _TEXT),
    (of_job.ONE_LINE, {"type": ANY_SCALAR, "pattern": r"\S"}),
    (of_job.IMAGE, {"type": ANY_SCALAR, "pattern": "^[^- ][^ ]*$"}),
    (of_job.LABEL, {"type": ANY_SCALAR, "pattern": _NAME}),
    (of_job.LINE, {"type": ("string", "null"), "pattern": "/"}),
    (of_job.JOB, {"type": WORD, "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,199}$"}),
    (of_job.FLAG, FLAG),
    (of_job.SIZE, SIZE),
    (fields.AMOUNT, SIZE),
    (of_job.TIME, time()),
    (of_job.POSITIVE_TIME, time(exclusiveMinimum=0)),
    (of_job.FRACTION, FRACTION),
    (of_job.PERCENT, whole(0, 100)),
    (of_job.COUNT, whole(0, 10_000_000)),
    (of_job.LIMIT, whole(1, 10_000_000)),
    (of_job.CPUS, whole(1, 100_000)),
    (of_job.GPUS, whole(0, 1000)),
    (of_job.LOCATOR, {"type": ("string", "null"), "pattern": "[:/]"}),
    (of_job.CHECKSUM, {"type": ANY_SCALAR, "pattern": "^([A-Za-z0-9-]+:)?[0-9A-Fa-f]+$"}),
    (of_job.PATTERN, {"type": ANY_SCALAR}),
    (of_job.ACQUIRE, words(Acquire)),
    (of_job.MAIL_MODE, words(MailMode)),
    (of_job.OUTPUT_DISPOSITION, words(Disposition)),
    (of_job.INPUT_DISPOSITION, words(list(Disposition)[2:])),
    (inputs.AS, _TEXT),
    (log_rules.REASON, REASON),
    (log_rules.EVENT_TYPES["of"], whole(1, log_rules.MAX_EVENTS)),
    (log_rules.EVENT_TYPES["first"], whole(0, log_rules.MAX_EVENTS)),
    (log_rules.EVENT_TYPES["part"], _TEXT),
    (policy.TRIES, TRIES),
    (policy.FACTOR, FACTOR),
    (policy.GROWTH, {**FACTOR, "exclusiveMinimum": 1}),
    (policy.ELSEWHERE, {**FLAG, "pattern": f"{FLAG['pattern']}|^only$",
                        "examples": ["yes", "no", "only"]}),
    (policy.HOLD, {**FLAG, "pattern": f"{FLAG['pattern']}|^job$",
                   "examples": ["yes", "no", "job"]}),
    (fields.PART, _PART),
    (fields.SERVICE, _PART),
    (fields.CHECKSUM, {"type": ("string", "null"), "pattern": "^sha256:[0-9a-f]{64}$"}),
    (fields.SPEED, {"type": NUMBER, "exclusiveMinimum": 0, "maximum": 1000,
                    "pattern": r"^[0-9.]+$"}),
    (shares.RATE, {"type": ("string", "null"), "pattern": r"^\s*[1-9]\d{0,6}\s*/.+$"}),
    (nodes.IDENTITY, _TEXT),
    (nodes.ABSOLUTE, {**_PATH, "type": ("string", "null"), "pattern": "^/[A-Za-z0-9._/-]*$"}),
    (nodes.PATH, _PATH),
    (nodes.WAY, words(nodes.WAYS)),
    (nodes.MODE, words(nodes.MODES)),
    (nodes.CLUSTER, _PART),
    (nodes.KIND, words(nodes.KINDS)),
    (nodes.ENGINE_WORD, {"type": ANY_SCALAR, "pattern": "^[A-Za-z0-9][A-Za-z0-9._,-]*$"}),
    (nodes.CONSTRAINT, {"type": ANY_SCALAR,
                        "pattern": r"^[A-Za-z0-9(\[][A-Za-z0-9._,&|*()\[\]:-]*$"}),
    (nodes.OPTION, {"type": "string", "pattern": f"^(?:{nodes.OPTION_FORM})$",
                    "not": {"pattern": f"^--(?:{'|'.join(nodes.OWN_OPTIONS)})(?:=|$)"}}),
    (nodes.LIMITS, {"type": ANY_SCALAR, "pattern": "^[A-Za-z0-9][A-Za-z0-9._,:-]*$"}),
    (nodes.RATE, whole(1, 100_000)),
    (nodes.FINGERPRINT, {"type": ("string", "null"), "pattern": "^SHA256:[A-Za-z0-9+/]{43}=?$"}),
    (settings.REASON, REASON),
    (settings.NICENESS, whole(0, 19)),
    (bad_nodes.FAILURES, or_no(whole(1, 10_000_000))),
    (settings.ENGINE, words(["apptainer", "podman", "docker"])),
    (timeouts.ACTION, words(timeouts.ACTIONS)),
    (settings.STREAMS, whole(1, 6)),
    (settings.PROCESSES, whole(1, 16)),
    (mail.HOST, {"type": ANY_SCALAR, "pattern": "^[A-Za-z0-9][A-Za-z0-9_.:-]*$"}),
    (event_queue.TOPIC, {"type": ANY_SCALAR, "pattern": r"\S"}),
    (event_queue.CLIENT, {"type": ANY_SCALAR, "pattern": "^[A-Za-z0-9._-]{1,64}$"}),
    (event_queue.SECURITY, words(("tls", "none"))),
    (mail.PORT, whole(1, 65535)),
    (mail.SECURITY, words(("starttls", "tls", "none"))),
    (mail.CERTIFICATES, {"type": ("string", "null"), "pattern": "^/"}),
    (mail.SECRET, {"type": ("string", "null"), "pattern": "^/"}),
    (mail.WEBHOOK, {"type": ("string", "null"), "pattern": "^(/|https?://)"}),
    (mail.ADDRESS, _ADDRESS),
    (mail.RATE, whole(1, 10_000)),
]  # fmt: skip


def piece(field_type: FieldType) -> Schema:
    """What an editor accepts for a type of field."""
    for known, found in _PIECES:
        if known == field_type:
            return {"errorMessage": f"takes {field_type.expected}", **found}
    raise LookupError(
        f"the type `{field_type.expected}` has no JSON Schema: add it to _PIECES in {__file__}"
    )


def with_placeholders(schema: Any) -> Any:
    """The same schema, in which a text may be what its placeholders give."""
    if isinstance(schema, list | tuple):
        return [with_placeholders(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: value if key == "propertyNames" else with_placeholders(value)
             for key, value in schema.items()}  # fmt: skip
    if isinstance(pattern := found.get("pattern"), str) and pattern != r"\S":
        found["pattern"] = rf"{pattern}|\{{"
    return found
