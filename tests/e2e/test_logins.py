"""Logins that need more than a key: Kerberos tickets, and what a person types at a terminal."""

import subprocess
from pathlib import Path

from tests.e2e.terminal import terminal
from tests.support.kdc import Kdc, find_client
from tests.support.one_time_codes import OneTimeCodes
from tests.support.site import Site
from tests.support.site.commands import fingerprint
from tests.support.sshd import Sshd
from tests.support.users import needs_root
from tests.support.waiting import wait_until

HELLO = """
job: hello
stages: [{name: say, lines: [{run: 'echo hello > hello.txt', outputs: [hello.txt]}]}]
"""


def at_localhost(sshd: Sshd) -> str:
    """The sshd by the name that its Kerberos key has."""
    return f"{sshd.user}@localhost:{sshd.port}"


def test_a_restarted_daemon_logs_in_with_a_kerberos_ticket_and_reports_its_end(
    site: Site, tmp_path: Path
) -> None:
    cache = f"FILE:{tmp_path}/tickets"
    with Kdc(tmp_path / "kdc") as kdc:
        kdc.add_host("localhost")
        sshd = site.start_sshd(
            "farm", variables=kdc.variables,
            more_settings=("GSSAPIAuthentication yes", "GSSAPIStrictAcceptorCheck no",
                           "AuthenticationMethods gssapi-with-mic"),
        )  # fmt: skip
        kdc.add_person(sshd.user)
        site.variables = {**kdc.variables, "KRB5CCNAME": cache,
                          "PATH": f"{find_client()}:{site.environment['PATH']}"}  # fmt: skip
        site.ssh_config.write_text("GSSAPIAuthentication yes\n")
        where = at_localhost(sshd)
        words = ["node", "add", "farm", where, "--same-machine", "--accept-key", fingerprint(sshd)]

        refused = site.d0ctl(*words)
        kdc.kinit(sshd.user, cache)
        added = site.ok(*words)
        site.alone()
        site.start_daemon()
        site.ok("daemon", "stop")
        site.start_daemon()
        site.wait_node("farm", "up")
        site.submit(HELLO)
        site.ok("wait", "hello", "--timeout", "30s")
        well = site.d0ctl("doctor")
        kdc.kdestroy(cache)
        site.ok("daemon", "stop")
        site.start_daemon()
        site.wait_node("farm", "down")
        ill = site.d0ctl("doctor")

    assert refused.code == 6
    assert f"d0ctl node login {where}" in refused.err
    assert "or get a Kerberos ticket: kinit" in refused.err
    assert added.startswith("added `farm`")
    assert well.code == 0, well
    assert f"KRB5CCNAME={cache} kinit" in ill.out


def test_a_login_that_a_person_makes_at_a_terminal_serves_the_daemon_until_it_is_ended(
    site: Site,
) -> None:
    sshd = site.start_sshd("farm")
    lock = ["ssh-keygen", "-q", "-p", "-P", "", "-N", "four words", "-f", str(sshd.identity)]
    subprocess.run(lock, check=True)
    site.ssh_config.write_text(f"IdentityFile {sshd.identity}\n")
    where = sshd.destination
    words = ["node", "add", "farm", where, "--same-machine", "--accept-key", fingerprint(sshd)]

    refused = site.d0ctl(*words)
    with terminal(site, "node", "login", where, "--accept-key", fingerprint(sshd)) as screen:
        screen.expect("Enter passphrase")
        screen.type("four words\n")
        assert screen.end() == 0
        said = screen.text
    site.ok(*words)
    site.alone()
    for _ in range(2):
        site.start_daemon()
        site.wait_node("farm", "up")
        site.ok("daemon", "stop")
    site.start_daemon()
    site.submit(HELLO)
    site.ok("wait", "hello", "--timeout", "30s")
    well = site.d0ctl("doctor")
    sshd.cut()
    site.wait_node("farm", "down")
    ill = site.d0ctl("doctor")
    logout = site.d0ctl("node", "logout", "farm")

    assert refused.code == 6
    assert f"d0ctl node login {where}" in refused.err
    assert f"logged in to `{where}`" in said
    assert well.code == 0, well
    assert "d0ctl node login farm" in ill.out
    assert f"not logged in to `{where}`" in logout.err


@needs_root
def test_a_one_time_code_is_asked_for_once_and_serves_the_daemon(site: Site) -> None:
    codes = OneTimeCodes(site.folder / "codes")
    sshd = site.start_sshd("farm", **codes.options)
    site.ssh_config.write_text(f"IdentityFile {sshd.identity}\n")
    where = sshd.destination
    words = ["node", "add", "farm", where, "--same-machine", "--accept-key", fingerprint(sshd)]

    def log_in(*answers: str) -> str:
        """Log in with these codes, the last of which is right; what the terminal shows."""
        login = ("node", "login", where, "--accept-key", fingerprint(sshd))
        with terminal(site, *login) as screen:
            for number, answer in enumerate(answers, 1):
                wait_until(lambda n=number: screen.text.count("One-time password") == n)  # type: ignore[misc]
                screen.type(f"{answer}\n")
            assert screen.end() == 0, screen.text
            return screen.text

    refused = site.d0ctl(*words)
    said = log_in("000000", codes.code(0))
    site.ok(*words)
    site.alone()
    site.start_daemon()
    site.wait_node("farm", "up")
    site.ok("daemon", "stop")
    site.start_daemon()
    site.submit(HELLO)
    site.ok("wait", "hello")

    assert refused.code == 6
    assert f"d0ctl node login {where}   # if it asks for a password" in refused.err
    assert f"logged in to `{where}`" in said
    assert site.attempts() == [("farm", "successful", None)]
    assert sshd.log().count("Accepted keyboard-interactive/pam") == 1

    # the login has ended: the node is down, `why` says what to type, and packages wait
    sshd.cut()
    site.wait_node("farm", "down")
    site.submit(HELLO.replace("job: hello", "job: later"))
    assert "  $ d0ctl node login farm   # if its login has ended\n" in site.ok("why", "farm")
    log_in(codes.code(0), codes.code(1))  # a code is good for one login
    assert site.ok("wait", "later") == "`later` is successful\n"
