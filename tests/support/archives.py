"""Real archives of software, and a real server that has them."""

import http.server
import io
import tarfile
import threading
from pathlib import Path
from typing import Any

PROGRAM = "#!/bin/sh\necho reco of $D0CTL_SOFTWARE\ncat $D0CTL_SOFTWARE/etc/cards\n"


def member(name: str, text: str = "", **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    """One file of an archive, or what `more` makes of it."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), 0o644
    for key, value in more.items():
        setattr(info, key, value)
    return info, text.encode()


RECO = [
    member("./bin", type=tarfile.DIRTYPE, mode=0o755),
    member("./bin/reco", PROGRAM, mode=0o755),
    member("etc/cards", "energy 1960\n"),
    member("bin/reco-v12", type=tarfile.SYMTYPE, linkname="reco"),
    member("etc/again", type=tarfile.LNKTYPE, linkname="etc/cards"),
]


def packed(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz") -> Path:
    """A real tar file."""
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return path


class Server:
    """A real http server, which counts what it is asked."""

    def __init__(self, folder: Path) -> None:
        server = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *words: Any) -> None:
                super().__init__(*words, directory=str(folder))

            def do_GET(self) -> None:
                server.asked.append(self.path)
                if "broken" in self.path:
                    self.send_error(503)
                elif "short" in self.path:
                    self.send_response(200)
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b"only this")
                else:
                    super().do_GET()

            def log_message(self, *words: Any) -> None:
                pass

        self.asked: list[str] = []
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
