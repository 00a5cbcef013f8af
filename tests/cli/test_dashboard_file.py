"""The file with keys and settings of the dashboard: printed, read and refused."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.live import live
from tests.support.site import Site
from tests.tui.test_user_settings import OWN


def test_the_file_is_printed_read_again_and_refused_with_its_line(
    site: Site, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "d0ctl/dashboard.yaml"
    file.parent.mkdir()
    file.write_text(OWN)

    printed = d0ctl("tui", "--keys").stdout
    file.write_text(printed)

    assert '  nodes: [f5, "%"]' in printed and "interval: 1.5" in printed
    assert d0ctl("tui", "--keys").stdout == printed
    file.write_text("keys:\n  kill: j\n")
    refused = d0ctl("tui", "--keys")
    assert refused.exit_code == 2
    assert f"{file}:2:3: the key `j` of `kill` is also that of `line-down`" in refused.stderr


def test_a_dashboard_in_a_terminal_takes_the_file(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "d0ctl").mkdir()
    (tmp_path / "d0ctl/dashboard.yaml").write_text("read-only: yes\nkeys: {quit: f10}\n")
    site.submit(production())

    with live("tui", columns=120) as screen:
        screen.expect("read-only")
        screen.expect("f10")
        screen.press("\x1b[21~")

        assert screen.end() == 0


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--interval", "x"), "`--interval`: `x` is not a valid number"),
        (("--interval", "-1"), "`--interval`: -1 is less than 0"),
        (("--interval", "3601"), "`--interval`: 3601 is more than 3600"),
        (("--web", "--port", "65536"), "`--port`: 65536 is more than 65535"),
    ],
)
def test_a_number_that_is_none_or_out_of_range_is_refused(
    d0ctl: Type, words: tuple[str, ...], fault: str
) -> None:
    refused = d0ctl("tui", *words)

    assert refused.exit_code == 2
    assert refused.stderr == f"d0ctl: invalid value for {fault}\nd0ctl tui --help\n"
