"""A wrapper, which serves a slot of its node: one attempt after another, each to its end."""

import gc
import itertools
import os
import signal
from typing import Dict, FrozenSet, NamedTuple, Optional, Tuple

from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.attempt.wrapper import Wrapper
from d0ctl_wrapper.host.channel import RelayChannel
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, read

COLLECT_EVERY = 100
"""The attempts between two collections of garbage."""


_INTERNAL = 3 << 31  # signals 32 and 33: the C library handles them from the first thread on


class ProcessState(NamedTuple):
    """Everything that an attempt could leave behind in the process of its wrapper."""

    directory: str
    umask: int
    signals: "Tuple[int, ...]"
    timers: "tuple[float, float]"
    descriptors: "FrozenSet[str]"
    environment: "Dict[bytes, bytes]"


def serve(context: RelayContext, channel: RelayChannel, inherited: "Optional[Launch]") -> None:
    """Run the attempts that the relay hands over, until it wants no more.

    After anything but a plain success, or if the process has changed, the wrapper ends.
    """
    slot = Slot(context.paths, channel.send_computed)
    try:
        _serve(context, channel, slot, inherited)
    finally:
        slot.close()


def _serve(
    context: RelayContext, channel: RelayChannel, slot: Slot, inherited: "Optional[Launch]"
) -> None:
    before = observe()
    for number in itertools.count(1):
        launch = channel.launch(inherited)
        if launch is None:
            return
        try:
            wrapper = Wrapper(context, launch, channel.send_message, slot)
            name, text = wrapper.run()
        except BaseException:
            _leave_traceback(context.paths.attempt(launch["attempt"]))
            raise
        is_last = not wrapper.is_plain or observe() != before
        is_reported = channel.send_end_message(name, text, is_last)
        wrapper.remove_leftovers()
        if is_last or not is_reported:
            return
        if number % COLLECT_EVERY == 0:
            gc.collect()


def observe() -> ProcessState:
    """Return the state of this process."""
    lines = read(b"/proc/self/status").partition(b"SigBlk")[2].partition(b"CapInh")[0].split()
    return ProcessState(
        os.getcwd(),
        os.umask(0o077),
        tuple(int(mask, 16) & ~_INTERNAL for mask in lines[1::2]),
        signal.getitimer(signal.ITIMER_VIRTUAL),
        frozenset(os.listdir("/proc/self/fd")),
        dict(os.environb),
    )


def _leave_traceback(folder: AttemptFolder) -> None:
    try:
        import traceback  # late: its modules are a thirtieth of the memory of each wrapper

        with open(folder.file(b"crash"), "w") as file:
            traceback.print_exc(file=file)
    except OSError:
        pass
