"""Why packages changed: the words for the codes that the store keeps."""

from collections.abc import Mapping

from d0ctl.model import Remark

REMARKS: Mapping[str, str] = {
    Remark.REPACKAGED: "its files go into other packages",
    Remark.OUTDATED_MERGE: "it has merged an old version of a file",
    Remark.INPUT_REPLACED: "an input file was replaced",
    Remark.INPUT_LOST: "an input was lost",
    Remark.INPUT_COPY_LOST: "a copy of an input was lost",
    Remark.OUTPUT_LOST: "remake: an output was lost before its last consumer",
    Remark.INPUTS_CHANGED: "its inputs are others than before",
    Remark.INPUT_REMADE: "an input is being made again",
    Remark.MAKER_REMOVED: "the job was removed that makes its inputs",
    Remark.NODE_DRAINED: "its node was drained before it was launched",
    Remark.RELEASED_BY_POLICY: "released by the policy",
}


def remark(note: str | None) -> str | None:
    """Return the words for the note of a package or event; a person's own stays as it is."""
    return REMARKS.get(note, note) if note else note
