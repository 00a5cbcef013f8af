"""Tokens of the REST interface: their names, roles and the digests of their secrets."""

import hashlib
import secrets
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from d0ctl.store.connection import Row, Store

Role: TypeAlias = Literal["reader", "operator", "admin"]
"""Who may read only; who may also act on jobs; who may also change nodes and the site."""

ROLES: tuple[Role, ...] = get_args(Role)
"""The roles; each may do what those before it may."""

SECRET_BYTES = 32


class Token(Struct, frozen=True):
    """A token whose secret was given."""

    name: str
    role: Role

    @property
    def actor(self) -> str:
        """The actor of what is done with it, which is no login and no part of d0ctl."""
        return f"token {self.name}"

    def may(self, role: Role) -> bool:
        """Return whether it may do what this role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


def all_tokens(store: Store) -> list[Row]:
    """Return all tokens by name: name, role, when it was made, and by whom."""
    return store.rows("tokens")


def named(store: Store, name: str) -> Row | None:
    """Return the token of a name; None if there is none."""
    return store.row("token", name=name)


def of_secret(store: Store, secret: str) -> Token | None:
    """Return the token that has this secret; None if there is none."""
    row = store.row("token_of_digest", digest=_digest(secret))
    return None if row is None else Token(row["name"], row["role"])


def add(store: Store, name: str, role: str, *, actor: str, now: float) -> str:
    """Add a token and return its secret, which can't be read again."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    store.change("keep_token", name=name, role=role, digest=_digest(secret), made=now, actor=actor)
    return secret


def remove(store: Store, name: str) -> None:
    """Remove a token; its secret is refused from now on."""
    store.change("remove_token", name=name)


def _digest(secret: str) -> str:
    """Return the digest of a secret; it needs no salt, because it is random and long."""
    return hashlib.sha256(secret.encode()).hexdigest()
