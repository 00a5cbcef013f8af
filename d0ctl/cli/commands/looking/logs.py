"""`d0ctl logs`: what the binaries of packages printed."""

from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.pages.visits import visit_each
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import refuse_both, say
from d0ctl.cli.terminal.passthrough import Passthrough
from d0ctl.errors import BadUsage, NotFound
from d0ctl.select import Selector
from d0ctl.show.visits import log_names
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.shapes.of_package import PackageView

app = single()


@app.command()
def logs(
    package: options.Target,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", "-f", help="Print new output as it is written, until the package ends."
        ),
    ] = False,
    attempt: Annotated[
        int | None,
        typer.Option(
            "--attempt", metavar="N", min=1, help="Number of the attempt (default: the last)."
        ),
    ] = None,
    binary: Annotated[
        int | None,
        typer.Option(
            "--binary", metavar="N", min=1, help="Number of a binary of the chain (default: all)."
        ),
    ] = None,
    failed: Annotated[
        bool,
        typer.Option(
            "--failed", help="Print how the logs of failed packages end, by reason of failure."
        ),
    ] = False,
    lines: Annotated[
        int | None,
        typer.Option(
            "--lines",
            "-n",
            metavar="N",
            min=1,
            help="Only the last lines of each log (default: all; with --failed: 10).",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Print what the binaries of packages printed."""
    if failed:
        from d0ctl.cli.commands.looking.pages import failed_logs

        refuse_both(failed, follow or bool(attempt or binary), "--failed and other choices")
        failed_logs.run(package, lines or failed_logs.LINES, json)
        return
    if json:
        raise BadUsage("--json needs --failed")
    from d0ctl.show.visits import visiting

    select.parse_all([package], with_binary=True)
    alone = "--follow" if follow else ""
    with session.reader() as store:
        visited = visiting.packages(store, package, "logs", alone=alone, with_binary=True)
        visiting.refuse_archive(store, visited[0])
        if visited[0].level == "binary":
            refuse_both(binary is not None, True, "--binary and the path of a binary")
            binary = visited[0].binary.first

        def show(wanted: Selector) -> None:
            numbers = _binaries(store, browse.package(store, wanted), binary)
            names = log_names.of(numbers, whole=binary is None)
            if follow:
                from d0ctl.cli.terminal.follow import Following

                Following(store, wanted, attempt, names, lines or 0).run()
            else:
                _print(store, wanted, attempt, names, lines)

        visit_each(visited, show)


def _binaries(store: Store, package: PackageView, number: int | None) -> list[int]:
    if number is not None:
        return [one_package.binary(store, package, number).seq]
    return [binary.seq for binary in one_package.binaries(store, package.id)]


def _print(
    store: Store, wanted: Selector, attempt: int | None, names: list[str], lines: int | None
) -> None:
    """Print the logs as they are now, or the last lines of each."""
    from d0ctl.nodes.visits.peek import start_of_last, visit
    from d0ctl.show import following
    from d0ctl.show.visits import visiting

    package = browse.package(store, wanted)
    tried = visiting.attempt_of(store, package, attempt)
    if tried.began_why:
        say(following.resumed(tried))
    with visit(visiting.where(store, tried, package.path)) as here:
        sizes = {entry["name"]: entry["size"] for entry in here.listing()["entries"]}
        printed_names = [name for name in names if sizes.get(name)]
        if not printed_names:
            if not sizes:
                raise NotFound(following.log_gone(tried))
            say(following.printed_nothing(wanted.brief, attempt))
        passthrough = Passthrough()
        passthrough.has_first_head = len(printed_names) > 1
        for name in printed_names:
            start = start_of_last(here, name, sizes[name], lines) if lines else 0
            for piece in here.pieces(name, start, sizes[name]):
                passthrough.write(log_names.source(name), piece)
        passthrough.end_line()
