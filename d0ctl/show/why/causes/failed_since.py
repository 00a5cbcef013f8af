"""Which packages, on whose files results depend, have failed since."""

from d0ctl.store.connection import Store
from d0ctl.store.files.doubtful_makers import failed_makers
from d0ctl.units import count


def failed_since(
    store: Store, job: int, package: int | None = None, subject: str = ""
) -> list[str]:
    """Say on which packages that failed since successful ones of a job depend, or one does."""
    found = failed_makers(store, job, package)
    if found is None:
        return []
    number = count(found.readers, "successful package depends", "successful packages depend")
    others = f" and {count(found.makers - 1, 'more package')}" if found.makers > 1 else ""
    files, have = ("files", "have") if others else ("a file", "has")
    how = "failed" if found.has_failed else "not succeeded"
    return [f"{f'{subject} depends' if subject else number} on {files} of `{found.first}`{others}, "
            f"which {have} {how} since"]  # fmt: skip
