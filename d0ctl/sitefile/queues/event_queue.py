"""The section `event-queue:` of a site file: a topic of an MQTT broker from which events come."""

import re
from importlib.util import find_spec
from typing import Any

from d0ctl.jobfile.language.field_types import FieldType, accepting, matching, one_of
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node
from d0ctl.sitefile.fields import values
from d0ctl.sitefile.mail import CERTIFICATES, HERE, HOST, PORT, SECRET

_TOPIC = re.compile(r"(?=.)((\+|[^+#\x00-\x1f/]*)/)*(#|\+|[^+#\x00-\x1f/]*)")


def _is_topic(value: str) -> bool:
    return len(value) <= 200 and _TOPIC.fullmatch(value) is not None


TOPIC = FieldType(accepting(_is_topic), "a topic such as `d0ctl/events`, also with `+` and `#`")
CLIENT = FieldType(matching(r"[A-Za-z0-9._-]{1,64}"), "1 to 64 letters, digits and `._-`")
SECURITY = FieldType(one_of("tls", "none"), "`tls` or `none`")

QUEUE_KEYS = {
    "host": HOST, "port": PORT, "topic": TOPIC, "security": SECURITY, "certificates": CERTIFICATES,
    "login": SECRET, "client": CLIENT,
}  # fmt: skip


def read_event_queue(node: Node, reading: Reading) -> dict[str, Any]:
    """Read the section."""
    if not isinstance(node, MappingNode):
        message = f"`event-queue` takes keys such as `host`, not {kind_of(node)}"
        reading.fault(node.position, message)
        return {}
    level = Level(node, "`event-queue`", tuple(QUEUE_KEYS), reading)
    queue = values(level, QUEUE_KEYS)
    for key in ("host", "topic"):
        if key not in level:
            reading.fault(node.position, f"`event-queue` needs a `{key}`")
    if find_spec("paho") is None:
        reading.fault(node.position, "`event-queue` needs paho-mqtt: pip install 'd0ctl[mqtt]'")
    if "login" in level and queue.get("security") == "none" and queue.get("host") not in HERE:
        message = "with `security: none` the password would be sent unencrypted"
        reading.fault(level.position("login"), message)
    return queue
