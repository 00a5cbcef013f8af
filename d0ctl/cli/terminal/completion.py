"""What TAB offers, for arguments and options of Typer."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal import offers

LONGEST = 1 << 20
"""How many characters of a job file are read for its parameters."""

Completer: TypeAlias = Callable[[typer.Context, str], list[str]]


def _completer(offer: offers.Offer) -> Completer:
    def complete(context: typer.Context, incomplete: str) -> list[str]:
        asked = context.find_root().params.get("home")
        if asked is not None:
            session.settings.home = asked
        return offer(incomplete)

    return complete


selectors = _completer(offers.selectors)
job_names = _completer(offers.job_names)
node_names = _completer(offers.node_names)
states = _completer(offers.states)
reasons = _completer(offers.reasons)
ends = _completer(offers.ends)
subjects = _completer(offers.subjects)
parts_or_nodes = _completer(offers.parts_or_nodes)
files = _completer(offers.files)
results = _completer(offers.results)
targets_or_statuses = _completer(offers.targets_or_statuses)
templates = _completer(offers.templates)
software = _completer(offers.software)


def parameters(context: typer.Context, incomplete: str) -> list[str]:
    """Names for `--set`, from the job file that was typed before it, or that of a job."""
    import yaml  # seldom needed, and slow to import

    # the words before an option without its value are not assigned to parameters
    written = [context.params.get("file"), context.params.get("target"), *context.args]
    word = str(next((word for word in written if word), ""))
    try:
        document = yaml.load(_text(word), yaml.BaseLoader)
        names = list(document.get("parameters") or [])
    except (OSError, ValueError, AttributeError, TypeError, yaml.YAMLError):
        return []
    return [f"{name}=" for name in names if str(name).startswith(incomplete)]


def _text(word: str) -> str:
    """Return the text of a job file, or of that of a job."""
    if Path(word).is_file():
        with Path(word).open(encoding="utf-8") as file:
            return file.read(LONGEST)
    return offers.job_text(re.split("[/:]", word)[0])
