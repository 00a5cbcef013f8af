"""Small files in which the system describes itself."""


def machine_id() -> str:
    """Return the unique id of the machine; empty if unknown."""
    return read("/etc/machine-id") or read("/var/lib/dbus/machine-id")


def read(path: str) -> str:
    """Read a small file of the system; empty if it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
