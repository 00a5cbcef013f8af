"""`d0ctl validate`: every fault of a job file, and nothing done."""

import typer

from d0ctl.cli import intake, options
from d0ctl.cli.output import emit, emit_json

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def validate(
    file: options.JobFile, parameter: options.Parameters = None, json: options.Json = False
) -> None:
    """List every fault of a job file, and do nothing."""
    spec = intake.read(file, parameter)
    if json:
        stages = [stage.name for stage in spec.stages]
        emit_json({"job": spec.name, "packages": spec.packages, "stages": stages})
    else:
        emit(f"ok: {intake.summary(spec)}")
