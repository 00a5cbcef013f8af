"""A web server of a test: it gives files, takes them, counts what it is asked, and can be stuck."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Web:
    """What lies on the server, by path, and what was asked of it."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    stuck: set[str] = field(default_factory=set)
    """Paths of which half is given, and then nothing."""
    short: set[str] = field(default_factory=set)
    """Paths of which half is given, and then the connection is closed."""
    failing: Counter[str] = field(default_factory=Counter)
    """How often a path is answered by an error before it is given."""
    end: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving() -> Iterator[Web]:
    """A server on a free port of this machine."""
    web = Web()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(web))
    server.daemon_threads = True
    web.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        web.end.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(web: Web) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked[self.path] += 1
            data = web.files.get(self.path)
            if web.failing[self.path] > 0:
                web.failing[self.path] -= 1
                self.send_error(503)
                return
            if data is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            is_whole = self.path not in web.stuck | web.short
            with suppress(ConnectionError):
                self.wfile.write(data if is_whole else data[: len(data) // 2])
            if self.path in web.stuck:
                self.wfile.flush()
                web.end.wait()

        def do_PUT(self) -> None:
            web.asked[self.path] += 1
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if web.failing[self.path] > 0:
                web.failing[self.path] -= 1
                self.send_error(503)
                return
            web.files[self.path] = data
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *words: object) -> None:
            """Print nothing."""

    return Handler
