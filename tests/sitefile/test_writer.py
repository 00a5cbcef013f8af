"""What `site show` prints is a site file that says the same."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from d0ctl.sitefile.mail import is_address
from d0ctl.sitefile.reader import read_text
from d0ctl.sitefile.spec import ClusterEntry, NodeEntry, Pilots, Site, SoftwareEntry
from d0ctl.sitefile.writer import document, text

names = st.from_regex(r"[a-z][a-z0-9._-]{0,8}", fullmatch=True)
words = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="{}\x7f\x85"),
    min_size=1,
)
lines = st.lists(words, min_size=1, max_size=3).map("\n".join).filter(str.strip)
seconds = st.integers(1, 10**6).map(float)
services = st.lists(names, max_size=2, unique=True).map(tuple)
checksums = st.just("sha256:" + "0" * 64)

nodes = st.builds(
    NodeEntry, names, destination=st.sampled_from(["", "farm", "emmy@farm:22"]),
    via=st.sampled_from(["auto", "fabric"]),
    cluster=st.none() | names.filter(lambda name: name != "control"),
    cpus=st.none() | st.integers(1, 64), platform=st.none() | names,
    speed=st.sampled_from([None, 1.0, 0.5, 2.25]), memory=st.none() | st.integers(0, 2**50),
    services=services, same_machine=st.just(True),
)  # fmt: skip
clusters = st.builds(
    ClusterEntry, names, platform=st.none() | names, services=services, private=st.booleans(),
    capacity=st.none() | st.integers(0, 2**50),
    pilots=st.sampled_from([None, Pilots(), Pilots("htcondor", rank="Mips", disk=2**30)]),
)  # fmt: skip
software = st.builds(
    SoftwareEntry, names, names, platform=st.just("") | names, script=lines,
    shell=st.sampled_from(["bash", "sh"]),
    parameters=st.dictionaries(st.sampled_from(["cards", "energy"]), words, max_size=2),
    archive=st.just("https://x/y.tar"), checksum=checksums, size=st.none() | st.integers(0, 2**40),
    manifest=st.none() | checksums, needs=services, runtime=st.none() | seconds,
)  # fmt: skip
rules = st.lists(
    st.fixed_dictionaries(
        {"match": words.map(lambda w: "".join(c for c in w if c.isalnum()) or "x")},
        optional={"reason": st.just("site:x"), "passive": st.booleans()},
    ),
    min_size=1,
    max_size=3,
)
addresses = names.map(lambda name: f"{name}@example.org").filter(is_address)
modes = st.sampled_from(["everything", "when-needed", "never"])
mails = st.fixed_dictionaries(
    {"host": names.map(lambda name: f"{name}x"), "sender": addresses},
    optional={
        "port": st.integers(1, 65535), "security": st.sampled_from(["starttls", "tls"]),
        "digest": seconds, "rate": st.integers(1, 100), "mode": modes,
        "cluster-admin": st.lists(addresses, min_size=1, max_size=2)
        | st.dictionaries(names, st.lists(addresses, min_size=1), min_size=1, max_size=2),
        "routes": st.just({"looping": ["nobody"], "site:full": ["researcher", "a@b.c"]}),
        "recipients": st.dictionaries(addresses, st.fixed_dictionaries(
            {"mode": modes}, optional={"digest": seconds}), min_size=1, max_size=2),
        "command": st.just(["/bin/sh", "-c", "x"]), "command-timeout": seconds,
    },
)  # fmt: skip
sites = st.builds(
    Site,
    nodes=st.lists(nodes, max_size=3, unique_by=lambda one: one.name).map(tuple),
    clusters=st.lists(clusters, max_size=3, unique_by=lambda one: one.name).map(tuple),
    software=st.lists(software, max_size=3, unique_by=lambda one: one.key).map(tuple),
    settings=st.fixed_dictionaries(
        {},
        optional={
            "log-rules": rules,
            "hooks": st.fixed_dictionaries({"before": lines, "timeout": seconds}),
            "defaults": st.fixed_dictionaries(
                {"looping": seconds, "nice": st.integers(0, 19), "transfer-idle": seconds}
            ),
            "event-queue": st.fixed_dictionaries(
                {"host": st.just("mqtt.example.org"), "topic": st.just("lab/#")},
                optional={"port": st.integers(1, 65535), "client": st.just("lab-1")},
            ),
            "bad-nodes": st.fixed_dictionaries(
                {"failures": st.integers(0, 9), "minimum-run": st.sampled_from([60.0, 1800.0])}
            ),
            "exclusion": st.fixed_dictionaries(
                {"rate": st.sampled_from([0.25, 0.5]), "failed": st.integers(0, 99)}
            ),
            "tasks": st.fixed_dictionaries(
                {
                    "timeouts": st.fixed_dictionaries(
                        {"pending": st.fixed_dictionaries({"after": seconds})},
                        optional={
                            "running": st.fixed_dictionaries(
                                {"after": seconds, "action": st.sampled_from(["kill", "tell"])}
                            )
                        },
                    )
                }
            ),
            "transfer": st.just({"root": {"fetch": "cp {source} {dest}"}}),
            "mail": mails,
        },
    ),
)


def has_other_names(site: Site) -> bool:
    """Return whether no cluster has the name of a node whose cluster is that of this machine."""
    here = {node.name for node in site.nodes if not node.destination and node.cluster is None}
    mail = site.settings.get("mail", {}).get("cluster-admin", {})
    clusters = {*(node.cluster for node in site.nodes), *(entry.name for entry in site.clusters)}
    return here.isdisjoint({*clusters, *mail})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sites.filter(has_other_names))
def test_a_site_is_read_as_it_was_written(site: Site) -> None:
    written = text(site)

    assert named(read_text(written or "nodes: {}", "x", Path("/"))) == named(site)


def named(site: Site) -> Site:
    """The site without warnings, and without clusters of which only the name is known."""
    clusters = tuple(cluster for cluster in site.clusters if cluster != ClusterEntry(cluster.name))
    return replace(site, clusters=clusters, warnings=())


def test_an_empty_site_has_an_empty_file() -> None:
    assert (text(Site()), document(Site())) == ("", {})
