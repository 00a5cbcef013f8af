"""Pilots: what keeps one that has nothing to do."""

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.model import Address
from d0ctl.store import Store
from d0ctl.store.clusters import pilots
from d0ctl.store.nodes import registry
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.rows import change, delete, insert, value


def test_a_pilot_stays_while_the_only_copy_of_a_file_is_read_or_copied(store: Store) -> None:
    submitted(store, job("job", [simple(outputs=[OutputSpec("a")])], [simple(inputs=["a"])]))
    file = value(store, "file", "id", name="a")
    pilot = registry.add(store, Address("batch-1", "ssh", "login"), cpus=2)
    home = value(store, "cluster", "id", name="batch-1")

    assert not pilots.keeps_needed_file(store, pilot)
    insert(store, "location", file_id=file, cluster_id=home, path="/a", made=NOW)
    assert pilots.keeps_needed_file(store, pilot)

    change(store, "package", phase="canceled")
    assert not pilots.keeps_needed_file(store, pilot)
    insert(store, "transfer", file_id=file, cluster_id=1, result=1, wanted=NOW)
    assert pilots.keeps_needed_file(store, pilot)

    insert(store, "location", file_id=file, cluster_id=1, path="/b", made=NOW)
    assert not pilots.keeps_needed_file(store, pilot)
    delete(store, "location")
    assert not pilots.keeps_needed_file(store, pilot)
