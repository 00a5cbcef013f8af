"""The list of plug-ins, and what looking for them costs."""

import json
import subprocess
import sys

from tests.plugins.conftest import EXAMPLE, Add
from tests.support.site import Site


def test_the_list_has_every_entry_point_of_the_example(site: Site) -> None:
    lines = (EXAMPLE / "pyproject.toml").read_text().splitlines()
    objects = {line.partition(' = "')[2].rstrip('"') for line in lines if "d0ctl_example." in line}

    found = site.json("plugins")["plugins"]

    assert {one["object"] for one in found} == objects
    assert {(one["package"], one["version"], one["problem"]) for one in found} == {
        ("d0ctl-example", "1.2", None)
    }
    assert "d0ctl-example 1.2" in site.ok("plugins")


def test_a_plugin_that_can_not_be_used_is_named_and_the_exit_code_is_1(
    site: Site, add: Add
) -> None:
    add("splitter", "bad", "import nothing_of_this_name")

    done = site.d0ctl("plugins", "--json")

    assert done.code == 1
    problems = [one["problem"] for one in json.loads(done.out)["plugins"] if one["name"] == "bad"]
    assert problems[0].startswith("plug-in `bad` of package `broken` (d0ctl.splitters: bad = ")
    assert done.err == f"d0ctl: {problems[0]}\n"


def test_a_user_without_plugins_sees_where_they_are_described(bare_site: Site) -> None:
    assert "no plug-ins are installed" in bare_site.ok("plugins")


def test_a_command_without_plugins_does_not_look_for_them(site: Site) -> None:
    code = (
        "import sys; from d0ctl.cli.app import app; app(['status'], standalone_mode=False);"
        "print([name for name in sys.modules if 'metadata' in name or 'd0ctl_example' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=site.environment, capture_output=True, text=True
    )

    assert done.stdout.splitlines()[-1] == "[]", done
