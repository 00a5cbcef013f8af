"""A connection to an MQTT broker, with a subscription to the topic of events."""

import select
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from d0ctl.errors import D0Error
from d0ctl.event_queue.address import Take, where
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.sitefile.mail import read_login
from d0ctl.units import clean

ANSWER_S = 10.0
"""How long the broker may take to accept the connection, and then the subscription."""

KEEP_ALIVE_S = 30
"""After this time without a message the broker is asked whether it is there."""

LARGEST_PACKET = 128 * 1024
"""The broker keeps larger messages for itself; events have 8 kB, and topics up to 64 kB."""

MOST_AT_ONCE = 20
"""How many messages the broker sends before one is acknowledged."""


class Connection:
    """Calls `take` with each message, and acknowledges it when that has returned.

    The broker keeps messages for `client` while it is not connected, for `kept_s` seconds.
    """

    def __init__(self, said: Mapping[str, Any], client: str, *, kept_s: int, take: Take) -> None:
        self._said = said
        self._kept_s = kept_s
        self._take = take
        self._is_subscribed = False
        self._client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client, protocol=mqtt.MQTTv5, manual_ack=True
        )
        self._client.connect_timeout = ANSWER_S
        self._client.on_connect = self._connected
        self._client.on_subscribe = self._subscribed
        self._client.on_message = self._taken

    def open(self) -> None:
        """Connect and subscribe. Raises D0Error with the reason if the broker does not do it."""
        wanted = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        wanted.SessionExpiryInterval = self._kept_s
        wanted.MaximumPacketSize = LARGEST_PACKET
        wanted.ReceiveMaximum = MOST_AT_ONCE
        host, _, port = where(self._said).rpartition(":")
        try:
            if self._said.get("security", "tls") == "tls":
                self._client.tls_set(self._said.get("certificates"))
            if "login" in self._said:
                self._client.username_pw_set(*read_login(Path(self._said["login"])))
            self._client.connect(
                host, int(port), KEEP_ALIVE_S, clean_start=not self._kept_s, properties=wanted
            )
        except BadValueError as error:
            raise _fault(f"login: {error}") from error
        except TimeoutError as error:
            raise _fault("it does not answer") from error
        except (OSError, ValueError) as error:
            raise _fault(getattr(error, "strerror", None) or str(error)) from error
        until = time.monotonic() + ANSWER_S
        while not self._is_subscribed:
            if time.monotonic() > until:
                raise _fault("it does not answer")
            self.turn(0.1)

    def turn(self, wait_s: float) -> None:
        """Take a message, if one comes within that time. Raises D0Error if the connection ends."""
        connection = self._client.socket()
        if connection is None:
            raise _fault("it has closed the connection")
        has_more = getattr(connection, "pending", int)()
        # paho waits by select(), which refuses the high descriptors of a daemon with many nodes
        arrivals = select.poll()
        arrivals.register(connection, select.POLLIN)
        code = mqtt.MQTT_ERR_SUCCESS
        if has_more or arrivals.poll(wait_s * 1000):
            code = self._client.loop_read()
        if code == mqtt.MQTT_ERR_SUCCESS and self._client.want_write():
            code = self._client.loop_write()
        code = code or self._client.loop_misc()
        if code != mqtt.MQTT_ERR_SUCCESS:
            raise _fault(mqtt.error_string(code))

    def close(self) -> None:
        """End the connection; the broker keeps what was not acknowledged."""
        self._client.disconnect()

    def _connected(self, client: mqtt.Client, _: Any, __: Any, code: Any, ___: Any) -> None:
        if code.is_failure:
            raise _fault(f"it refuses the connection: {code}")
        client.subscribe(self._said["topic"], qos=1)

    def _subscribed(self, _: mqtt.Client, __: Any, ___: int, codes: Any, ____: Any) -> None:
        if codes[0].is_failure:
            raise _fault(f"it refuses the topic `{self._said['topic']}`: {codes[0]}")
        self._is_subscribed = True

    def _taken(self, client: mqtt.Client, _: Any, message: mqtt.MQTTMessage) -> None:
        self._take(bytes(message.payload))
        client.ack(message.mid, message.qos)


def _fault(what: str) -> D0Error:
    return D0Error(clean(what))
