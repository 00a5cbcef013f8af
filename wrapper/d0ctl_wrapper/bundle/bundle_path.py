"""Where the bundle is."""

import sys


def of(archive: str) -> str:
    """Return the path of the bundle for this python, beside the archive of all modules.

    The batch scripts compute it, too.
    """
    return "%s.%s-%x" % (archive[:-4], sys.implementation.cache_tag, sys.hexversion)
