"""The parts of a destination that ssh connects to, as people write it."""

import re

from msgspec import Struct

from d0ctl.errors import BadUsage

USER = r"(?:(?P<user>[\w.+%][\w.+%-]*)@)?"
DESTINATION = re.compile(
    USER
    + r"(?:\[(?P<address>[0-9A-Fa-f:.]+(?:%\w+)?)\]|(?P<host>[\w.][\w.-]*))(?::(?P<port>\d{1,5}))?"
)
BARE_IPV6 = re.compile(USER + r"(?P<address>[0-9A-Fa-f.]*(?::[0-9A-Fa-f.]*){2,}(?:%\w+)?)")


class Destination(Struct, frozen=True):
    """The parts of `[user@]host[:port]`; missing ones are empty or 0."""

    host: str
    user: str = ""
    port: int = 0

    def arguments(self) -> list[str]:
        """Return it as arguments of the ssh program, none of which can be read as an option."""
        user = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port else []
        return [*user, *port, "--", self.host]


def parse(destination: str) -> Destination:
    """Parse `[user@]host[:port]`; raise BadUsage for anything that could be an option."""
    found = BARE_IPV6.fullmatch(destination) or DESTINATION.fullmatch(destination)
    if not found:
        raise BadUsage(
            f"`{destination}` is not a destination", hint="write it as [user@]host[:port]"
        )
    parts = found.groupdict()
    port = int(parts.get("port") or 0)
    if port > 65535:
        raise BadUsage(f"`{destination}` has an invalid port: {port}")
    return Destination(parts["address"] or parts["host"], parts["user"] or "", port)
