"""`d0ctl token`: who may use the REST interface."""

from typing import TYPE_CHECKING

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import print_list
from d0ctl.show import site_lists as lines

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site
    from d0ctl.store.connection import Row

app = group("List, add or remove tokens of the REST interface.", Actions)


@app.command("list")
def list_tokens(json: options.Json = False) -> None:
    """Show tokens with their roles."""
    from d0ctl.store.rest import token_secrets

    found = session.read_all(token_secrets.all_tokens)
    print_list("tokens", found, _document, lines.token, lines.NO_TOKENS, json=json)


def _document(row: "Row") -> "site.Token":
    from d0ctl.cli.schemas import site

    return fill(site.Token, row, token=row["name"], by=row["actor"])
