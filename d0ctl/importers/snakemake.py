"""Lists of jobs that Snakemake prints by `--dag` or `--d3dag`, as job files."""

import json
import re
import shlex
from pathlib import Path

from d0ctl.importers.draft import Draft, Entry, Unreadable, label, literal

_NODE = re.compile(r'^\s*(\d{1,9})\s*\[\s*label\s*=\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_EDGE = re.compile(r"^\s*(\d{1,9})\s*->\s*(\d{1,9})\b", re.MULTILINE)


def read(text: str, path: Path, draft: Draft) -> None:
    """Put the jobs of a list into a draft. Raises Unreadable."""
    labels, edges = _from_json(text, path) if text.lstrip().startswith("{") else _from_dot(text)
    if not labels:
        raise Unreadable(f"{path.name}: there is no job in it")
    lines: dict[str, tuple[str, Entry]] = {}
    for key, words in labels.items():
        rule, *wildcards = [word.strip() for word in words if word.strip()] or ["rule"]
        values = [f"{name.strip()}={value.strip()}" for name, _, value in
                  (wildcard.partition(":") for wildcard in wildcards)]  # fmt: skip
        target = f"{rule}:{','.join(values)}" if values else rule
        folder = shlex.quote(str(path.parent.resolve()))
        line: Entry = {
            "name": label(" ".join(values) or key),
            "run": literal(
                f"snakemake --cores 1 --nolock --directory {folder} "
                f"--allowed-rules {shlex.quote(rule)} --target-jobs {shlex.quote(target)}"
            ),
        }
        lines[key] = draft.add(label(rule), line), line
    for before, behind in dict.fromkeys(edges):
        if before not in lines or behind not in lines:
            raise Unreadable(f"{path.name}: an arrow goes from or to a job that is not listed")
        lines[behind][1].setdefault("after", []).append(lines[before][0])
    draft.leave_out(path.name, "the list has no commands and files: each line calls `snakemake` in "
                    "the folder of the list, which all nodes have to share")  # fmt: skip


def _from_dot(text: str) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    labels = {
        key: re.split(r"\\n|\n", words.replace('\\"', '"')) for key, words in _NODE.findall(text)
    }
    return labels, _EDGE.findall(text)


def _from_json(text: str, path: Path) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    try:
        document = json.loads(text)
        labels: dict[str, list[str]] = {}
        for node in document["nodes"]:
            value = node.get("value", {})
            key = str(node.get("id", value.get("jobid")))
            labels[key] = str(value.get("label") or value.get("rule") or node.get("label")).split(
                "\n"
            )
        links = document.get("links", document.get("edges", []))
        pairs = [(str(one.get("u", one.get("source"))), str(one.get("v", one.get("target"))))
                 for one in links]  # fmt: skip
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{path.name}: it is no list of `snakemake --d3dag`") from error
    return labels, pairs
