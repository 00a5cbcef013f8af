"""The commands that d0ctl suggests, and why one is refused."""

import re

from tests.cli.conftest import Type

COMMAND = re.compile(r"d0ctl [a-z](?:[^`\n;\"']|'[^'\n]*')*?(?=`|\n|;|\"|    |$)")


def suggested(d0ctl: Type, *asked: str) -> list[str]:
    """The commands in what d0ctl prints."""
    answer = d0ctl(*asked)
    found = [text.strip() for text in COMMAND.findall(answer.stdout + "\n" + answer.stderr)]
    return [text for text in dict.fromkeys(found) if not re.search(r"\b[A-Z]{3,}\b", text)]
