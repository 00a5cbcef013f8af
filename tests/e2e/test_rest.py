"""The REST interface, served by `d0ctl serve` and used by real clients."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from d0ctl.actions import ACTIONS
from tests.support.examples import first
from tests.support.site import Site
from tests.support.waiting import wait_until

JOB = """\
job: hello
stages: [{lines: [{for: {n: {range: [1, 3]}}, run: 'echo {n} > {n}.txt', outputs: ['{n}.txt']}]}]
"""

TASK = "{task: gen, inputs: {seeds: {seeds: 4}}, process: {run: 'echo {files}'}}"

NO_FREE_PORT = 0


class Server:
    """`d0ctl serve` of a site, with a client for each role."""

    def __init__(self, site: Site) -> None:
        self._log = site.folder / "serve.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "d0ctl", "serve", "--port", str(NO_FREE_PORT)],
                env=site.environment, cwd=site.folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        wait_until(lambda: "serving " in self.log or self.process.poll() is not None)
        self.url = self.log.split()[1]

    @property
    def log(self) -> str:
        """What it has printed."""
        return self._log.read_text()

    def client(self, secret: str) -> httpx.Client:
        """A client with a token."""
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture
def server(site: Site) -> Iterator[Server]:
    """A server of a site with no jobs."""
    site.ok("node", "list")
    site.ok("submit", "--as", "first", "--hold", "--", "true")
    server = Server(site)
    yield server
    server.stop()


def secret(site: Site, role: str) -> str:
    """The secret of a new token."""
    return site.ok("token", "add", f"a-{role}", role).strip()


@pytest.fixture
def operator(site: Site, server: Server) -> Iterator[httpx.Client]:
    """A client that may act on jobs."""
    with server.client(secret(site, "operator")) as client:
        yield client


def read(answer: httpx.Response, status: int = 200) -> Any:
    """The body of an answer that has this status."""
    assert answer.status_code == status, answer.text
    return answer.json()


def test_the_interface_answers_what_the_command_prints(site: Site, server: Server) -> None:
    commands = {
        "jobs": ["status"],
        "jobs/first": ["status", "first"],
        "package?selector=first/1/1/1": ["status", "first/1/1/1"],
        "packages?selector=first/1/*": ["status", "first/1/*"],
        "why?selector=first": ["why", "first"],
        "history?selector=first": ["history", "first"],
        "nodes": ["node", "list"],
    }
    with server.client(secret(site, "reader")) as client:
        answers = {path: read(client.get(path)) for path in commands}
        metrics = client.get("metrics")
    assert answers == {path: site.json(*command) for path, command in commands.items()}
    assert metrics.text.strip() == site.ok("report", "metrics").strip()
    assert metrics.headers["content-type"].startswith("text/plain")


def test_tasks_are_answered_as_the_command_prints_them(site: Site, server: Server) -> None:
    site.ok("task", "submit", site.write(TASK, "task.yaml"))
    with server.client(secret(site, "reader")) as client:
        assert read(client.get("tasks")) == site.json("task", "list")
        for path, command in (("", "status"), ("/why", "why"), ("/history", "history")):
            assert read(client.get(f"tasks/gen{path}")) == site.json("task", command, "gen")
        assert "there is no task `no`" in read(client.get("tasks/no"), 404)["error"]
        read(client.post("tasks", json={"text": TASK}), 403)


def test_a_request_without_a_known_token_is_refused_and_a_removed_one_at_once(
    site: Site, server: Server
) -> None:
    with server.client("nobody") as client:
        error = read(refused := client.get("jobs"), 401)["error"]
        assert (refused.headers["www-authenticate"], "is unknown" in error) == ("Bearer", True)
    assert "give a token" in read(httpx.get(f"{server.url}/jobs", timeout=60), 401)["error"]
    with server.client(secret(site, "reader")) as client:
        assert read(client.get("jobs"))["jobs"][0]["job"] == "first"
        site.ok("token", "remove", "a-reader")
        assert "unknown or was removed" in read(client.get("jobs"), 401)["error"]
    assert read(httpx.get(f"{server.url}/version", timeout=60))["version"]


def test_a_secret_is_kept_as_a_digest_only(site: Site, server: Server) -> None:
    text = secret(site, "reader").encode()
    files = [path.read_bytes() for path in site.home.root.rglob("*") if path.is_file()]
    assert not any(text in data for data in files)
    assert site.json("token", "list")["tokens"][0]["role"] == "reader"


def test_a_role_may_do_its_own_and_no_more(site: Site, server: Server) -> None:
    release = ("actions/release", {"target": "first"})
    drain = ("actions/node/drain", {"target": "localhost"})
    with server.client(secret(site, "reader")) as client:
        assert "has role reader" in read(client.post(release[0], json=release[1]), 403)["error"]
        read(client.post("jobs", json={"text": JOB}), 403)
    with server.client(secret(site, "operator")) as client:
        read(client.post(release[0], json=release[1]))
        assert "this needs admin" in read(client.post(drain[0], json=drain[1]), 403)["error"]
    with server.client(secret(site, "admin")) as client:
        assert read(client.post(drain[0], json=drain[1]))["lines"] == ["drained `localhost`"]


def test_an_action_is_planned_then_done_by_the_name_of_the_token(
    site: Site, operator: httpx.Client
) -> None:
    plan = read(operator.post("actions/kill", json={"target": "first", "dry_run": True}))
    assert plan["packages"] == 1
    assert site.json("status", "first")["phases"] == {"ready": 1}

    done = read(operator.post("actions/kill", json={
        "target": ["first"], "seen": plan["seen"], "reason": "not needed",
    }))  # fmt: skip
    assert done["undo"] == "d0ctl retry first:canceled"
    assert site.json("status", "first")["phases"] == {"canceled": 1}
    [action, *_] = site.json("history", "first")["actions"]
    assert (action["actor"], action["reason"]) == ("token a-operator", "not needed")


def test_an_operator_submits_a_task_and_pauses_it(site: Site, operator: httpx.Client) -> None:
    wanted = {"text": TASK, "name": "mine", "reason": "a trial"}
    assert read(operator.post("tasks", json={**wanted, "dry_run": True}))["dry_run"] is True
    assert read(operator.post("tasks", json=wanted)) == {"task": "mine", "datasets": 2}
    read(operator.post("tasks", json=wanted), 409)
    fault = read(operator.post("tasks", json={"text": "task: [1]"}), 400)["error"]
    assert "task:1:7: `task` takes a text" in fault

    done = read(operator.post("actions/task/pause", json={"target": "mine"}))
    assert done["undo"] == "d0ctl task resume mine"
    [first, last] = read(operator.get("tasks/mine/history"))["changes"]
    assert (first["note"], last["new"], last["actor"]) == ("a trial", "paused", "token a-operator")


def test_an_action_is_refused_if_others_acted_since_its_plan(
    site: Site, operator: httpx.Client
) -> None:
    plan = read(operator.post("actions/release", json={"target": "first", "dry_run": True}))
    site.ok("kill", "first", "--yes")
    refused = operator.post("actions/kill", json={"target": "first", "seen": plan["seen"]})
    assert "first" in read(refused, 409)["error"]


def test_a_wrong_request_is_answered_with_what_is_wrong(operator: httpx.Client) -> None:
    wrong = read(operator.post("actions/kill", json={"targets": "first"}), 400)
    assert "unknown field `targets`" in wrong["details"][0]
    assert wrong["hint"].startswith("the fields are `") and "`dry_run`" in wrong["hint"]
    assert read(operator.get("nosuch"), 404)["hint"] == "GET /v1/openapi.json lists all paths"
    meant = read(operator.post("actions/retyr", json={}), 404)["hint"]
    assert meant == "did you mean `/v1/actions/retry`?"
    assert "does not take POST" in read(operator.post("version", json={}), 405)["error"]
    broken = read(operator.post("actions/kill", content=b"{nope}"), 400)["error"]
    assert broken.startswith("JSON is malformed")
    assert read(operator.get("jobs/none"), 404)["hint"] == "d0ctl status"
    read(operator.post("actions/kill", json={"target": []}), 400)
    read(operator.post("actions/kill", content=b"{"), 400)
    faults = read(operator.post("jobs", json={"text": "job: x\nstagse: []"}), 400)["error"]
    assert "job:2:1: a job has no key `stagse`" in faults


def test_a_submitted_job_is_followed_to_its_end_by_the_stream(
    site: Site, operator: httpx.Client
) -> None:
    checked = read(operator.post("jobs", json={"text": JOB, "dry_run": True}))
    assert checked["lines"] == ["would submit `hello`: 1 stage, 3 lines, 3 packages"]
    with operator.stream("GET", "events", params={"job": "first", "after": 0}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert next(stream.iter_lines()).startswith(":")

    submitted = read(operator.post("jobs", json={"text": JOB, "name": "hello2"}))
    assert (submitted["job"], submitted["packages"]) == ("hello2", 3)
    with operator.stream("GET", "events", params={"job": "hello2"}) as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith(":")
        site.ok("run", "hello2")
        done: list[str] = []
        number = 0
        for line in lines:
            if line.startswith("id: "):
                number = int(line[4:])
            if line.startswith("data: ") and (event := json.loads(line[6:]))["new"] == "done":
                done.append(event["path"])
                if len(done) == 3:
                    break
    assert sorted(done) == [f"hello2/1/{n}/1" for n in (1, 2, 3)]

    headers = {"Last-Event-ID": str(number - 1)}
    with operator.stream("GET", "events", headers=headers) as stream:
        again = (line for line in stream.iter_lines() if line.startswith("data: "))
        assert json.loads(next(again)[6:])["id"] == number


def test_every_action_of_the_command_line_is_in_the_openapi_document(server: Server) -> None:
    document = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    paths = set(document["paths"])
    names = {name for name in ACTIONS if ACTIONS[name].level != "job file"}
    assert {f"/v1/actions/{name.replace(' ', '/')}" for name in names} == {
        path for path in paths if "/actions/" in path
    }


@pytest.mark.parametrize("number", first(1, [1, 5]))
def test_requests_made_from_the_openapi_document_find_no_fault(
    site: Site, server: Server, number: int
) -> None:
    """Schemathesis makes them, and checks each answer against the document."""
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"), "run", f"{server.url}/openapi.json",
            "-H", f"Authorization: Bearer {secret(site, 'admin')}", "--no-color",
            "--phases", "fuzzing", "--max-examples", str(number), "--exclude-path", "/v1/events",
            "--exclude-path", "/v1/actions/node/benchmark",
            "--exclude-checks", "positive_data_acceptance",  # names of jobs are not in the schema
            "--generation-deterministic", "--request-timeout", "60",
        ],
        env=site.environment, cwd=site.folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]


CLIENT = """\
import functools, httpx, sys
httpx.Client = functools.partial(httpx.Client, timeout=60)  # 5 s are few on a busy machine
sys.path.insert(0, "made")
from client.api_config import APIConfig
from client.models import Kill, Submission
from client.services import default_service as d0ctl

config = APIConfig(base_path=sys.argv[1], access_token=sys.argv[2])
answer = d0ctl.submit(config, data=Submission(text=sys.argv[3]))
print(answer.job, answer.packages)
print(d0ctl.one_job(config, job="hello").phases)
print(d0ctl.kill(config, data=Kill(target="hello", dry_run=True)).packages)
"""


@pytest.mark.long
def test_a_generated_client_submits_and_reads_a_job(site: Site, server: Server) -> None:
    made = site.folder / "made"
    made.mkdir()
    api = site.folder / "openapi.json"
    api.write_text(httpx.get(f"{server.url}/openapi.json", timeout=60).text)
    generator = Path(sys.executable).with_name("openapi-python-generator")
    subprocess.run([generator, api, made / "client"], check=True, capture_output=True)
    base = server.url.removesuffix("/v1")
    words = [sys.executable, "-W", "error::SyntaxWarning", "-c", CLIENT, base]
    done = subprocess.run(
        [*words, secret(site, "operator"), JOB], cwd=site.folder, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["hello 3", "{'ready': 3}", "3"], done.stderr


def test_only_this_machine_is_served_without_tls(site: Site) -> None:
    site.ok("submit", "--as", "first", "--hold", "--", "true")
    refused = site.d0ctl("serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "tokens would be sent in clear" in refused.err
