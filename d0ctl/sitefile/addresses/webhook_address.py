"""Where a site's webhook is: a URL, or a file with the URL and the headers."""

from pathlib import Path
from urllib.parse import urlsplit

from d0ctl.jobfile.language.field_types import BadValueError

_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def read_webhook(where: str) -> tuple[str, dict[str, str]]:
    """Return the URL and the headers of a webhook.

    `where` is a URL, or the path of a file with the URL on its first line and headers such as
    `Authorization: Bearer TOKEN` on the next. Raises BadValueError, and OSError.
    """
    if not where.startswith("/"):
        return _url(where), {}
    try:
        first, *rest = Path(where).read_text().strip().splitlines()
    except UnicodeDecodeError:
        raise BadValueError(f"{where} is not a text") from None
    except ValueError:
        raise BadValueError(f"{where} is empty: its first line is the URL") from None
    headers = dict(_header(line, where) for line in rest if line.strip())
    url = _url(first.strip(), where)
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in _HERE:
        raise BadValueError(f"the secrets in {where} would be sent unencrypted: use https")
    return url, headers


def _url(text: str, where: str | None = None) -> str:
    """Return a URL. Errors do not quote one that a file keeps secret."""
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not text.isascii() or any(character <= " " for character in text):
        name = f"the first line of {where}" if where else f"`{text}`"
        raise BadValueError(f"{name} is not a URL such as `https://example.org/hook`")
    return text


def _header(line: str, where: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not (colon and name.replace("-", "").isalnum() and line.isascii() and line.isprintable()):
        raise BadValueError(f"a line of {where} is not a header such as `Name: value`")
    return name, value.strip()
