"""Datasets that are folders on nodes behind an sshd."""

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.taskfile import reader
from tests.support.site import Site
from tests.support.waiting import wait_until
from tests.tasks.making import text
from tests.tasks.test_processes import status
from tests.tasks.test_whole import TASK


def test_a_task_processes_a_folder_of_a_node_and_what_arrives_there(real_site: Site) -> None:
    raw = real_site.folder / "raw"
    real_site.add("farm01", real_site.start_sshd("farm01"))
    task = TASK.format(name="reco", split="{}", files="[]", output="{files.first.stem}.txt",
                       inputs=f"{{raw: {{node: farm01, folder: {raw}, match: '*.raw'}}}}",
                       run="cat {files} > {files.first.stem}.txt",
                       more="  nodes: farm01")  # fmt: skip
    real_site.ok("task", "submit", real_site.write(task, "reco.yaml"))
    real_site.start_daemon()
    said = f"node `farm01` can't list `{raw}`: No such file or directory"
    wait_until(lambda: said in real_site.ok("task", "why", "reco"), what="the folder is missed")

    raw.mkdir()
    for name in ("a.raw", "b.raw", "c.txt"):
        (raw / name).write_text(name)
    real_site.ok("task", "incexec", "reco")
    wait_until(lambda: status(real_site, "reco") == "done", what="the task is done")
    (raw / "d.raw").write_text("new")
    real_site.ok("task", "incexec", "reco")
    wait_until(lambda: (real_site.home.results / "reco" / "d.txt").exists(), what="a new file")

    assert real_site.result("reco/a.txt") == "a.raw"
    assert real_site.result("reco/d.txt") == "new"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("{node: farm01}", "`node` and `folder` belong together"),
        ("{glob: x, folder: /data}", "`node` and `folder` belong together"),
        ("{node: farm1, folder: /data}", "there is no node `farm1` (did you mean `farm01`?)"),
    ],
)
def test_a_wrong_folder_is_a_fault(source: str, fault: str) -> None:
    known = KnownNames(nodes=["farm01"])
    with pytest.raises(BadJobFile) as caught:
        reader.read_text(text(inputs=f"{{raw: {source}}}"), "task.yaml", known=known)

    assert fault in str(caught.value.faults)


def test_files_in_a_folder_of_a_node_are_no_inputs_of_packages() -> None:
    source = "{raw: {node: farm01, folder: /data}}"
    with pytest.raises(BadJobFile) as caught:
        reader.read_text(text(inputs=source, files='["{files}"]'), "task.yaml",
                         known=KnownNames(nodes=["farm01"]))  # fmt: skip

    assert list(caught.value.faults) == [
        "task.yaml:7:12: files in a folder of a node stay there: use `{files}` in `run` only,"
        " with `nodes: farm01`"
    ]
