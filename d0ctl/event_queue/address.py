"""Where the broker is; the library of MQTT, an extra, is not needed to say it."""

from collections.abc import Callable, Mapping
from typing import Any

PORTS = {"none": 1883, "tls": 8883}
"""The default ports of a broker."""

Take = Callable[[bytes], object]
"""Takes a message."""


def where(said: Mapping[str, Any]) -> str:
    """Return the address of the broker."""
    return f"{said['host']}:{said.get('port') or PORTS[said.get('security', 'tls')]}"
