"""Entry point on a node: a relay (`python3 -I -S PATH.pyz relay`), or a part of a stream."""

import sys
from typing import Callable


def main() -> None:
    """Run the command of the command line, and exit with its code."""
    arguments = sys.argv[1:]
    run: "Callable[[], int]"
    if arguments == ["relay"]:
        from d0ctl_wrapper.relay.main import main as run
    elif arguments == ["send"]:
        from d0ctl_wrapper.host.file_sender import main as run
    elif arguments == ["receive"]:
        from d0ctl_wrapper.host.file_receiver import main as run
    elif arguments == ["streams"]:
        run = take_orders
    elif arguments[:1] == ["store"] and len(arguments) > 3:
        from d0ctl_wrapper.stores import main as run
    elif arguments[:1] == ["arrive"] and len(arguments) == 2:
        import os

        from d0ctl_wrapper.host.direct.node_connection import arrive

        sys.exit(arrive(os.fsencode(arguments[1])))
    else:
        sys.exit("usage: python3 -I -S PATH relay|send|receive|streams|arrive SOCKET|store ...")
    sys.exit(run())


def take_orders() -> int:
    """Carry out orders of streams of files until stdin ends or one breaks; return the exit code."""
    from d0ctl_wrapper.host import file_receiver, file_sender
    from d0ctl_wrapper.protocol import file_stream

    ends = {file_stream.SENDS: file_sender.main, file_stream.RECEIVES: file_receiver.main}
    code = 0
    while not code:
        file_stream.alive()
        word = sys.stdin.buffer.readline(file_stream.LONGEST_LINE)
        if not word:
            break
        code = ends[word]()
    return code


if __name__ == "__main__":
    main()
