"""Serve the dashboard to a browser on this machine, after a token that counts once.

Each page has a dashboard of its own, a process that textual-serve starts. A browser with the cookie
sees it, and with `--allow-actions` acts as the user of d0ctl; so other sites that the browser
shows must not reach it: requests for other hosts, as after DNS rebinding, and web sockets from
other origins are refused.
"""

import hmac
import os
import secrets
import shlex
import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

from d0ctl.show.administration import ONLY_HERE, ONLY_OWN_PAGE, USED_LINK, to_open

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LOOPBACK = ("127.0.0.1", "localhost")

PAGE = Path(__file__).with_name("page.html")

HEADERS = {
    "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}  # fmt: skip

POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self' ws://{host}; frame-ancestors 'none'"
)

END_S = 0.5
"""How long open pages may take to end with the server."""


class WebServer(Server):
    """A server for the browser that opens its link first."""

    def __init__(self, command: Sequence[str], port: int) -> None:
        super().__init__(f"exec {shlex.join(command)}", port=port, title="d0ctl")
        self._token: str | None = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(24)
        self._cookie = f"d0ctl-{port}"

    @property
    def link(self) -> str:
        """The address to open, once."""
        return f"http://{LOOPBACK[0]}:{self.port}/?token={self._token}"

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the caller has printed the link."""

    async def handle_index(self, request: web.Request) -> web.Response:
        """Return the page with a terminal."""
        nonce = secrets.token_urlsafe(16)
        page = PAGE.read_text().replace("{websocket}", f"ws://{request.host}/ws")
        policy = POLICY.format(nonce=nonce, host=request.host)
        return web.Response(text=page.replace("{nonce}", nonce), content_type="text/html",
                            headers={"Content-Security-Policy": policy})  # fmt: skip

    async def application(self) -> web.Application:
        """Return everything that is served, behind the guard."""
        app = await self._make_app()
        app.middlewares.append(self._guard)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer only the browser that opened the link, from this page and this machine."""
        if urlsplit(f"//{request.host}").hostname not in LOOPBACK:
            return web.Response(status=403, text=ONLY_HERE)
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{request.host}":
            return web.Response(status=403, text=ONLY_OWN_PAGE)
        if _same(request.cookies.get(self._cookie), self._session):
            if "token" in request.query:
                raise web.HTTPSeeOther("/")
            response = await handler(request)
        elif request.method == "GET" and _same(request.query.get("token"), self._token):
            self._token = None
            response = web.Response(status=303, headers={"Location": "/"})
            response.set_cookie(self._cookie, self._session, httponly=True, samesite="Lax")
        else:
            response = web.Response(status=403, text=USED_LINK)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response


def _same(token: str | None, wanted: str | None) -> bool:
    return bool(token and wanted) and hmac.compare_digest(str(token).encode(), str(wanted).encode())


def serve(command: Sequence[str], listening: socket.socket, say: Callable[[str], object]) -> None:
    """Serve dashboards that a command starts, until SIGINT or SIGTERM."""
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PYTHONUTF8="1")
    server = WebServer(command, listening.getsockname()[1])
    say(to_open(server.link))
    web.run_app(server.application(), sock=listening, print=None, access_log=None,
                shutdown_timeout=END_S)  # fmt: skip
