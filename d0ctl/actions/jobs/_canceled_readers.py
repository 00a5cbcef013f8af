"""What happens to packages of other jobs that read files of jobs which go."""

from collections.abc import Iterator, Mapping

from d0ctl.units import count, listed


def describe(readers: Mapping[str, int]) -> Iterator[str]:
    """Say which packages would be canceled."""
    if readers:
        yield f"would cancel {_packages(readers)}, because nothing makes their inputs then"


def report(readers: Mapping[str, int]) -> Iterator[str]:
    """Say which packages were canceled."""
    if readers:
        yield f"canceled {_packages(readers)}, because nothing makes their inputs any more"


def _packages(readers: Mapping[str, int]) -> str:
    return listed([f"{count(number, 'package')} of `{job}`" for job, number in readers.items()])
