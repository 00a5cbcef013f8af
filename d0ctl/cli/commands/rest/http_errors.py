"""Errors as HTTP answers: one shape for all."""

import logging
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct
from msgspec.structs import fields

from d0ctl.actions import ACTIONS
from d0ctl.errors import D0Error, ExitCode
from d0ctl.jobfile.yaml.faults import near
from d0ctl.units import listed

ACTION_PATH = "/v1/actions/"

ALL_PATHS = "GET /v1/openapi.json lists all paths"

log = logging.getLogger(__name__)


class Problem(Struct):
    """Why a request was refused, and what to do instead."""

    error: str
    hint: str | None = None
    details: tuple[str, ...] = ()


STATUS = {
    ExitCode.USAGE: HTTPStatus.BAD_REQUEST,
    ExitCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ExitCode.REFUSED: HTTPStatus.CONFLICT,
    ExitCode.DATABASE: HTTPStatus.SERVICE_UNAVAILABLE,
    ExitCode.NODE: HTTPStatus.BAD_GATEWAY,
}
"""The status for each exit code of the command line."""

RESPONSES = {
    int(status): ResponseSpec(Problem, description=text)
    for status, text in {
        HTTPStatus.BAD_REQUEST: "Bad usage, or a job file with faults.",
        HTTPStatus.UNAUTHORIZED: "There is no token, or it is unknown.",
        HTTPStatus.FORBIDDEN: "The role of the token does not allow it.",
        HTTPStatus.NOT_FOUND: "There is no such job, package, file or node.",
        HTTPStatus.CONFLICT: "Refused in this state, or others have changed it since.",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The request is too long.",
        HTTPStatus.INTERNAL_SERVER_ERROR: "An error inside d0ctl.",
        HTTPStatus.BAD_GATEWAY: "A node does not answer.",
        HTTPStatus.SERVICE_UNAVAILABLE: "The database can't be used, or too many listen to events.",
    }.items()
}
"""The problems that any request may meet, for the OpenAPI document."""


def expected(request: Request[Any, Any, Any], error: D0Error) -> Response[Problem]:
    """Answer an expected failure as the command line would say it."""
    status = STATUS.get(error.exit_code, HTTPStatus.INTERNAL_SERVER_ERROR)
    return Response(Problem(str(error), error.hint, error.details), status_code=status)


def of_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """Answer a request that the framework refuses: bad JSON, no such path, no token."""
    extra = error.extra if isinstance(error.extra, list) else []
    details = tuple(": ".join(str(problem[key]) for key in ("key", "message") if problem.get(key))
                    for problem in extra if isinstance(problem, dict))  # fmt: skip
    if error.status_code == HTTPStatus.NOT_FOUND:
        problem = _no_path(request.url.path)
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        problem = Problem(f"`{request.url.path}` does not take {request.method}", ALL_PATHS)
    else:
        problem = Problem(_sentence(error.detail), _fields(request, details), details)
    return Response(problem, status_code=error.status_code, headers=error.headers)


def _sentence(text: str) -> str:
    """Return a text of the framework as d0ctl writes messages; a word such as JSON stays."""
    front = text[:1] if text[1:2].isupper() else text[:1].lower()
    return (front + text[1:]).rstrip(".")


def _no_path(path: str) -> Problem:
    action = path.removeprefix(ACTION_PATH).replace("/", " ")
    meant = near(action, ACTIONS) if path.startswith(ACTION_PATH) else None
    hint = f"did you mean `{ACTION_PATH}{meant.replace(' ', '/')}`?" if meant else ALL_PATHS
    return Problem(f"there is no path `{path}`", hint)


def _fields(request: Request[Any, Any, Any], details: Iterable[str]) -> str | None:
    """Return the fields that a body may have, if a problem is a field that it has not."""
    if not any("unknown field" in detail for detail in details):
        return None
    body = request.route_handler.parsed_fn_signature.parameters["data"].annotation
    return f"the fields are {listed(f'`{field.encode_name}`' for field in fields(body))}"


def unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """Answer a fault of d0ctl itself, and log it."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    problem = Problem("an error inside d0ctl; the log of `d0ctl serve` has more")
    return Response(problem, status_code=HTTPStatus.INTERNAL_SERVER_ERROR)
