"""The software environment of a binary at launch, when its node is known."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from d0ctl.jobfile.language.quoting import with_inputs
from d0ctl.sitefile.invoking_script import Files, invoking_script
from d0ctl.store.connection import Row
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.registry import CONTROL
from d0ctl.store.nodes.software import order_of


def equipped(
    binary: dict[str, Any], row: Row, package: Row, inputs: Sequence[Row], catalogue: Catalogue
) -> dict[str, Any]:
    """Return a binary with its software, and with the catalogue's script if it has no `run`."""
    title = row["software"]
    if title is None:
        return binary
    entry = catalogue.entry(title, package["platform"])
    if entry is None or (_is_bare(row) and entry["script"] is None):
        return {**binary, "script": _absence(title, package["platform"]), "argv": None}
    software = order_of(entry, is_here=package["cluster_id"] == CONTROL)
    binary = {**_expected(entry), **binary, **_hooks_and_rules(entry, binary), "software": software}

    def filled(name: str, shell: str) -> str:
        return _filled(entry[name], shell, entry, row, package, binary, inputs)

    if entry["check"] is not None and "check" not in binary:
        binary["check"] = filled("check", "bash")
    if not _is_bare(row):
        return binary
    return {**binary, "script": filled("script", entry["shell"]), "shell": entry["shell"]}


def _expected(entry: Row) -> dict[str, Any]:
    """Return the catalogue's values for a binary of this software, unless the job sets them."""
    progress = entry["progress"]
    fields = {"runtime": entry["runtime"], "progress": progress and json.loads(progress)}
    return {key: value for key, value in fields.items() if value is not None}


def _hooks_and_rules(entry: Row, binary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hooks of the software, and its log rules before those of the job."""
    hooks, rules = json.loads(entry["hooks"]), json.loads(entry["log_rules"])
    settings: dict[str, Any] = {"hooks": [{"name": entry["title"], **hooks}]} if hooks else {}
    return {**settings, "log_rules": [*rules, *binary.get("log_rules", ())]} if rules else settings


def _is_bare(row: Row) -> bool:
    return row["script"] is None and row["argv"] is None


def _filled(
    text: str, shell: str, entry: Row, row: Row, package: Row,
    binary: Mapping[str, Any], inputs: Sequence[Row],
) -> str:  # fmt: skip
    paths = [entry["name"] for entry in inputs if entry["binary"] == row["seq"]]
    named = dict(zip(binary["inputs"], paths, strict=True))
    files = Files(named, [output["name"] for output in binary["outputs"]])
    values = {**json.loads(package["parameters"]), **json.loads(row["parameters"] or "{}")}
    parameters = {
        name: _text(values.get(name, standard))
        for name, standard in json.loads(entry["parameters"]).items()
    }
    return with_inputs(invoking_script(text, shell, parameters, files), binary["inputs"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _absence(title: str, platform: str | None) -> str:
    """Return a script that fails as missing software does, for software no longer catalogued."""
    message = f"the catalogue has no software {title} for platform {platform or 'unknown'} any more"
    return f"echo {shlex.quote(message)} >&2\nexit 127\n"
