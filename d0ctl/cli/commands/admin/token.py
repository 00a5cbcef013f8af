"""`d0ctl token`: who may use the REST interface."""

from typing import TYPE_CHECKING

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.schemas.fill import fill
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, table
from d0ctl.show import site_lists as lines

if TYPE_CHECKING:
    from d0ctl.store.connection import Row

app = group("List, add or remove tokens of the REST interface.", Actions)


@app.command("list")
def list_tokens(json: options.Json = False) -> None:
    """Show tokens with their roles."""
    from d0ctl.store.rest import token_secrets

    found: list[Row] = []
    if session.has_home():
        with session.reader() as store, store.reading():
            found = token_secrets.all_tokens(store)
    if json:
        from d0ctl.cli.schemas import site

        emit_json({"tokens": [fill(site.Token, row, token=row["name"], by=row["actor"])
                              for row in found]})  # fmt: skip
    elif found:
        table([lines.token(row) for row in found])
    else:
        emit(lines.NO_TOKENS)
