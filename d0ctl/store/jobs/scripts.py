"""The scripts of packages."""

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

from d0ctl.store.connection import Selection, Store


class Position(NamedTuple):
    """A package and its numbers in its job."""

    package: int
    stage: int
    line: int
    seq: int
    stage_name: str

    @property
    def path(self) -> str:
        """Its path within the job."""
        return f"{self.stage}/{self.line}/{self.seq}"


class Script(NamedTuple):
    """The script of one binary of a package."""

    package: int
    seq: int
    script: str | None
    argv: str | None
    parameters: str | None


def positions(selected: Selection) -> list[Position]:
    """Return the selected packages in the order of their job."""
    return [
        Position(row["id"], row["stage"], row["line"], row["seq"], row["stage_name"])
        for row in selected.rows("selected_positions")
    ]


def files(selected: Selection) -> dict[int, set[tuple[str, int, str]]]:
    """Return kind, binary and name of the files of the selected packages, by package."""
    found: dict[int, set[tuple[str, int, str]]] = {}
    for row in selected.rows("selected_package_files"):
        found.setdefault(row["package_id"], set()).add((row["kind"], row["binary"], row["name"]))
    return found


def of_package(store: Store, package: int) -> dict[int, Script]:
    """Return the scripts of a package by the number of the binary."""
    return {
        row["seq"]: Script(package, row["seq"], row["script"], row["argv"], row["parameters"])
        for row in store.rows("scripts_of", package=package)
    }


def change(
    store: Store, scripts: Sequence[Script], own: Collection[int], parameters: Sequence[str]
) -> None:
    """Change what binaries run, with these parameters as KEY=VALUE.

    But for packages in `own`, their results are then out of date.
    """
    store.change_many("change_script", ((each.script, each.argv, each.parameters, each.package,
                                         each.seq) for each in scripts))  # fmt: skip
    packages = {each.package for each in scripts}
    store.change_many("forget_other_recipe", ((package,) for package in packages))
    store.change_many("record_other_recipe", ((package,) for package in packages.difference(own)))
    text = json.dumps(list(parameters))
    texts = [(None if package in own else text, package) for package in packages]
    store.change_many("keep_retry_parameters", texts)
