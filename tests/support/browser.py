"""A headless Chromium, steered by its debugging protocol, and the terminal on its page."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

from tests.support import install
from tests.support.waiting import PATIENCE_S

KEYS = {"\r": ("Enter", 13), "\x1b": ("Escape", 27)}
"""The names and codes of keys that type no letter."""

FIND_TERMINAL = """
Object.defineProperty(Object.prototype, "fitAddon", {configurable: true, set(addon) {
  Object.defineProperty(this, "fitAddon", {value: addon, writable: true});
  window.board = this;
}});
"""
"""Keeps the terminal of textual-serve, which its script keeps to itself."""

ROWS = """
(() => {
  const buffer = window.board?.terminal.buffer.active;
  return buffer ? Array.from({length: window.board.terminal.rows},
    (_, row) => buffer.getLine(row)?.translateToString(true) ?? "") : [];
})()
"""


def program() -> str:
    """Chromium, which CI installs. Raises Missing."""
    if not shutil.which("chromium"):
        install(("chromium",), "chromium is missing: apt-get install chromium")
    return str(shutil.which("chromium"))


REPLACED = "Inspected target navigated or closed"
"""What the browser answers while it loads another page."""


class Page:
    """A page of a browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **words: Any) -> Any:
        """Call a method of the protocol; its result."""
        answer = await self._answer(method, words)
        assert "error" not in answer, answer
        return answer["result"]

    async def _answer(self, method: str, words: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": words})
        while (answer := await self._socket.receive_json()).get("id") != self._number:
            pass
        return dict(answer)

    async def run(self, script: str) -> Any:
        """Return the value of a script; None if another page has taken the place of this one."""
        words = {"expression": script, "returnByValue": True}
        answer = await self._answer("Runtime.evaluate", words)
        if REPLACED in str(answer.get("error")):
            return None
        assert "error" not in answer, answer
        return answer["result"]["result"].get("value")

    async def open(self, link: str) -> None:
        """Go to an address."""
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=FIND_TERMINAL)
        await self.call("Page.navigate", url=link)

    async def type(self, keys: str) -> None:
        """Press keys."""
        for key in keys:
            name, code = KEYS.get(key, (key, 0))
            words = {"key": name, "windowsVirtualKeyCode": code} if code else {"key": name}
            await self.call("Input.dispatchKeyEvent", type="keyDown", text=key, **words)
            await self.call("Input.dispatchKeyEvent", type="keyUp", **words)

    async def rows(self) -> list[str]:
        """The rows of the terminal."""
        return [row.rstrip() for row in await self.run(ROWS) or []]

    async def text(self) -> str:
        """What the terminal shows, or else the page."""
        return "\n".join(await self.rows()) or str(await self.run("document.body?.innerText"))

    async def sees(self, *texts: str) -> None:
        """Return once all of this is there."""
        await self.until(lambda shown: all(text in shown for text in texts), f"{texts}")

    async def until_true(self, script: str) -> None:
        """Return once a script is true."""
        end = asyncio.get_running_loop().time() + PATIENCE_S
        while not await self.run(script):
            assert asyncio.get_running_loop().time() < end, f"never: {script}"
            await asyncio.sleep(0.05)

    async def until(self, condition: Callable[[str], bool], what: str) -> None:
        """Return once it is true of what is shown."""
        end = asyncio.get_running_loop().time() + PATIENCE_S
        while not condition(shown := await self.text()):
            assert asyncio.get_running_loop().time() < end, f"never: {what}\n{shown}"
            await asyncio.sleep(0.05)


@asynccontextmanager
async def browser(folder: Path, size: str = "1200,700") -> AsyncIterator[Page]:
    """Start a browser with a profile of its own, and end it.

    Its socket is in a folder with a short path, which the browser itself would leave in /tmp.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as short:
        async with _browser(folder, size, {"HOME": str(folder), "TMPDIR": short}) as page:
            yield page


@asynccontextmanager
async def _browser(folder: Path, size: str, variables: dict[str, str]) -> AsyncIterator[Page]:
    port = folder / "DevToolsActivePort"
    folder.mkdir(exist_ok=True)
    port.unlink(missing_ok=True)  # that of the browser that had the profile before
    process = subprocess.Popen(
        [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
         f"--user-data-dir={folder}", "--no-first-run", "--disable-dev-shm-usage",
         f"--window-size={size}", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **variables},
    )  # fmt: skip
    try:
        end = asyncio.get_running_loop().time() + PATIENCE_S
        while not (port.exists() and port.read_text().count("\n")):
            assert process.poll() is None and asyncio.get_running_loop().time() < end
            await asyncio.sleep(0.05)
        address = f"http://127.0.0.1:{port.read_text().splitlines()[0]}/json/list"
        async with aiohttp.ClientSession() as session:
            async with session.get(address) as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as ws:
                page = Page(ws)
                await page.call("Page.enable")
                yield page
    finally:
        process.kill()
        process.wait()
