"""What `node remove` says of the files on the node."""

import re
import time
from pathlib import Path

from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.rows import change, delete, insert, read, value
from tests.support.site import Site

FOLDER = (
    "logs of attempts would stay there in /tmp/base; "
    "d0ctl reads them again once the node is added again"
)


def has_worked(site: Site, cluster: str | None = None, files: int = 2) -> None:
    """Add a node, let it make files of 10 bytes, and switch it off while a package runs."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2, cluster=cluster)
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/2/1")[:files]:
        site.launch(path, "far")
        site.end(path)
    site.launch("prod/1/3/1", "far")
    row = registry.named(site.store, "far")
    with site.store.writing():
        contact.down(site.store, row.id, "no route to host", now=time.time())


def test_the_files_that_only_a_removed_node_had_are_counted(site: Site, d0ctl: Type) -> None:
    has_worked(site)

    planned = d0ctl("node", "remove", "far", "--lost", "--dry-run")
    done = d0ctl("node", "remove", "far", "--lost", "--yes")

    assert planned.stdout.splitlines() == [
        "would remove `far`: only it has 2 files, 20 B: those would be made again if needed",
        "2 packages would run again for those that are needed now",
        "1 package there would count as lost and run again elsewhere: is it switched off?",
    ]
    assert done.stdout.splitlines() == [
        "removed `far`: 1 package there counted as lost, to run again elsewhere",
        "only it had 2 files, 20 B: those are made again if needed",
        "2 packages will run again for those that are needed now",
    ]
    assert site.phase("prod/1/1/1") == "ready"


def test_one_file_that_only_a_removed_node_had_is_one(site: Site, d0ctl: Type) -> None:
    has_worked(site, files=1)

    planned = d0ctl("node", "remove", "far", "--lost", "--dry-run").stdout
    done = d0ctl("node", "remove", "far", "--lost", "--yes").stdout

    assert "only it has 1 file, 10 B: that one would be made again if needed" in planned
    assert "only it had 1 file, 10 B: that one is made again if needed" in done


def test_packages_that_made_removed_inputs_of_lost_files_are_counted_too(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/1/2", "prod/1/2/1"):
        site.launch(path, "far")
        site.end(path)
    removed = value(site.store, "file", "id", name="gen-1")
    delete(site.store, "location", file_id=removed)
    change(site.store, "file", {"id": removed}, present=0)
    before = site.phases()

    planned = d0ctl("node", "remove", "far", "--dry-run").stdout
    d0ctl("node", "remove", "far", "--yes")

    again = [path for path, phase in site.phases().items() if before[path] == "done" != phase]
    assert again == ["prod/1/1/1", "prod/1/1/2", "prod/1/2/1"]
    assert "only it has 2 files" in planned and "3 packages would run again" in planned


def test_a_node_that_shares_its_cache_has_no_number_of_its_own(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("near", "ssh", "near"), cpus=2, cluster="farm")
    has_worked(site, cluster="farm")

    planned = d0ctl("node", "remove", "far", "--lost", "--dry-run")

    (first, *_) = planned.stdout.splitlines()
    assert first == "would remove `far`: files that only it has would be made again if needed"


def test_a_node_without_files_has_none_to_lose(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)

    planned = d0ctl("node", "remove", "far", "--dry-run")

    assert planned.stdout == "would remove `far`: it has no files without another copy\n"


def test_packages_that_no_other_node_can_take_are_said_to_stand_still(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.submit(production())
    only_far = [line(package(f"{number}", nodes=("far",))) for number in range(3)]
    last = line(package("last", needs=["0", "1", "2"], nodes=("far",)))
    site.submit(job(("a", only_far), ("b", [last]), name="bound"))
    site.submit(job(("a", only_far), name="pin"))
    d0ctl("hold", "pin")
    for number in (1, 2, 3):
        site.launch(f"bound/1/{number}/1", "far")
        site.end(f"bound/1/{number}/1")
    site.launch("bound/2/1/1", "far")
    site.end("bound/2/1/1", "failed", reason="exit-code")

    planned = d0ctl("node", "remove", "far", "--dry-run")
    done = d0ctl("node", "remove", "far", "--yes")

    needed = "again for those that are needed now, but they can't: no other node can take them"
    assert planned.stdout.splitlines()[1:-1] == [
        f"3 packages would have to run {needed}",
        "3 packages of job `pin` would stand still: no other node can take them",
    ]
    assert done.stdout.splitlines()[2:-1] == [
        f"3 packages have to run {needed}",
        "3 packages of job `pin` stand still: no other node can take them",
    ]


def test_packages_that_another_node_can_take_are_not_said_to_stand_still(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    registry.add(site.store, Address("near", "ssh", "near"), cpus=2)
    site.submit(job(("a", [line(package("x", nodes=("far", "near")))])))

    planned = d0ctl("node", "remove", "far", "--dry-run").stdout

    assert planned == "would remove `far`: it has no files without another copy\n"


def test_of_several_nodes_each_is_judged_without_those_before(site: Site, d0ctl: Type) -> None:
    for name in ("far", "near"):
        registry.add(site.store, Address(name, "ssh", name), cpus=2)
    site.submit(job(("a", [line(package("x", nodes=("far", "near")))]), name="bound"))
    site.submit(production())
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1")
    near = registry.named(site.store, "near")
    copied = value(site.store, "file", "id", name="gen-1")
    insert(site.store, "location", file_id=copied, cluster_id=near.cluster_id, node_id=near.id,
           path="gen-1", made=0.0)  # fmt: skip

    planned = d0ctl("node", "remove", "far", "near", "--dry-run").stdout
    done = d0ctl("node", "remove", "far", "near", "--yes").stdout

    assert planned.splitlines() == [
        "would remove `far`: it has no files without another copy",
        FOLDER,
        "would remove `near`: then only it has 1 file, 10 B: "
        "that one would be made again if needed",
        "1 package would run again for those that are needed now",
        "1 package of job `bound` would stand still: no other node can take it",
    ]
    assert done.splitlines()[-3:] == [
        "only it had 1 file, 10 B: that one is made again if needed",
        "1 package will run again for those that are needed now",
        "1 package of job `bound` stands still: no other node can take it",
    ]
    assert site.phase("prod/1/1/1") == "ready"


def test_a_drained_node_that_answers_is_not_drained_again(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("node", "drain", "localhost")

    refused = d0ctl("node", "remove", "localhost", "--lost").stderr

    assert refused == (
        "d0ctl: node `localhost` is not down, so its packages are not lost\n"
        "d0ctl status '*' --node localhost   # it is drained: they continue to their end\n"
    )


def test_retained_files_that_nothing_makes_again_are_named_and_then_lost(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    registry.add(site.store, Address("near", "ssh", "near"), cpus=2)
    made = "    - {run: make, outputs: {file: FILE, disposition: retain-indef}}\n"
    lines = [made.replace("FILE", f"k{number}") for number in range(3)]
    file = tmp_path / "keep.yaml"
    file.write_text("job: keep\nstages:\n  - lines:\n" + "".join(lines))
    assert d0ctl("submit", str(file)).exit_code == 0
    for number in (1, 2, 3):
        site.launch(f"keep/1/{number}/1", "far")
        site.end(f"keep/1/{number}/1")

    drained = d0ctl("node", "drain", "far").stdout.splitlines()
    why = d0ctl("why", "far").stdout
    planned = d0ctl("node", "remove", "far", "--dry-run").stdout.splitlines()
    done = d0ctl("node", "remove", "far", "--yes").stdout.splitlines()
    (listed, *_) = d0ctl("file", "list", "keep:*").stdout.splitlines()

    files = ("3 files with `retain-indef` that no package needs: "
             "`keep:k0`, `keep:k1` and 1 more")  # fmt: skip
    saving = f"{files}; to save: `result: yes` in the job file, then d0ctl update keep"
    assert drained[1:] == [f"only it has {saving}"]
    assert f"only it has {files}" in why
    assert planned[1:] == [f"would lose {saving}", FOLDER]
    assert done[2:-1] == [f"lost {files}"]
    assert done[-1].startswith("its folder /tmp/base stays there until you delete it; ")
    assert listed.split()[-1] == "lost"
    assert " lost " in d0ctl("status", "keep/1/1/1").stdout


def test_packages_that_have_ended_name_their_node_once_it_was_removed(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.submit(job(("sim", [line(package(f"s{n}")) for n in (1, 2)])))
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1")
    site.launch("prod/1/2/1", "far")
    site.end("prod/1/2/1", "failed", reason="exit-code", exit_code=3, binary=1)
    d0ctl("node", "remove", "far", "--yes")

    assert "successful on far" in d0ctl("status", "prod/1/1/1").stdout
    assert re.search("prod/1/1/1 .* far ", d0ctl("status", "prod/1/1").stdout)
    assert "failed on far" in d0ctl("status", "prod/1/2/1").stdout
    assert d0ctl("why", "prod/1/2/1").exit_code == 0
    assert read(site.store, "v_package", "node", by="path") == [("far",), ("far",)]
