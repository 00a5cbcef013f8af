"""Merge files by their type: `d0ctl-merge OUTPUT` merges the inputs of a binary.

It runs as a process of its own. The inputs are read from the list that every binary has, until
that is closed, so an early start merges files as they arrive.
"""

import importlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from typing import IO, Callable, Dict, Iterator

from d0ctl_wrapper import merge_types

PIECE = 1 << 20

WAIT_S = 0.2
"""How long to wait for the next input."""

_ROOT = """
import re, sys, uproot
SUMMED = re.compile("fEntries|fTsumw.*|fSumw2|fBinEntries|fBinSumw2")
def parts(one):
    return [one] + [part for base in one.bases for part in parts(base)]
def axes(one):
    found = [one.member(name) for name in ("fXaxis", "fYaxis", "fZaxis")]
    return [(axis.edges().tolist(), axis.labels()) for axis in found]
def bins(one):
    return next(part for part in parts(one) if hasattr(part, "_data"))
def add(total, one):
    for a, b in zip(parts(total), parts(one)):
        for key in sorted(filter(SUMMED.fullmatch, a._members), reverse=True):
            x, y = a._members[key], b._members[key]
            if not hasattr(x, "_data"):
                a._members[key] = x + y
            elif len(x) or len(y):
                # squares of weights that are not stored are the contents, not yet summed
                plain = [of.member("fBinEntries") if key == "fBinSumw2" else bins(of)
                         for of in (total, one)]
                x, y = [(of if len(of) else other)._data for of, other in zip((x, y), plain)]
                a._members[key] = uproot.writing.identify.to_TArray(x + y)
    bins(total)._data = (bins(total)._data + bins(one)._data).astype(bins(total)._data.dtype)
output, inputs = sys.argv[1], sys.argv[2:]
histograms, trees = {}, set()
with uproot.recreate(output) as out:
    for name in inputs:
        with uproot.open(name) as file:
            for key in file.keys(cycle=False, recursive=True):
                one = file[key]
                if isinstance(one, uproot.ReadOnlyDirectory):
                    continue
                if hasattr(one, "iterate"):
                    for arrays in one.iterate(step_size="50 MB"):
                        columns = {field: arrays[field] for field in arrays.fields}
                        if key in trees:
                            out[key].extend(columns)
                        elif isinstance(one, uproot.TTree):
                            out.mktree(key, {field: x.type for field, x in columns.items()})
                            out[key].extend(columns)
                        else:
                            out.mkrntuple(key, columns)
                        trees.add(key)
                elif re.fullmatch("TH[123][CSILFD]|TProfile([23]D)?", one.classname):
                    if key not in histograms:
                        histograms[key] = one
                    elif axes(histograms[key]) != axes(one):
                        sys.exit("histogram `%s` of `%s` has other bins" % (key, name))
                    else:
                        add(histograms[key], one)
                else:
                    sys.exit("`%s` of `%s` is a %s, which only `hadd` can merge"
                             % (key, name, one.classname))
    for key, found in histograms.items():
        out[key] = found
"""
"""Adds histograms and chains trees where there is no `hadd`."""


class NotMerged(Exception):
    """Files that can't be merged, with the reason."""


def main() -> None:
    """Merge the inputs into the file that is named; end with 1 and the reason if that fails."""
    output = sys.argv[1]
    try:
        KINDS[merge_types.kind_of(output) or "text"](output, _inputs())
    except Exception as error:  # each kind of damaged file raises errors of its own
        sys.exit("%s: %s" % (merge_types.PROGRAM, error))


def _inputs() -> "Iterator[str]":
    """Yield the inputs as they arrive, until their list is closed."""
    path = os.environ["D0CTL_INPUTS"]
    seen = 0
    while True:
        is_closed = os.path.exists(path + ".closed")
        with open(path, errors="surrogateescape") as file:
            names = file.read().split("\n")[:-1]
        for name in names[seen:]:
            yield name
        seen = len(names)
        if is_closed:
            return
        time.sleep(WAIT_S)


def _text(output: str, inputs: "Iterator[str]") -> None:
    """Concatenate, with a line end after each file."""
    with open(output, "wb") as out:
        for name in inputs:
            with open(name, "rb") as file:
                last = _copy(file, out)
            if last not in (b"", b"\n"):
                out.write(b"\n")


def _bytes(output: str, inputs: "Iterator[str]") -> None:
    """Concatenate files unchanged: packed ones stay packed."""
    with open(output, "wb") as out:
        for name in inputs:
            with open(name, "rb") as file:
                _copy(file, out)


def _copy(file: "IO[bytes]", out: "IO[bytes]") -> bytes:
    """Copy the rest of a file; return its last byte."""
    last = b""
    while True:
        data = file.read(PIECE)
        if not data:
            return last
        out.write(data)
        last = data[-1:]


def _csv(output: str, inputs: "Iterator[str]") -> None:
    """Concatenate tables that have the same header, which is kept once; packed ones stay packed."""
    header = b""
    with _unpacked(output, "wb") as out:
        for name in inputs:
            with _unpacked(name, "rb") as file:
                first = _row(file)
                if not header:
                    header = first
                    out.write(first.rstrip(b"\r\n") + b"\n" if first else b"")
                elif first and first.strip() != header.strip():
                    raise NotMerged(
                        "the header of `%s` differs from that of the files before" % name
                    )
                if _copy(file, out) not in (b"", b"\n"):
                    out.write(b"\n")


def _unpacked(name: str, mode: str) -> "IO[bytes]":
    """Open a file for its contents, whether it is compressed or not."""
    packing = {"gz": "gzip", "bz2": "bz2", "xz": "lzma"}.get(name.rpartition(".")[2].lower())
    opened: "IO[bytes]" = (importlib.import_module(packing) if packing else io).open(name, mode)
    return opened


def _row(file: "IO[bytes]") -> bytes:
    """Read the first row of a table, which has several lines if a quoted field has."""
    row = file.readline()
    while row.count(b'"') % 2:
        more = file.readline()
        if not more:
            break
        row += more
    return row


def _tar(output: str, inputs: "Iterator[str]") -> None:
    """Collect the members of all archives; two of one name are refused."""
    packing = {"gz": "gz", "tgz": "gz", "bz2": "bz2", "xz": "xz"}
    mode = "w:" + packing.get(output.rpartition(".")[2].lower(), "")
    seen: "Dict[str, str]" = {}
    with tarfile.open(output, mode) as out:  # type: ignore[call-overload]
        for name in inputs:
            with tarfile.open(name) as archive:
                for member in archive:
                    if member.isdir() and member.name in seen:
                        continue
                    _once(seen, member.name, name)
                    out.addfile(member, archive.extractfile(member) if member.isreg() else None)


def _zip(output: str, inputs: "Iterator[str]") -> None:
    """Collect the members of all archives; two of one name are refused."""
    seen: "Dict[str, str]" = {}
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as out:
        for name in inputs:
            with zipfile.ZipFile(name) as archive:
                for member in archive.infolist():
                    if member.filename.endswith("/") and member.filename in seen:
                        continue
                    _once(seen, member.filename, name)
                    with archive.open(member) as file, out.open(member, "w") as copy:
                        shutil.copyfileobj(file, copy, PIECE)


def _once(seen: "Dict[str, str]", member: str, name: str) -> None:
    if member in seen:
        raise NotMerged("`%s` is in `%s` and in `%s`" % (member, seen[member], name))
    seen[member] = name


def _root(output: str, inputs: "Iterator[str]") -> None:
    """Add histograms and chain trees, by `hadd` or by uproot, whichever the node has."""
    names = list(inputs)
    hadd = shutil.which("hadd")
    arguments = [hadd, "-f", output] if hadd else [_python_with_uproot(), "-c", _ROOT, output]
    code = subprocess.call(arguments + names)
    if code:
        raise NotMerged("`%s` ended with exit code %d" % (os.path.basename(arguments[0]), code))


def _python_with_uproot() -> str:
    """Return this python or the one on PATH, whichever has uproot."""
    has_it = "import importlib.util, sys; sys.exit(importlib.util.find_spec('uproot') is None)"
    for python in (sys.executable, shutil.which("python3")):
        if python and subprocess.call([python, "-c", has_it]) == 0:
            return python
    raise NotMerged("merging ROOT files needs `hadd` on PATH, or uproot: pip install uproot")


KINDS: "Dict[str, Callable[[str, Iterator[str]], None]]" = {
    "text": _text,
    "csv": _csv,
    "packed": _bytes,
    "tar": _tar,
    "zip": _zip,
    "root": _root,
}  # fmt: skip
"""The function that merges the files of each kind."""
