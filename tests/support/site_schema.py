"""The JSON Schema of the site file."""

from collections.abc import Iterable, Mapping

from d0ctl.jobfile.language import field_types as t
from d0ctl.jobfile.sections import file_commands
from d0ctl.model import Reason
from d0ctl.sitefile import (
    bad_nodes,
    fields,
    mail,
    nodes,
    settings,
    software,
)
from d0ctl.sitefile.people import researchers, shares
from d0ctl.sitefile.queues import event_queue
from d0ctl.sitefile.reader import SECTIONS
from d0ctl.sitefile.transfer import stores
from d0ctl.taskfile import timeouts
from tests.support.key_tables import of_level
from tests.support.schema_parts import described, mapping, one_or_list, one_or_more, record, ref
from tests.support.schema_types import Schema, piece
from tests.support.schemas import (
    ANY_OR_PART,
    DRAFT,
    FLAG,
    SCALAR,
    SHELL,
    SITE_REASON,
    SIZE,
    TEXT,
    TEXTS,
    TIME,
    policy_schema,
    progress,
)

_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
_PARTS, _SERVICES = one_or_list(piece(fields.PART)), one_or_list(piece(fields.SERVICE))
_ADDRESSES = one_or_list(piece(mail.ADDRESS))
_ROLES = one_or_list({**TEXT, "examples": [*mail.ROLES, mail.NOBODY]})

NODE: dict[str, Schema] = {
    "destination": TEXT, "cpus": piece(t.CPUS), "identity": piece(nodes.IDENTITY),
    "dir": piece(nodes.ABSOLUTE), "python": piece(nodes.PATH), "via": piece(nodes.WAY),
    "cluster": piece(nodes.CLUSTER), "platform": piece(fields.PART), "speed": piece(fields.SPEED),
    "memory": SIZE, "gpus": piece(t.GPUS), "services": _SERVICES,
    "accept-key": one_or_list(piece(nodes.FINGERPRINT)), "same-machine": FLAG,
}  # fmt: skip
THROTTLE: dict[str, Schema] = {
    "max-running": piece(t.LIMIT), "max-launches": piece(shares.RATE),
}  # fmt: skip
RESEARCHER: dict[str, Schema] = {
    "mail": piece(mail.ADDRESS), "clusters": one_or_list(piece(fields.PART)),
}  # fmt: skip
CLUSTER: dict[str, Schema] = {
    "platform": piece(fields.PART), "services": _SERVICES, "private": FLAG, "capacity": SIZE,
    "software-share": piece(t.FRACTION), "kind": piece(nodes.KIND),
    "mode": piece(nodes.MODE), "login": TEXT,
    "accept-key": one_or_list(piece(nodes.FINGERPRINT)),
    "identity": piece(nodes.IDENTITY), "via": piece(nodes.WAY),
    "partition": piece(nodes.ENGINE_WORD), "account": piece(nodes.ENGINE_WORD),
    "qos": piece(nodes.ENGINE_WORD), "constraint": piece(nodes.CONSTRAINT),
    "options": one_or_list(piece(nodes.OPTION)),
    "requirements": piece(t.ONE_LINE), "rank": piece(t.ONE_LINE),
    "concurrency-limits": piece(nodes.LIMITS), "event-log": piece(nodes.ABSOLUTE), "disk": SIZE,
    "cpus": piece(t.CPUS), "memory": SIZE, "gpus": piece(t.GPUS),
    "wall-time": piece(t.POSITIVE_TIME),
    "dir": piece(nodes.ABSOLUTE), "python": piece(nodes.PATH), "max-queued": piece(t.COUNT),
    "max-running": piece(t.COUNT), "max-jobs": piece(nodes.RATE),
    "submit-rate": piece(nodes.RATE), "idle": TIME,
    "poll": piece(t.POSITIVE_TIME),
}  # fmt: skip
SOFTWARE: dict[str, Schema] = {
    "name": piece(fields.PART), "version": piece(fields.PART), "platform": _PARTS,
    "script": SCALAR, "shell": SHELL, "parameters": TEXTS, "archive": TEXT,
    "checksum": piece(fields.CHECKSUM), "size": SIZE, "manifest": piece(fields.CHECKSUM),
    "needs": _SERVICES, "runtime": TIME, "log-rules": one_or_more("log-rule"),
    "hooks": ref("hooks"), "progress": ref("progress"), "check": SCALAR, "policy": ref("policy"),
}  # fmt: skip
LOG_RULE: dict[str, Schema] = {
    "match": piece(t.PATTERN), "reason": piece(settings.REASON), "passive": FLAG,
}  # fmt: skip
HOOKS: dict[str, Schema] = {"before": TEXT, "after": TEXT, "end": TEXT, "timeout": TIME}
TRANSFER: dict[str, Schema] = {"fetch": SCALAR, "store": SCALAR}
STORE: dict[str, Schema] = dict.fromkeys(stores.STORE_KEYS, SCALAR)
SHARE: dict[str, Schema] = {
    "share": piece(t.COUNT), "researchers": one_or_list(TEXT), "jobs": one_or_list(TEXT),
}  # fmt: skip
RECIPIENT: dict[str, Schema] = {
    "address": piece(mail.ADDRESS), "mode": piece(t.MAIL_MODE), "digest": piece(t.POSITIVE_TIME),
    "rate": piece(mail.RATE),
}  # fmt: skip
MAIL: dict[str, Schema] = {
    "host": piece(mail.HOST), "port": piece(mail.PORT), "security": piece(mail.SECURITY),
    "certificates": piece(mail.CERTIFICATES), "login": piece(mail.SECRET),
    "sender": piece(mail.ADDRESS), "cluster-admin": ref("addresses"),
    "grid-control": ref("addresses"), **RECIPIENT,
    "routes": mapping(_ROLES) | {"minProperties": 1,
                                 "propertyNames": {"anyOf": [{"pattern": SITE_REASON},
                                                             {"enum": [*Reason]}]}},
    "recipients": mapping(ref("recipient")), "command": one_or_list(TEXT), "notifier": SCALAR,
    "webhook": piece(mail.WEBHOOK),
    "command-timeout": TIME,
}  # fmt: skip


def level(title: str, known: Iterable[str], of: Mapping[str, Schema]) -> dict[str, Schema]:
    """The keys of a level of the site file, each with its type and what the reference says."""
    missing = [key for key in known if key not in of]
    if missing:
        raise LookupError(
            f"`{missing[0]}` under {title} has no type: add it in tests/support/site_schema.py, "
            "and run `make schemas`"
        )
    return described({key: of[key] for key in known}, of_level("sitefile", title))


def section(title: str, known: Iterable[str], of: Mapping[str, Schema]) -> Schema:
    """A section that has keys, or is empty."""
    return {**record(level(title, known, of)), "type": ["object", "null"]}


def site_schema() -> Schema:
    """The schema of the site file."""
    rules, rule = policy_schema()
    defaults = {key: piece(kind) for key, kind in settings.DEFAULTS.items()}
    bad = {key: piece(kind) for key, kind in bad_nodes.BAD_NODE_KEYS.items()}
    exclusion = {key: piece(kind) for key, kind in bad_nodes.EXCLUSION_KEYS.items()}
    entry = record(level("Software", software.SOFTWARE_KEYS, SOFTWARE), "name", "version")
    node = record(level("Node", nodes.NODE_KEYS, NODE))
    sections: dict[str, Schema] = {
        "nodes": mapping({**node, "type": ANY_OR_PART}, _NAME),
        "clusters": mapping(section("Cluster", nodes.CLUSTER_KEYS, CLUSTER), _NAME),
        "software": {**one_or_more("software"), "description": "The software catalogue."},
        "code-server": {**SCALAR, "description": "A folder here, or the beginning of URLs."},
        "log-rules": one_or_more("log-rule"),
        "broker": {**SCALAR, "description": "The plug-in that ranks or refuses nodes."},
        "classifier": {**SCALAR, "description": "The plug-in that gives failures a reason."},
        "hooks": ref("hooks"),
        "defaults": section("Defaults", settings.DEFAULTS, defaults),
        "transfer": mapping(record(level("Transfer", file_commands.TRANSFER_KEYS, TRANSFER)),
                            "^[a-z][a-z0-9+.-]*$"),
        "stores": mapping(section("Store", stores.STORE_KEYS, STORE), _NAME),
        "merge": mapping(SCALAR),
        "policy": ref("policy"),
        "mail": section("Mail", mail.MAIL_KEYS, MAIL),
        "event-queue": section("Event queue", event_queue.QUEUE_KEYS,
                               {key: piece(kind) for key, kind in event_queue.QUEUE_KEYS.items()}),
        "bad-nodes": section("Bad nodes", bad_nodes.BAD_NODE_KEYS, bad),
        "shares": mapping({**record(level("Share", shares.SHARE_KEYS, SHARE)),
                           "type": ANY_OR_PART}, f"^{shares.PATH}$"),
        "exclusion": section("Exclusion", bad_nodes.EXCLUSION_KEYS, exclusion),
        "throttles": mapping(section("Throttle", shares.THROTTLE_KEYS, THROTTLE),
                             f"^{shares.THROTTLE}$"),
        "platforms": mapping(SCALAR, "^[A-Za-z0-9][A-Za-z0-9._+-]*$"),
        "tasks": section("Tasks", settings.TASK_KEYS, {"timeouts": {
            **mapping({**record(level("Time-out", timeouts.TIMEOUT_KEYS, {
                "after": piece(t.POSITIVE_TIME), "action": piece(timeouts.ACTION),
            })), "type": ANY_OR_PART}), "propertyNames": {"enum": list(timeouts.STATUSES)}}}),
        "researchers": mapping(section("Researcher", researchers.RESEARCHER_KEYS, RESEARCHER)),
    }  # fmt: skip
    log_rule = record(level("Log rule", settings.LOG_RULE_KEYS, LOG_RULE), "match")
    return {
        "$schema": DRAFT,
        "title": "d0ctl site file",
        "description": "A site: its nodes, its software, and the rules for all jobs.",
        **record({name: sections[name] for name in SECTIONS}),
        "$defs": {
            "software": {**entry, "type": ["object", "null"]},
            "log-rule": {**log_rule, "type": ANY_OR_PART},
            "hooks": section("Hooks", settings.HOOK_KEYS, HOOKS),
            "recipient": record(level("Recipient", mail.PERSON_KEYS, RECIPIENT)),
            "addresses": {**_ADDRESSES, "type": [*_ADDRESSES["type"], "object"],
                          "additionalProperties": _ADDRESSES},
            "progress": {**progress(), "type": ANY_OR_PART},
            "policy": rules, "rule": rule,
        },
    }  # fmt: skip
