"""`d0ctl serve`: the REST interface, for programs on other machines and in other languages."""

import ipaddress
import socket
from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import say
from d0ctl.errors import BadUsage, Refused
from d0ctl.show import administration

app = single()

PORT = 8620

Address = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 takes a free one.")
]
Certificate = Annotated[
    Path | None,
    typer.Option("--certificate", metavar="FILE", help="TLS certificate, with its chain (PEM)."),
]
Key = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="Private key of the certificate.")
]


@app.command()
def serve(
    host: Address = "127.0.0.1",
    port: Port = PORT,
    certificate: Certificate = None,
    key: Key = None,
) -> None:
    """Serve the REST interface to programs here or on other machines."""
    try:
        import uvicorn

        from d0ctl.cli.commands.rest.application import application
    except ImportError as error:
        raise Refused(
            f"`{error.name}` is not installed", hint="pip install 'd0ctl[rest]'"
        ) from None
    session.refuse_archive("serve")
    if (certificate is None) != (key is None):
        raise BadUsage("--certificate and --key belong together")
    for file in (certificate, key):
        if file is not None and not file.is_file():
            raise BadUsage(f"there is no file `{file}`")
    if certificate is None and not _is_loopback(host):
        raise BadUsage(f"`{host}` is reached from other machines: tokens would be sent in clear",
                       hint="--certificate FILE --key FILE, or use ssh -L")  # fmt: skip
    with session.reader():
        home = session.home()
    config = uvicorn.Config(application(home), log_level="warning", lifespan="off",
                            ssl_certfile=certificate, ssl_keyfile=key,
                            timeout_graceful_shutdown=2)  # fmt: skip
    listening = _listening(host, port)
    say(administration.serving(*listening.getsockname()[:2], with_tls=certificate is not None))
    uvicorn.Server(config).run(sockets=[listening])


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises Refused."""
    try:
        [family, _, _, _, address] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise Refused(f"can't listen on {host}:{port}: {error.strerror}",
                      hint="--port 0 takes a free one") from error  # fmt: skip
