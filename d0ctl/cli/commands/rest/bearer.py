"""Who a request comes from, and what it may do."""

from typing import Any

from anyio.to_thread import run_sync
from litestar.connection import ASGIConnection
from litestar.exceptions import NotAuthorizedException, PermissionDeniedException
from litestar.handlers import BaseRouteHandler
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult
from litestar.types import Guard

from d0ctl.config import Home
from d0ctl.store import opening
from d0ctl.store.rest import token_secrets
from d0ctl.store.rest.token_secrets import Role, Token

SCHEME = "Bearer"


MISSING = "give a token: `Authorization: Bearer SECRET`"
UNKNOWN = "this token is unknown or was removed: `d0ctl token list` has those that are valid"


class ByToken(AbstractAuthenticationMiddleware):
    """Finds the token of each request by its secret; a removed one is refused at once."""

    async def authenticate_request(
        self, connection: ASGIConnection[Any, Any, Any, Any]
    ) -> AuthenticationResult:
        """Return the token. Raises NotAuthorizedException."""
        scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
        token = None
        if scheme.lower() == SCHEME.lower() and secret.strip():
            token = await run_sync(_token, connection.app.state.home, secret.strip())
        if token is None:
            is_given = bool(secret.strip()) and scheme.lower() == SCHEME.lower()
            raise NotAuthorizedException(UNKNOWN if is_given else MISSING,
                                         headers={"WWW-Authenticate": SCHEME})  # fmt: skip
        return AuthenticationResult(user=token, auth=None)


def _token(home: Home, secret: str) -> Token | None:
    with opening.reader(home) as store:
        return token_secrets.of_secret(store, secret)


def only(role: Role) -> Guard:
    """Return what refuses tokens that may do less than this role."""

    def check(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
        if not connection.user.may(role):
            raise PermissionDeniedException(
                f"token `{connection.user.name}` has role {connection.user.role}: this needs {role}"
            )

    return check
