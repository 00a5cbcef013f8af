"""Scripts that do not say by a `#!` line what reads them."""

from pathlib import Path

import pytest

from tests.support.site import Site

MESSAGE = "`./a.py` has no `#!` line: begin {} with `#!/usr/bin/env python3`"


@pytest.fixture
def script(real_site: Site) -> Path:
    """A program for Python that lacks its first line."""
    path = real_site.folder / "a.py"
    path.write_text("import sys\nprint(sys.argv)\n")
    path.chmod(0o755)
    return path


def run(real_site: Site, command: str, *more: str) -> str:
    """Run a job of one package."""
    path = real_site.folder / "one.yaml"
    path.write_text(f"job: one\nstages: [{{lines: [{{run: {command}, inputs: a.py}}]}}]\n")
    real_site.d0ctl("run", path, *more)
    return real_site.ok("why", "one")


@pytest.mark.parametrize("command", ["[./a.py, '1']", "./a.py 1"])
def test_why_names_the_script_and_its_first_line(
    real_site: Site, script: Path, command: str
) -> None:
    said = run(real_site, command)
    script.write_text(f"#!/usr/bin/env python3\n{script.read_text()}")
    corrected = real_site.ok("why", "one")
    real_site.ok("retry", "one:failed")
    real_site.ok("run", "one")

    assert MESSAGE.format(script) in said
    assert "was not found" not in said and "$ d0ctl retry one/1/1/1" not in said
    assert "`#!`" not in corrected and "$ d0ctl retry one/1/1/1" in corrected


def test_validate_warns_of_such_a_script_unless_a_shell_can_read_it(
    real_site: Site, script: Path
) -> None:
    path = real_site.folder / "job.yaml"
    (real_site.folder / "a.sh").write_text("echo\n")
    (real_site.folder / "a.sh").chmod(0o755)

    def said(entry: str) -> str:
        path.write_text(f"stages: [{{lines: [{entry}]}}]\n")
        return str(real_site.d0ctl("validate", path).err)

    warning = "has no `#!` line: begin it with `#!/usr/bin/env"
    calls = "or call it as `python3 a.py`"
    for command in ("./a.py > /dev/null", "[./a.py, x]"):
        found = said(f"{{run: {command}, inputs: a.py}}")
        assert f"`./a.py` {warning} python3` {calls}" in found
    assert f"{warning} sh`" in said("{run: [./a.sh], inputs: a.sh}")
    assert said("{run: ./a.sh, inputs: a.sh}") == ""
    script.write_bytes(b"\x7fELF\0")
    assert said("{run: [./a.py], inputs: a.py}") == ""
