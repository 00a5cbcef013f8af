"""What is wrong with a word of a selector, and what was probably meant."""

import re
import shlex
from collections.abc import Sequence

from d0ctl.errors import BadUsage
from d0ctl.jobfile.sections.policy import REASONS_MEANT
from d0ctl.jobfile.yaml.faults import near

_FILE = r"([^:/]+)[^:]*:([^:]*[*?./][^:]*)"
"""A job or a part of it, and a name or pattern that can only be that of a file."""


def is_file(text: str) -> bool:
    """Return whether a word names files of a job, as in `reco001:all.root`."""
    return re.fullmatch(_FILE, text) is not None


def no_job_name(word: str, text: str) -> BadUsage:
    """Return the fault of a word that can't be a job's name; it may be a job file."""
    if text.endswith((".yaml", ".yml")):
        return BadUsage(f"`{text}` is a job file; its job is needed here", hint="d0ctl status")
    where = "" if word == text else f" in `{text}`"
    return BadUsage(f"`{word}`{where} can't be a job's name",
                    hint="a selector reads JOB/STAGE/LINE/PACKAGE, as in `reco001/2/3/1`"
                    )  # fmt: skip


def no_state(word: str, text: str, known: Sequence[str]) -> BadUsage:
    """Return the fault of a word that is no state; a pattern after a job is one of its files."""
    fault = f"`{word}` is neither a status nor a phase"
    if not near(word, known) and (file := re.fullmatch(_FILE, text)):
        verb = "file list" if re.search(r"[*?[]", file[2]) else "why"
        named = shlex.quote(f"{file[1]}:{file[2]}")
        return BadUsage(fault, hint=f"for files: d0ctl {verb} {named}")
    return unknown(word, known, fault)


def no_reason(word: str, known: Sequence[str]) -> BadUsage:
    """Return the fault of a word that is no reason of failures; batch systems have other words."""
    meant = word.lower().replace("_", "-")
    return unknown(REASONS_MEANT.get(meant, meant), known, f"`{word}` is not a failure reason")


def unknown(word: str, known: Sequence[str], fault: str) -> BadUsage:
    """Return the fault of an unknown word, with a near miss or all known ones."""
    meant = near(word, known)
    return BadUsage(
        fault, hint=f"did you mean `{meant}`?" if meant else f"one of {', '.join(known)}"
    )
