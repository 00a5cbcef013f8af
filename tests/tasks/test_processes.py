"""The agents as processes: as many as the site says, killed at any moment, none left behind."""

import signal

from tests.support.site import Site
from tests.support.waiting import Pid, wait_until

TASK = """
task: {name}
inputs: {{seeds: {{range: [1, {files}]}}}}
split: {{files-per-package: {per}, attempts: 9}}
process:
  run: echo {{files}} > out-{{package.index}}.txt
  outputs: ["out-{{package.index}}.txt"]
"""


def agents(site: Site) -> list[Pid]:
    """The processes that work on tasks."""
    return [pid for pid in site.processes() if "d0ctl.agents" in str(pid.command_line())]


def submit(site: Site, name: str, files: int, per: int = 1) -> None:
    """Submit a task as a user does."""
    site.ok("task", "submit", site.write(TASK.format(name=name, files=files, per=per), "t.yaml"))


def status(site: Site, name: str) -> str:
    """The status of a task."""
    return str(site.json("task", "status", name)["status"])


def test_a_task_is_done_by_as_many_processes_as_the_site_says(real_site: Site) -> None:
    real_site.ok("site", "apply", real_site.write("defaults: {task-agents: 2}", "site.yaml"),
                 "--yes")  # fmt: skip
    real_site.start_daemon()
    submit(real_site, "demo", 40, 2)

    wait_until(lambda: len(agents(real_site)) == 2, what="two processes work on tasks")
    wait_until(lambda: status(real_site, "demo") == "done", 240, "the task is done")
    real_site.ok("daemon", "stop")
    wait_until(lambda: not agents(real_site), what="no process works on tasks")


def test_a_killed_agent_loses_and_doubles_nothing(real_site: Site) -> None:
    real_site.start_daemon()
    submit(real_site, "demo", 150, 3)
    seen: set[str] = set()

    def kill_at_each_step() -> bool:
        files = real_site.json("task", "status", "demo")
        step = f"{files['status']} {files['packages'] // 20} {len(files['files'])}"
        if step not in seen and len(seen) < 3:
            for pid in agents(real_site):
                seen.add(step)
                pid.kill(signal.SIGKILL)
        return bool(files["status"] == "done")

    wait_until(kill_at_each_step, 240, "the task is done")

    card = real_site.json("task", "status", "demo")
    made = [path.read_text().split() for path in (real_site.home.results / "demo").iterdir()]
    assert seen
    assert [dataset["files"] for dataset in card["datasets"]] == [
        {"finished": 150},
        {"finished": 50},
    ]
    assert sorted(int(word) for words in made for word in words) == list(range(1, 151))


def test_agents_end_with_a_daemon_that_is_killed(real_site: Site) -> None:
    real_site.start_daemon()
    submit(real_site, "demo", 5)
    wait_until(lambda: bool(agents(real_site)), what="a process works on tasks")

    real_site.kill_daemon()

    wait_until(lambda: not agents(real_site), what="no process works on tasks")
