"""Post the event on stdin to the site's webhook.

It is a process of its own, as a command is, so that it can be ended if the server hangs.
"""

import json
import sys
import urllib.error
import urllib.request
from email.message import Message
from http.client import HTTPException
from typing import IO

from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.sitefile.addresses.webhook_address import read_webhook

MOST_ANSWERED = 200
"""How many bytes of an answer are read, for the message about a refusal."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would turn the POST into a GET, which loses the event."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message,
        newurl: str,
    ) -> None:  # fmt: skip
        return None


def post(where: str, event: str) -> None:
    """Post an event, with its headline as `text`. Raises BadValueError and OSError."""
    url, headers = read_webhook(where)
    document = json.loads(event)
    body = json.dumps({"text": document["headline"], **document}).encode()
    request = urllib.request.Request(
        url, body, {"Content-Type": "application/json", "User-Agent": "d0ctl", **headers}
    )
    with urllib.request.build_opener(_NoRedirect).open(request) as answer:
        answer.read(MOST_ANSWERED)


def main() -> None:
    """Post the event on stdin to the webhook that is named by the argument."""
    try:
        post(sys.argv[1], sys.stdin.read())
    except urllib.error.HTTPError as error:
        lines = error.read(MOST_ANSWERED).decode(errors="replace").strip().splitlines()
        sys.exit(f"the server answered {error.code} {error.reason} {lines[0] if lines else ''}")
    except urllib.error.URLError as error:
        sys.exit(f"the server can't be reached: {error.reason}")
    except (BadValueError, OSError, HTTPException) as error:
        sys.exit(str(error) or type(error).__name__)


if __name__ == "__main__":
    main()
