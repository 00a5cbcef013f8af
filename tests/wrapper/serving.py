"""Wrappers that serve attempts, as tests look at them."""

from tests.support.waiting import Pid, wait_until
from tests.wrapper.client import Client


def wrapper_of(node: Client, attempt: int) -> int:
    """The pid in the record of an attempt."""
    record = node.folder(attempt) / "wrapper"
    wait_until(lambda: record.exists() and record.read_text().endswith("\n"))
    return int(record.read_text().split()[0])


def process_of(node: Client, attempt: int) -> Pid:
    """The living wrapper of an attempt."""
    pid = Pid.of(wrapper_of(node, attempt))
    assert pid is not None
    return pid
