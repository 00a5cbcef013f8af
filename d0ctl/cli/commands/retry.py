"""`d0ctl retry`: let run again what failed, with other wishes where need be."""

from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

import typer

from d0ctl.actions import Changes, Request
from d0ctl.cli import options, plan
from d0ctl.cli.changing import Choosing, chosen
from d0ctl.cli.terminal import completion
from d0ctl.errors import BadUsage
from d0ctl.jobfile.language.field_types import unfit_variable
from d0ctl.units import parse_size, parse_time

app = typer.Typer(add_completion=False, rich_markup_mode=None)

T = TypeVar("T")


@app.command(cls=Choosing)
def retry(
    selector: options.Targets,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="With so much memory, as `4GB`.")
    ] = None,
    disk: Annotated[
        str | None, typer.Option("--disk", metavar="SIZE", help="With so much disk, as `20GB`.")
    ] = None,
    cpus: Annotated[
        int | None, typer.Option("--cpus", metavar="N", min=1, help="With so many cpus.")
    ] = None,
    wall_time: Annotated[
        str | None, typer.Option("--wall-time", metavar="TIME", help="With so much time, as `2h`.")
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="NODE",
            autocompletion=completion.node_names,
            help="On this node only; may be repeated.",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            metavar="NAME=VALUE",
            help="With this variable in the environment; may be repeated.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="With this parameter of the job; may be repeated."
        ),
    ] = None,
    from_scratch: Annotated[
        bool,
        typer.Option("--from-scratch", help="Discard the files that earlier attempts kept."),
    ] = False,
) -> None:
    """Retry failed packages, optionally with changed resources.

    Canceled packages, and those in cooloff, are retried only if named by path or state.
    """
    changes = Changes(
        memory=_read("--memory", memory, parse_size),
        disk=_read("--disk", disk, parse_size),
        cpus=cpus,
        wall_time=_read("--wall-time", wall_time, parse_time),
        nodes=tuple(on or ()),
        environment=_variables(env or ()),
        parameters=_pairs("--set", set_ or ()),
        from_scratch=from_scratch,
    )
    plan.carry_out(Request("retry", chosen(selector), changes=changes))


def _read(option: str, text: str | None, reading: Callable[[str], T]) -> T | None:
    """The value of an option. Raises BadUsage."""
    if text is None:
        return None
    try:
        value = reading(text)
    except ValueError as error:
        raise BadUsage(f"{option}: {error}") from error
    if not value:
        raise BadUsage(f"{option} takes more than 0, not `{text}`")
    return value


def _variables(texts: Iterable[str]) -> dict[str, str]:
    """Variables of the environment with their values. Raises BadUsage."""
    found = _pairs("--env", texts)
    for name in found:
        if why := unfit_variable(name):
            raise BadUsage(f"--env: {why}")
    return found


def _pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """Names with their values. Raises BadUsage."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()) or "\0" in text:
            raise BadUsage(f"{option} takes NAME=VALUE, not `{text}`")
        found[name.strip()] = value
    return found
