"""What the author of `mail:` gets: the section as it is kept, or every fault with its place."""

from pathlib import Path

import pytest

from d0ctl.sitefile.mail import is_address

from .conftest import Faults, Read


def test_the_section_is_kept_as_it_is_read(site: Read, folder: Path) -> None:
    login = folder / "login"
    login.touch(mode=0o600)
    found = site(
        "mail:\n"
        "  host: smtp.example.org\n"
        "  port: 2525\n"
        f"  login: {login}\n"
        "  sender: d0ctl@example.org\n"
        '  cluster-admin: {farm: [a@x.org, b@x.org], "*": c@x.org}\n'
        "  grid-control: grid@x.org\n"
        "  routes: {exit-code: [researcher, boss@x.org], site:full: nobody}\n"
        "  digest: 10m\n"
        "  rate: 3\n"
        "  mode: when-needed\n"
        "  recipients: {emmy: {address: emmy@x.org, mode: never}, eve@x.org: {rate: 1}}\n"
        "  command: [/bin/sh, -c, 'x {y}']\n"
        "  command-timeout: 2m\n"
    )

    assert found.settings["mail"] == {
        "host": "smtp.example.org", "port": 2525, "login": str(login),
        "sender": "d0ctl@example.org",
        "cluster-admin": {"farm": ["a@x.org", "b@x.org"], "*": ["c@x.org"]},
        "grid-control": ["grid@x.org"],
        "routes": {"exit-code": ["researcher", "boss@x.org"], "site:full": ["nobody"]},
        "digest": 600.0, "rate": 3, "mode": "when-needed",
        "recipients": {"emmy": {"address": "emmy@x.org", "mode": "never"},
                       "eve@x.org": {"rate": 1}},
        "command": ["/bin/sh", "-c", "x {y}"], "command-timeout": 120.0,
    }  # fmt: skip


def test_every_fault_is_reported_with_its_position(faults: Faults, folder: Path) -> None:
    (folder / "open").touch(mode=0o644)
    answer = faults(
        "mail:\n"
        "  hots: x\n"
        "  host: 'no host'\n"
        "  port: 0\n"
        "  security: some\n"
        f"  login: {folder}/open\n"
        "  certificates: /no/such/file\n"
        "  sender: 'Eve <eve@x.org>'\n"
        "  cluster-admin: [a@x.org, b]\n"
        "  grid-control: {farm: c}\n"
        "  routes: {exit-cod: researcher, looping: [resercher], killed: nobody}\n"
        "  rate: 0\n"
        "  mode: some\n"
        "  recipients: {emmy: {rate: 2}, eve@x.org: now, x@y.z: {colour: red}}\n"
        "  command: [relative, x]\n"
    )

    assert answer == [
        "2:3: `mail` has no key `hots` (did you mean `host`?)",
        "3:9: `host` takes the name of a mail server, not `no host`",
        "4:9: `port` takes a whole number from 1 to 65535, not `0`",
        "5:13: `security` takes `starttls`, `tls` or `none`, not `some`",
        f"6:10: `login`: other users may read `{folder}/open`: chmod go= {folder}/open",
        "7:17: `certificates`: there is no file `/no/such/file`",
        "8:11: `sender` takes an address such as `emmy@example.org`, not `Eve <eve@x.org>`",
        "9:28: `cluster-admin` takes an address such as `emmy@example.org`, not `b`",
        "10:24: `farm` takes an address such as `emmy@example.org`, not `c`",
        "11:12: `exit-cod` is not a failure reason (did you mean `exit-code`?)",
        "11:44: a route takes `researcher`, `grid-control`, `cluster-admin`, `nobody` or "
        "addresses, not `resercher` (did you mean `researcher`?)",
        "11:56: the rule for `killed` can never match: killed packages are canceled, not failed",
        "12:9: `rate` takes a whole number of mails an hour, 1 or more, not `0`",
        "13:9: `mode`: `some` is not one of `everything`, `when-needed`, `never`",
        "14:16: `emmy` is not an address, so it needs `address`",
        "14:44: `eve@x.org` takes keys such as `mode`, not `now`",
        "14:57: a recipient has no key `colour`; it has `address`, `digest`, `rate` and `mode`",
        "15:3: `command` takes the absolute path of a program, not `relative`",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail: x", "1:7: `mail` takes keys such as `host`, not `x`"),
        ("mail: {rate: 3}", "1:7: `mail` needs a `host`, a `command`, a `notifier` or a `webhook`"),
        ("mail: {host: x}", "1:8: `mail` with a `host` needs a `sender`"),
        ("mail: {command: /bin/true, security: tls}", "1:28: `security` needs a `host`"),
        ("mail: {host: x, sender: a@b.c, login: gone}",
         "1:39: `login`: `gone` is not an absolute path"),
        ("mail: {host: x, sender: a@b.c, login: /no/such}",
         "1:39: `login`: `/no/such` can't be read: No such file or directory"),
        ("mail: {host: x, sender: a@b.c, login: /}", "1:39: `login`: `/` is not a file"),
        ("mail: {command: /bin/true, digest: 0}",
         "1:36: `digest`: `0` is not a time of more than 0"),
        ("mail: {command: /bin/true, routes: {}}",
         "1:36: `routes` is empty: name a reason, or remove it"),
        ("mail: {command: /bin/true, routes: {lost: []}}",
         "1:43: the route of `lost` is empty: name who gets the mail, or `nobody`"),
    ],
)  # fmt: skip
def test_contradicting_keys_are_a_fault(faults: Faults, text: str, expected: str) -> None:
    assert faults(text) == [expected]


def test_recipients_without_a_mail_server_are_warned_of(site: Read) -> None:
    keys = "command: /bin/true, cluster-admin: a@x.org, grid-control: b@x.org"
    (warning,) = site(f"mail: {{{keys}}}").warnings
    assert warning.endswith(
        ":1:28: warning: `cluster-admin` has no effect without a `host`: no mail is sent, and the "
        "`command` gets all events"
    )
    assert site(f"mail: {{{keys}, host: x, sender: a@b.c}}").warnings == ()


def test_a_password_never_goes_over_the_network_in_the_clear(
    site: Read, faults: Faults, folder: Path
) -> None:
    (folder / "login").touch(mode=0o600)
    keys = f"sender: a@b.c, security: none, login: {folder}/login"

    (answer,) = faults(f"mail: {{host: smtp.example.org, {keys}}}")
    assert "the password would be sent unencrypted" in answer
    assert site(f"mail: {{host: localhost, {keys}}}").settings["mail"]["host"] == "localhost"


@pytest.mark.parametrize(
    "text",
    ["", "eve", "@x.org", "eve@", "eve@x.org\n", "eve@x.org\r\nBcc: a@b", "Eve <eve@x.org>",
     "a@b,c@d", "é@x.org", "eve @x.org", "eve@x org", "a" * 65 + "@x.org", "eve@-x", "a@b@c"],
)  # fmt: skip
def test_an_address_that_is_not_plain_is_refused(text: str) -> None:
    assert not is_address(text)


@pytest.mark.parametrize("text", ["eve@x.org", "emmy@farm01", "a.b+c=d@x-y.org", "o'hara@x.org"])
def test_a_plain_address_is_accepted(text: str) -> None:
    assert is_address(text)


def test_a_command_without_its_x_bit_names_the_command_that_sets_it(
    faults: Faults, tmp_path: Path
) -> None:
    hook = tmp_path / "my hook"
    hook.write_text("#!/bin/sh\n")

    (fault,) = faults(f"mail:\n  command: [{hook}]\n")

    assert fault == f"2:3: the program of `command` is not executable: chmod +x '{hook}'"
