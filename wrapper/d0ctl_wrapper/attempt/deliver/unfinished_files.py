"""The only place for what an attempt puts outside of BASE before it is whole.

`attempts/ID/leavings` names it, so that it goes even if the attempt is ended in the middle.
"""

from d0ctl_wrapper.protocol.paths import AttemptFolder, read, remove, write


def note(folder: AttemptFolder, path: bytes) -> None:
    """Remember a file that is about to be made, until it has been cleared."""
    write(folder.file(b"unfinished_files"), path)


def clear(folder: AttemptFolder) -> None:
    """Remove what is remembered, as far as that can be done now."""
    notes = folder.file(b"unfinished_files")
    try:
        path = read(notes)
    except OSError:
        return
    try:
        if path.startswith(b"/"):
            remove(path)
        remove(notes)
    except OSError:
        pass
