"""What servers say: the REST interface, and the dashboard in a browser."""

ONLY_HERE = "only for this machine\n"
ONLY_OWN_PAGE = "only for its own page\n"

USED_LINK = "this link is not valid, or it was used before: start `d0ctl tui --web` again\n"


def serving(address: str, port: int, *, with_tls: bool) -> str:
    """Say where the REST interface is."""
    host = f"[{address}]" if ":" in address else address
    scheme = "https" if with_tls else "http"
    return f"serving {scheme}://{host}:{port}/v1 (its OpenAPI document: /v1/openapi.json)"


def to_open(link: str) -> str:
    """Say which link a person opens in a browser."""
    return f"open {link}"
