"""The site's webhook: what is posted, and what is said when the server refuses it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.waiting import wait_until

JOB = "job: mc\nstages: [{lines: [{run: 'true'}]}]\n"


class Hook(ThreadingHTTPServer):
    """A server that keeps what is posted to it; `code` is its answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.code = 200
        self.posts: list[tuple[str, dict[str, str], dict[str, object]]] = []
        self.release = threading.Event()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append((self.path, dict(self.headers), json.loads(body)))
        if self.server.code == 0:
            self.server.release.wait()
            return
        self.send_response(self.server.code)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"no such channel\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A server on loopback."""
    with Hook() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


def apply(site: Site, webhook: str, more: str = "") -> None:
    """Let the site have a webhook."""
    text = f"mail: {{webhook: '{webhook}'{more}}}"
    site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")


def test_the_events_of_a_real_job_are_posted_with_their_headline_as_text(
    site: Site, hook: Hook
) -> None:
    apply(site, hook.url)
    site.start_daemon()
    site.submit(JOB)
    wait_until(lambda: bool(hook.posts), what="the end of the job is posted")

    path, headers, event = hook.posts[0]
    assert (path, headers["Content-Type"]) == ("/hook", "application/json")
    assert (event["event"], event["job"], event["status"]) == ("ended", "mc", "successful")
    assert event["text"] == event["headline"]
    assert site.json("notify", "list")["webhook"] == hook.url


def test_a_file_keeps_the_url_and_adds_headers(site: Site, hook: Hook, tmp_path: Path) -> None:
    secret = tmp_path / "webhook"
    secret.touch(0o600)
    secret.write_text(f"{hook.url}\nAuthorization: Bearer 9c1d\n")
    apply(site, str(secret))

    assert "the webhook accepted a test event" in site.ok("notify", "test")
    ((_, headers, event),) = hook.posts
    assert (headers["Authorization"], event["event"]) == ("Bearer 9c1d", "test")
    assert "9c1d" not in site.ok("site", "show") + site.ok("notify", "list")


@pytest.mark.parametrize("code", [302, 404, 500])
def test_an_answer_that_is_not_2xx_is_reported_with_its_first_line(
    site: Site, hook: Hook, code: int
) -> None:
    hook.code = code
    apply(site, hook.url)
    done = site.d0ctl("notify", "test")

    assert done.code == 1, done
    assert f"the webhook failed: the server answered {code}" in done.out
    assert "no such channel" in done.out
    assert len(hook.posts) == 1


def test_a_server_that_hangs_is_given_up_after_the_timeout(site: Site, hook: Hook) -> None:
    hook.code = 0
    apply(site, hook.url, ", command-timeout: 1s")

    assert "the webhook took longer than 1.0 s" in site.d0ctl("notify", "test").out


def test_a_missing_server_is_reported(site: Site, hook: Hook) -> None:
    apply(site, "http://127.0.0.1:9/hook")

    assert "the webhook failed: the server can't be reached: " in site.d0ctl("notify", "test").out


@pytest.mark.parametrize(
    ("text", "mode", "error"),
    [
        ("https://chat.example.org/hooks/1\n", 0o644, "other users may read"),
        ("\n", 0o600, "is empty: its first line is the URL"),
        ("http://chat.example.org/hooks/1\n", 0o600, "would be sent unencrypted: use https"),
        ("hooks/1\n", 0o600, "is not a URL such as"),
        ("https://chat.example.org/hooks/1\nBearer 9c1d\n", 0o600, "is not a header such as"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_fault_that_does_not_quote_it(
    site: Site, tmp_path: Path, text: str, mode: int, error: str
) -> None:
    secret = tmp_path / "webhook"
    secret.write_text(text)
    secret.chmod(mode)
    done = site.d0ctl("site", "check", site.write(f"mail: {{webhook: {secret}}}", "site.yaml"))

    assert (done.code, error in done.err) == (2, True), done
    assert "9c1d" not in done.err


@pytest.mark.parametrize("url", ["ftp://example.org/x", "example.org/x", "https://", "http://a:x/"])
def test_other_texts_are_refused(site: Site, url: str) -> None:
    done = site.d0ctl("site", "check", site.write(f"mail: {{webhook: '{url}'}}", "site.yaml"))

    assert (done.code, "is not a URL such as `https://example.org/hook`" in done.err) == (2, True)


def test_a_webhook_stands_in_place_of_a_command(site: Site) -> None:
    text = "mail: {command: /bin/true, webhook: https://example.org/hook}"
    done = site.d0ctl("site", "check", site.write(text, "site.yaml"))

    assert (done.code, "`webhook` replaces `command`: remove one" in done.err) == (2, True), done
