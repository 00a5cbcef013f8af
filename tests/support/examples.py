"""How many examples Hypothesis tries: few in `make test`, as many as EXAMPLES in `make soak`."""

import os


def examples(number: int) -> int:
    """Return the number that EXAMPLES asks for, else this one."""
    return int(os.environ.get("EXAMPLES", number))
