"""The only place that looks at all files below a folder, while others may change them."""

import os
from typing import Iterator


def tour(folder: bytes) -> "Iterator[os.stat_result]":
    """Give the status of all that is below a folder, following no links."""
    folders = [folder]
    while folders:
        try:
            names = os.scandir(folders.pop())
        except OSError:
            continue
        with names:
            for entry in names:
                try:
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                except OSError:
                    continue
                yield status
