"""Which files can be merged: the kind of a file, by the suffix of its name."""

import os
from typing import Dict, List

from d0ctl_wrapper import program

PROGRAM = "d0ctl-merge"
"""The word that stands for the merging process in a job."""

KINDS: "Dict[str, str]" = {
    ".txt": "text",
    ".log": "text",
    ".dat": "text",
    ".jsonl": "text",
    ".ndjson": "text",
    ".csv": "csv",
    ".tsv": "csv",
    ".gz": "packed",
    ".bz2": "packed",
    ".xz": "packed",
    ".tar": "tar",
    ".tar.gz": "tar",
    ".tgz": "tar",
    ".tar.bz2": "tar",
    ".tar.xz": "tar",
    ".zip": "zip",
    ".root": "root",
}  # fmt: skip


def kind_of(name: str) -> "str | None":
    """Return the kind of a file; None if files of its type can't be merged."""
    found = [suffix for suffix in KINDS if name.lower().endswith(suffix)]
    kind = KINDS[max(found, key=len)] if found else None
    # the header of a table is kept once, so a packed one has to be unpacked
    is_table = kind == "packed" and kind_of(name.rpartition(".")[0]) == "csv"
    return "csv" if is_table else kind


def command() -> "List[bytes]":
    """Return the words that merge, with the python and the package of this process."""
    found = program.arguments("from d0ctl_wrapper import merge; merge.main()")
    return [os.fsencode(word) for word in found]
