"""The search of the documentation works in a browser without a server."""

import asyncio
from pathlib import Path

import pytest

from tests.support import Missing
from tests.support.browser import browser, program

SHIM = Path(__file__).parents[2] / "docs" / "iframe-worker.js"

PAGE = """
<body><script src="shim.js"></script><script>
const worker = new Worker("worker.js");
worker.addEventListener("message", (event) => document.body.append(event.data));
worker.postMessage("pilot");
</script></body>
"""

WORKER = """
addEventListener("message", async (event) => {
  await importScripts("words.js");
  postMessage(`found ${words[event.data]}`);
});
"""


def test_a_script_for_a_worker_answers_in_a_page_that_was_opened_as_a_file(tmp_path: Path) -> None:
    try:
        program()
    except Missing as error:
        pytest.skip(str(error))
    page_file = tmp_path / "page.html"
    page_file.write_text(PAGE)
    (tmp_path / "shim.js").write_text(SHIM.read_text())
    (tmp_path / "worker.js").write_text(WORKER)
    (tmp_path / "words.js").write_text("var words = {pilot: 'a job'};")

    async def look() -> None:
        async with browser(tmp_path / "profile") as page:
            await page.open(page_file.as_uri())
            await page.sees("found a job")

    asyncio.run(look())
