"""A user's jobs, and the mails that a real server gets of them."""

from pathlib import Path

from tests.support.site import Site
from tests.support.smtp import PostOffice, free_port, make_certificate
from tests.support.waiting import wait_until

RECO = """
job: reco001
title: Re-reconstruction
originator: reco@fnal.gov
stages:
- name: reco
  lines:
  - for: {n: {range: [1, 4]}}
    packages:
    - run: |
        [ {n} != 2 ] || { printf 'at \\033[31mevent 17\\n' >&2; kill -SEGV $$; }
        [ {n} != 3 ] || { echo 'bad header in raw-3' >&2; exit 3; }
        echo {n} > {n}.reco
      outputs: ["{n}.reco"]
- name: merge
  lines:
  - {run: "cat {inputs} > all", inputs: [1.reco, 2.reco, 3.reco], outputs: [all]}
"""

GOOD = """
job: good
originator: reco@fnal.gov
stages: [{lines: [{run: "echo hello"}]}]
"""


def apply_mail(site: Site, post: PostOffice, *sections: str, **more: object) -> None:
    """Put a section `mail` in force."""
    keys = {"port": post.port, "digest": 1, **more}
    lines = [f"  {name.replace('_', '-')}: {value}" for name, value in keys.items()]
    text = "\n".join(
        ["mail:", "  host: 127.0.0.1", "  sender: d0ctl@lab.example",
         "  cluster-admin: admin@lab.example", "  grid-control: grid@lab.example", *lines,
         *sections]
    )  # fmt: skip
    site.ok("site", "apply", site.write(text, "site.yaml"))


def arrived(post: PostOffice, recipient: str, words: str) -> bool:
    """Whether a mail with these words in its subject arrived."""
    return any(to == recipient and words in title for to, title in post.titles())


def wait_for(post: PostOffice, recipient: str, words: str) -> str:
    """Return the text of the mail with these words in its subject, once it has arrived."""
    wait_until(lambda: arrived(post, recipient, words), what=f"{recipient}: {words}")
    found = [n for n, (to, title) in enumerate(post.titles()) if to == recipient and words in title]
    return post.text(found[-1])


def test_a_production_that_fails_sends_mail_by_starttls_and_login(
    site: Site, tmp_path: Path
) -> None:
    certificate = make_certificate(tmp_path / "server.pem")
    login = tmp_path / "login"
    login.touch(mode=0o600)
    login.write_text("d0ctl\nopen sesame\n")
    with PostOffice(certificate=certificate, login=("d0ctl", "open sesame")) as post:
        apply_mail(site, post, security="starttls", certificates=certificate, login=login)
        site.start_daemon()
        site.submit(RECO)

        text = wait_for(post, "reco@fnal.gov", "reco001: failed, 3 of 5 packages")
        assert "reco001/1/2/1  failed: seg-fault: binary 1 (" in text
        assert "bad header in raw-3\n" in text
        assert "reco001/2/1/1  blocked: waits for file `2.reco` of `reco001/1/2/1`" in text
        for recipient in ("admin@lab.example", "grid@lab.example"):
            text = wait_for(post, recipient, "reco001: 1 package failed (seg-fault)")
            assert "    | at event 17\n" in text
            assert "exit-code" not in text
    assert "open sesame" not in site.ok("site", "show") + site.ok("notify", "list", "--json")
    log = (site.home.root / "logs" / "daemon.log").read_text()
    assert "open sesame" not in log
    assert b"open sesame" not in (site.home.root / "d0ctl.db").read_bytes()


def test_run_sends_mail_at_its_end_without_a_daemon(site: Site) -> None:
    with PostOffice() as post:
        apply_mail(site, post, security="none")
        site.ok("run", site.write(GOOD))

        assert post.titles() == [("reco@fnal.gov", "good: successful, 1 package")]


def test_a_mail_server_that_returns_gets_all_waiting_mail(site: Site) -> None:
    away = PostOffice(port=free_port())
    apply_mail(site, away, security="none")
    site.start_daemon()
    site.submit(GOOD)
    site.ok("wait", "good")
    wait_until(lambda: site.json("notify", "list")["on_way"])
    (one,) = site.json("notify", "list")["on_way"]
    wait_until(lambda: site.json("daemon", "status")["unsent"])

    assert (one["recipient"], one["title"]) == ("reco@fnal.gov", "good: successful, 1 package")
    assert "1 message undelivered since" in site.ok("daemon", "status")
    assert "Connection refused\n  d0ctl notify list\n" in site.ok("daemon", "status")
    site.kill_daemon()
    with away as back:
        site.start_daemon()
        answer = site.ok("notify", "test", "eve@lab.example")
        assert answer.endswith("sending 1 waiting message now\n")
        wait_for(back, "reco@fnal.gov", "good: successful")
        wait_until(lambda: not site.json("notify", "list")["on_way"])
    assert site.json("daemon", "status")["unsent"] is None


def test_a_daemon_killed_between_sending_and_noting_sends_the_same_mail_once_more(
    site: Site,
) -> None:
    with PostOffice() as post:
        post.gate.clear()
        apply_mail(site, post, security="none")
        site.start_daemon()
        site.submit(GOOD)
        wait_until(lambda: post.letters)
        site.kill_daemon()
        post.gate.set()
        site.start_daemon()
        wait_until(lambda: len(post.letters) == 2)
        wait_until(lambda: not site.json("notify", "list")["on_way"])

        assert post.letters[0] == post.letters[1]
        assert site.json("notify", "list")["last"][0]["sent"]


def test_a_command_that_hangs_holds_up_neither_daemon_nor_mail(site: Site, tmp_path: Path) -> None:
    hook = tmp_path / "site" / "hook"
    hook.write_text(f"#!/bin/sh\ncat > {hook}.event\nexec sleep 600\n")
    hook.chmod(0o755)
    with PostOffice() as post:
        apply_mail(site, post, security="none", command=f"[{hook}]", command_timeout="5m")
        site.start_daemon()
        site.submit(GOOD)
        site.ok("wait", "good")
        wait_for(post, "reco@fnal.gov", "good: successful")
        wait_until(hook.with_suffix(".event").exists)
        site.ok("daemon", "stop")


LOST = """
job: lost
originator: reco@fnal.gov
stages: [{{lines: [{{run: "touch {record}; until test -e {record}.go; do sleep 0.1; done"}}]}}]
"""


def test_the_admin_gets_mail_when_a_node_goes_and_when_it_returns(
    site: Site, tmp_path: Path
) -> None:
    sshd = site.start_sshd("farm")
    site.add("farm", sshd)
    site.alone()
    record = tmp_path / "record"
    with PostOffice() as post:
        defaults = "defaults: {lease: 1s, unreachable-after: 3s}"
        apply_mail(site, post, defaults, security="none")
        site.start_daemon()
        site.submit(LOST.format(record=record))
        wait_until(record.exists, what="it runs on the farm")
        sshd.stop()
        assert "d0ctl node check farm\n" in wait_for(post, "admin@lab.example", "farm is down")
        text = wait_for(post, "admin@lab.example", "node farm does not answer: 1 attempt given up")
        assert "lost: 1 failure, tried again (platform-failure)\n" in text
        assert "lost/1/1/1, attempt 1 on farm\n    its node did not answer for 3.0 s\n" in text
        sshd.start()
        wait_for(post, "admin@lab.example", "node farm is back")
        Path(f"{record}.go").touch()
        wait_for(post, "reco@fnal.gov", "lost: successful, 1 package")
        answer = {to for to, _ in post.titles()}
        assert answer == {"admin@lab.example", "grid@lab.example", "reco@fnal.gov"}
        of_grid = [subject for to, subject in post.titles() if to == "grid@lab.example"]
        assert all(subject.startswith("production ") for subject in of_grid), of_grid
