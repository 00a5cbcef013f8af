"""What `why` and `node check` say of files that go directly between nodes."""

from d0ctl.model import Address
from d0ctl.show.why.node import node as why_node
from d0ctl.store import Store
from d0ctl.store.files import direct_logins
from d0ctl.store.nodes import registry
from tests.support.jobs import NOW


def test_a_node_says_with_which_others_it_exchanges_files_directly(store: Store) -> None:
    with store.writing():
        ids = {
            name: registry.add(store, Address(name, "ssh", name), cpus=1)
            for name in ("a", "b", "c", "d")
        }
        for caller, callee, fault in (
            ("a", "b", ""),
            ("a", "c", "timed out"),
            ("c", "a", "refused"),
            ("d", "a", ""),
            ("a", "d", "refused"),
            ("b", "c", "not of a"),
        ):
            direct_logins.note(store, ids[caller], ids[callee], fault, now=NOW)

    facts = why_node(store, "a", NOW).facts

    assert facts[-2:] == [
        "large files go directly between `a` and `b`, `d`",
        "large files between `a` and `c` go through the control host: "
        "`a` can't log in at `c`: timed out; `c` can't log in at `a`: refused",
    ]
