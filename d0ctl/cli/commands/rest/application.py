"""The application: routes under `/v1`, tokens, problems and the OpenAPI document."""

from typing import Any
from weakref import WeakSet

from litestar import Litestar, Router, get
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.middleware import DefineMiddleware
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from msgspec import Struct

from d0ctl import __version__
from d0ctl.cli.commands.rest import (
    action_routes,
    event_stream,
    http_errors,
    read_routes,
    task_routes,
)
from d0ctl.cli.commands.rest.bearer import ByToken
from d0ctl.config import Home
from d0ctl.errors import D0Error

MOST_BYTES = 10_000_000
"""The longest request; job files are far shorter."""


class Version(Struct):
    """Which d0ctl answers."""

    version: str


@get(
    "/version",
    summary="Version",
    operation_id="version",
    security=[{}],
    exclude_from_auth=True,
    sync_to_thread=False,
)
def version() -> Version:
    """Return the version of d0ctl; it needs no token."""
    return Version(__version__)


def application(home: Home) -> Litestar:
    """Return the application for a home."""
    routes = Router("/v1", route_handlers=[
        version, event_stream.events, *read_routes.HANDLERS, *task_routes.HANDLERS,
        *action_routes.handlers(),
    ])  # fmt: skip
    handlers: dict[Any, Any] = {
        D0Error: http_errors.expected,
        HTTPException: http_errors.of_http,
        500: http_errors.unexpected,
    }
    return Litestar(
        [routes],
        state=State({"home": home, "listeners": WeakSet()}),
        middleware=[DefineMiddleware(ByToken, exclude="^/v1/openapi")],
        exception_handlers=handlers,
        request_max_body_size=MOST_BYTES,
        openapi_config=OpenAPIConfig(
            title="d0ctl",
            version=__version__,
            path="/v1/openapi.json",
            render_plugins=[JsonRenderPlugin(path="/")],
            security=[{"token": []}],
            components=Components(security_schemes={
                "token": SecurityScheme(type="http", scheme="bearer"),
            }),
        ),
    )  # fmt: skip
