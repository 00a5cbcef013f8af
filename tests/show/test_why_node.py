"""What `why NODE` says of the packages that failed there."""

import time

from d0ctl.nodes.transports.transport import Address
from d0ctl.show.why.node import node
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact, registry
from d0ctl.units import moment
from tests.show.asking import why
from tests.support.acting import act
from tests.support.jobs import binary, job, package
from tests.support.site import Site


def test_a_node_that_is_down_says_that_also_starting_packages_wait_for_it(site: Site) -> None:
    site.submit(job("mc", [package(binary(), name=str(line)) for line in range(3)]))
    site.launch("mc/1/1/1")
    row = registry.named(site.store, "localhost")
    site.assign("mc/1/2/1")
    with site.store.writing():
        launches.launch(site.store, [row.id], limit=1, now=time.time())
    assert site.phase("mc/1/2/1") == "starting"
    site.assign("mc/1/3/1")
    with site.store.writing():
        contact.down(site.store, row.id, "gone", now=time.time())

    assert [site.phase(f"mc/1/{line}/1") for line in (1, 2, 3)] == [
        "unreachable", "unreachable", "ready"]  # fmt: skip
    now = time.time()
    since = registry.named(site.store, "localhost").since
    assert since is not None
    assert node(site.store, "localhost", now).facts[0] == (
        "its launched packages are unreachable, also those that were only starting: if it does not "
        f"answer before {moment(since + 3600, now)}, they may run elsewhere; assigned ones have "
        "gone elsewhere"
    )
    assert f"answer before {moment(since + 3600, now)}," in " ".join(why(site, "mc/1/1/1").facts)


def test_a_node_is_named_with_the_stage_that_fails_there_and_succeeds_elsewhere(
    site: Site,
) -> None:
    registry.add(site.store, Address("farm03", "ssh", "farm03"), cpus=4)
    site.submit(job("mc", [package(binary(), name=str(line)) for line in range(5)]))
    for line in (1, 2, 3):
        site.finish(f"mc/1/{line}/1")
    assert not [fact for fact in node(site.store, "farm03", time.time()).facts if "failed" in fact]

    for line in (4, 5):
        site.launch(f"mc/1/{line}/1", "farm03")
        site.end(f"mc/1/{line}/1", "failed", reason="exit-code", exit_code=127, binary=1)

    explanation = node(site.store, "farm03", time.time())
    (fact,) = [fact for fact in explanation.facts if "failed here" in fact]
    assert fact.startswith("2 of 2 attempts of `mc/1` failed here, the last one ")
    assert fact.endswith("; on other nodes 3 of 3 succeeded")
    assert any("since the last retry in the job" in fact for fact in explanation.facts)
    assert "d0ctl report failures --node farm03" in explanation.commands
    command = "d0ctl node drain farm03 && d0ctl node resume farm03"
    assert command in explanation.commands
    for verb in ("node drain", "node resume"):
        act(site.store, verb, "farm03", actor="emmy", note=None, now=time.time())
    after = node(site.store, "farm03", time.time())
    assert not [fact for fact in after.facts if "failed here" in fact]
    assert command not in after.commands
    assert not [fact for fact in node(site.store, "localhost", time.time()).facts
                if "failed here" in fact]  # fmt: skip


def test_why_of_a_node_that_another_daemon_drives_says_which_one_to_stop(site: Site) -> None:
    registry.add(site.store, Address("farm03", "ssh", "farm03"), cpus=4)
    farm = registry.named(site.store, "farm03").id
    error = "another daemon of this site drives it: desk /home/emmy/my site"
    with site.store.writing():
        contact.down(site.store, farm, error, now=time.time())

    explanation = node(site.store, "farm03", time.time())

    assert explanation.answer.endswith(error)
    assert explanation.commands == ["d0ctl --home '/home/emmy/my site' daemon stop   # on desk"]


def test_why_of_a_node_that_a_newer_home_has_driven_says_how_to_go_on(site: Site) -> None:
    registry.add(site.store, Address("farm03", "ssh", "farm03"), cpus=4)
    farm = registry.named(site.store, "farm03").id
    error = "a home of this site that was restored later has driven it since: desk /data/d0ctl"
    with site.store.writing():
        contact.down(site.store, farm, error, now=time.time())

    explanation = node(site.store, "farm03", time.time())

    assert explanation.answer.endswith(error)
    assert "back it up and restore it" in " ".join(explanation.facts)
    assert not any("remove" in command for command in explanation.commands)


def test_why_of_a_node_with_a_wrong_python_names_the_option_and_the_key(site: Site) -> None:
    registry.add(site.store, Address("farm03", "ssh", "farm03", python="/bin/true"), cpus=4)
    farm = registry.named(site.store, "farm03").id
    error = "node `farm03` can't run the relay: `/bin/true`: the relay ended at once"
    with site.store.writing():
        contact.down(site.store, farm, error, now=time.time())

    explanation = node(site.store, "farm03", time.time())

    assert explanation.facts == [
        "its python is `/bin/true`, from --python of `node add` or `python` in the site file: "
        "is it a Python 3.6 or newer?"
    ]
