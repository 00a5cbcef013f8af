"""The command line as a whole: help, usage, imports, completion, errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from d0ctl import __version__
from d0ctl.actions import ACTIONS
from d0ctl.cli.app import COMMANDS, GROUPS, app
from d0ctl.cli.epilogs import EPILOGS
from d0ctl.config import Home
from d0ctl.show.not_here import ELSEWHERE
from tests.cli.conftest import Type
from tests.support import help_page
from tests.support.building import production
from tests.support.site import Site

PROGRAM = Path(sys.executable).with_name("d0ctl")
ROOT = Path(__file__).parents[2]

SUBCOMMANDS = [
    *((command,) for command in COMMANDS),
    *(("node", verb) for verb in ("list", "add", "check", "drain", "resume", "remove")),
    *(("site", verb) for verb in ("check", "apply", "show")),
    *(("file", verb) for verb in ("list", "set-disposition", "purge")),
    *(("software", verb) for verb in ("list", "add", "remove", "push", "purge", "verify")),
    *(("notify", verb) for verb in ("list", "show", "test")),
    *(("daemon", verb) for verb in ("run", "start", "stop", "status")),
]


@pytest.mark.parametrize("words", SUBCOMMANDS, ids=" ".join)
def test_every_command_has_help(d0ctl: Type, words: tuple[str, ...]) -> None:
    result = d0ctl(*words, "--help")

    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: d0ctl " + " ".join(words))
    assert len(result.stdout.splitlines()[2].strip()) > 10


def test_the_list_of_commands_fits_on_80_columns_and_cuts_no_sentence_off() -> None:
    environment = os.environ | {"COLUMNS": "80"}
    answer = subprocess.run(
        [PROGRAM, "--help"], capture_output=True, text=True, env=environment, check=True
    ).stdout
    lines = answer.partition("Run jobs:\n")[2].partition("\n  Example:")[0].splitlines()
    listed = [line.split(maxsplit=1) for line in lines if line.startswith("  ")]

    assert [name for name, _ in listed] == list(COMMANDS)
    assert [line for line in listed if not line[1].endswith(".") or line[1].endswith("..")] == []
    assert max(map(len, lines)) < 80


@pytest.mark.parametrize("group", sorted({words[0] for words in SUBCOMMANDS if len(words) > 1}
                                         | {"policy", "report", "template"}))  # fmt: skip
def test_the_commands_of_a_group_fit_on_80_columns(d0ctl: Type, group: str) -> None:
    page = d0ctl(group, "--help").stdout
    commands, _, end = page.partition("Commands:\n")[2].rpartition("\n\n")
    listed = commands.splitlines()

    assert listed
    assert " ".join(end.split()).endswith("has its options, an example and its exit status.")
    assert [line for line in listed if not line.endswith(".") or line.endswith("..")] == []


def test_the_commands_of_actions_are_those_of_the_table() -> None:
    on_jobs = {name for name, action in ACTIONS.items() if action.level in ("any", "line", "job")}

    assert {*GROUPS["Act on jobs"], "clone"} == on_jobs


def test_without_a_command_help_is_shown(d0ctl: Type) -> None:
    result = d0ctl()

    assert result.exit_code == 2
    assert "Act on jobs:" in result.output


@pytest.mark.parametrize(
    "words",
    [["stats"], ["status", "--nope"], ["status", "a", "b"], ["kill"], ["status", "1/2"],
     ["status", "x:faild"], ["wait"], ["logs", "1/2"], ["logs", "a/1/1/1", "--attempt", "0"],
     ["logs", "a/1/1/1", "--attempt", "x"], ["node", "nope"], ["why"],
     ["run", "f.yaml", "--set", "x"]],
    ids=" ".join,
)  # fmt: skip
def test_wrong_usage_exits_2(d0ctl: Type, words: list[str]) -> None:
    result = d0ctl(*words)

    first, *more = result.stderr.splitlines()
    assert result.exit_code == 2
    assert first.startswith("d0ctl: ") and not first.endswith(".")
    assert len(more) <= 1


def test_a_misspelt_command_is_guessed(d0ctl: Type) -> None:
    for word in ("statu", "statsu"):
        error = f"d0ctl: no such command `{word}`\n"
        assert d0ctl(word).stderr == f"{error}did you mean `d0ctl status`?\n"
    meant = "did you mean `d0ctl node drain`?"
    assert d0ctl("node", "drian").stderr == f"d0ctl: no such command `drian`\n{meant}\n"
    assert d0ctl("xyzzy").stderr == "d0ctl: no such command `xyzzy`\nd0ctl --help\n"


@pytest.mark.parametrize(
    ("word", "ours"),
    [*ELSEWHERE.items(), ("apply", "site apply"), ("drain", "node drain"), ("free", "node free")],
)  # fmt: skip
def test_a_word_of_other_programs_or_of_a_group_names_the_command_that_does_it_here(
    d0ctl: Type, word: str, ours: str
) -> None:
    answer = d0ctl(word, "mc")

    first, hint = answer.stderr.splitlines()
    assert (answer.exit_code, first) == (2, f"d0ctl: no such command `{word}`")
    assert hint.partition("   #")[0] == f"d0ctl {ours}" + ("" if " " in ours else " mc")
    assert d0ctl(word, "-u", "mc").stderr.splitlines()[1].partition("   #")[0] == f"d0ctl {ours}"
    assert d0ctl(*ours.split(), "--help").exit_code == 0


def test_version_option_and_command_print_the_version(d0ctl: Type) -> None:
    assert d0ctl("--version").stdout == f"d0ctl {__version__}\n"
    assert d0ctl("-V").stdout == f"d0ctl {__version__}\n"
    answer = subprocess.run([PROGRAM, "-V"], capture_output=True, text=True, check=True)
    assert answer.stdout == f"d0ctl {__version__}\n"


def test_home_may_be_given_before_or_after_the_command(
    site: Site, d0ctl: Type, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    monkeypatch.setenv("D0CTL_HOME", "/nonexistent")

    for words in (["--home", str(home.root), "status"], ["status", "--home", str(home.root)]):
        assert "prod" in d0ctl(*words).stdout


def test_reading_commands_import_no_slow_modules(site: Site) -> None:
    site.submit(production())
    script = (
        "import sys\nfrom d0ctl.cli import run\n"
        "for words in (['status'], ['status', 'prod', '--json'], ['why', 'prod/1/1/1'],\n"
        "              ['history', 'prod'], ['node', 'list'], ['kill', 'prod/1/1/1']):\n"
        "    sys.argv = ['d0ctl', *words]\n"
        "    try:\n        run()\n    except SystemExit as end:\n        assert not end.code\n"
        "slow = {'textual', 'fabric', 'paramiko', 'watchdog', 'pydantic', 'sqlite_utils', 'yaml',\n"
        "        'rich', 'asyncio', 'multiprocessing'}\n"
        "sys.exit(' '.join(slow & set(sys.modules)) or None)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert done.stderr == "to undo: d0ctl retry prod/1/1/1\n"


def test_the_options_page_matches_the_help_texts() -> None:
    assert help_page.PAGE.read_text() == help_page.page(), "type `make options`"


@pytest.mark.parametrize(
    ("shell", "file"), [("bash", "d0ctl.bash"), ("zsh", "_d0ctl"), ("fish", "d0ctl.fish")]
)
def test_the_completion_files_match_the_program(shell: str, file: str) -> None:
    environment = os.environ | {"_D0CTL_COMPLETE": f"source_{shell}"}
    answer = subprocess.run([PROGRAM], capture_output=True, text=True, env=environment, check=True)

    shipped = (ROOT / "completions" / file).read_text()
    assert shipped.strip("\n") == answer.stdout.strip("\n"), "type `make completions`"


def test_zsh_finds_its_completions_by_their_first_line() -> None:
    first = (ROOT / "completions" / "_d0ctl").read_text().splitlines()[0]

    assert first == "#compdef d0ctl"


def complete(*words: str) -> list[str]:
    """What bash offers for the last of these words."""
    environment = os.environ | {
        "_D0CTL_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("d0ctl", *words)),
        "COMP_CWORD": str(len(words)),
    }
    answer = subprocess.run([PROGRAM], capture_output=True, text=True, env=environment)
    assert answer.stderr == ""
    return answer.stdout.split()


def test_tab_offers_jobs_stages_nodes_and_states(site: Site) -> None:
    site.submit(production("prod"))
    site.submit(production("other"))

    assert complete("status", "pr") == ["prod", "prod/"]  # so the shell adds no space
    assert complete("why", "prod/") == ["prod/1", "prod/2", "prod/3"]
    assert complete("node", "drain", "loc") == ["localhost"]
    assert complete("status", "--status", "fail") == ["failed"]
    assert complete("kill", "x/") == []


def test_tab_completion_without_a_home_prints_nothing() -> None:
    assert complete("status", "p") == []


def test_a_file_that_is_no_database_is_reported_in_one_line(d0ctl: Type, home: Home) -> None:
    home.root.mkdir(mode=0o700)
    home.database.write_text("this is no database, but long enough to look like one" * 100)

    result = d0ctl("status")

    assert result.exit_code == 5
    assert result.stderr.startswith(f"d0ctl: can't use the database `{home.database}`: ")


def test_debug_shows_the_chain_of_causes(d0ctl: Type, home: Home) -> None:
    home.root.mkdir(mode=0o700)
    home.database.write_text("no database" * 1000)

    result = d0ctl("--debug", "status")

    assert "Traceback" in result.stderr
    assert "sqlite3.DatabaseError" in result.stderr
    assert result.exit_code == 5


def test_a_closed_pipe_is_no_failure(site: Site) -> None:
    for number in range(30):
        site.submit(production(f"prod{number}", lines=1))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"'{PROGRAM}' status --json | head -c 10"],
        capture_output=True, text=True,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")


def test_an_ascii_terminal_gets_ascii_glyphs(site: Site) -> None:
    site.submit(production(title="Zürich → Genève"))
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([PROGRAM, "status", "prod"], capture_output=True, env=environment)

    assert done.returncode == 0
    assert b"Z\\xfcrich" in done.stdout


@pytest.mark.parametrize("name", sorted({*EPILOGS, *ACTIONS}))
def test_the_help_of_every_command_ends_with_an_example_and_the_exit_status(
    d0ctl: Type, name: str
) -> None:
    answer = d0ctl(*name.split(), "--help").stdout

    assert f"Example: d0ctl {name}" in answer
    assert "Exit status: 0 " in answer


@pytest.mark.parametrize("name", EPILOGS)
def test_the_example_of_a_command_has_options_that_it_takes(name: str) -> None:
    command = typer.main.get_command(app)
    for word in name.split():
        command = command.get_command(None, word)  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts}

    assert {word for word in EPILOGS[name][0].split() if word.startswith("--")} <= known


def test_validating_and_looking_import_no_action_but_submit() -> None:
    script = (
        "import sys\nfrom d0ctl.cli import run\n"
        "sys.argv = ['d0ctl', *sys.argv[1:]]\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "import d0ctl.actions.table as table\n"
        "print([name for name, module in table.MODULES.items() if module in sys.modules],\n"
        "      file=sys.stderr)\n"
    )

    for words, imported in ((["validate", "none.yaml"], ["submit"]), (["status", "--help"], [])):
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True
        )
        assert done.stderr.splitlines()[-1] == str(imported)


def test_usage_errors_name_the_help_of_the_command(d0ctl: Type) -> None:
    found = d0ctl("priority", "prod", "high")

    assert (found.exit_code, found.stderr.splitlines()) == (
        2,
        [
            "d0ctl: NUMBER: a priority is a number from 0 to 100, not `high`",
            "d0ctl priority --help",
        ],
    )


def test_help_shows_no_python_types(d0ctl: Type) -> None:
    for words in SUBCOMMANDS:
        assert "<" not in d0ctl(*words, "--help").stdout.partition("Options:")[0]
