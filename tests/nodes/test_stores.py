"""Stores of the site: a directory, rsync, S3 and commands, by the program that nodes have."""

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from d0ctl.errors import D0Error, NotFound, Refused
from d0ctl.nodes.storage import stores
from d0ctl_wrapper import s3
from d0ctl_wrapper.protocol import locator
from tests.support.stores import KEYS, rsync_folder, s3_server

NAME = "run 1/it's {dest} é.raw"
"""A name that shells and URLs have to quote."""


@pytest.fixture(params=["directory", "rsync", "s3", "commands"])
def entry(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Mapping[str, str]]:
    """A store of each kind, empty."""
    folder = tmp_path / "the store"
    folder.mkdir()
    at = shlex.quote(str(folder))
    match request.param:
        case "s3":
            for name, value in KEYS.items():
                monkeypatch.setenv(name, value)
            with s3_server("reco") as url:
                yield {"s3": f"{url}/pre fix"}
        case "rsync":
            monkeypatch.setenv("PATH", f"{rsync_folder()}:{os.environ['PATH']}")
            yield {"rsync": str(folder)}
        case "directory":
            yield {"directory": str(folder)}
        case _:
            missing = f"test -e {at}/{{name}} || exit 66"
            yield {
                "locate": f"ls {at}/{{name}} || exit 66", "delete": f"{missing}; rm {at}/{{name}}",
                "fetch": f"{missing}; cp {at}/{{name}} {{dest}}", "check": f"ls {at}",
                "store": f"mkdir -p {at}/'run 1'; cp {{source}} {at}/{{name}}",
            }  # fmt: skip


def test_a_file_is_stored_located_fetched_and_deleted(
    entry: Mapping[str, str], tmp_path: Path
) -> None:
    source, dest = tmp_path / "the source", tmp_path / "the copy"
    source.write_bytes(b"ten bytes\n" * 300_000)

    stores.run("archive", entry, "check")
    stores.run("archive", entry, "store", NAME, source)
    assert stores.run("archive", entry, "locate", NAME)
    stores.run("archive", entry, "fetch", NAME, dest)
    stores.run("archive", entry, "delete", NAME)

    assert dest.read_bytes() == source.read_bytes()
    for verb in ("locate", "fetch", "delete"):
        with pytest.raises(NotFound, match=r"store `archive` has no file `run 1/it's"):
            stores.run("archive", entry, verb, NAME, dest)


def test_a_file_stored_in_a_directory_appears_whole(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("whole\n")
    (tmp_path / "store").mkdir()
    entry = {"directory": str(tmp_path / "store")}

    stores.run("archive", entry, "store", "a/b", tmp_path / "source")

    assert [path.name for path in (tmp_path / "store/a").iterdir()] == ["b"]
    assert (tmp_path / "store/a/b").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (
            {"directory": "/nowhere/at/all"},
            "store `far`: No such file or directory: `/nowhere/at/all`",
        ),
        ({"s3": "http://127.0.0.1:9/reco"}, "does not answer: "),
        ({"rsync": "/nowhere/at/all"}, "nowhere/at/all"),
        ({"check": "echo no tape is mounted >&2; exit 3"}, "store `far`: no tape is mounted"),
    ],
)
def test_a_store_that_cannot_be_reached_is_an_error_with_the_reason(
    entry: Mapping[str, str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{rsync_folder()}:{os.environ['PATH']}")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(D0Error) as caught:
        stores.run("far", entry, "check")

    assert text in str(caught.value)


def test_a_store_without_a_command_is_reported_with_the_site_file_key() -> None:
    with pytest.raises(Refused) as caught:
        stores.run("tape", {"fetch": "get {name} {dest}"}, "delete", "a")

    assert str(caught.value).startswith("store `tape` has no command to delete files")


def test_the_keys_are_those_of_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    with pytest.raises(s3.S3Error, match="there are no keys for S3"):
        s3.keys()

    (tmp_path / "credentials").write_text(
        "[default]\naws_access_key_id = one\naws_secret_access_key = two%3\n"
    )
    (tmp_path / "config").write_text("[default]\nregion = eu-south-1\n")

    assert s3.keys() == s3.Keys("one", "two%3", "", "eu-south-1")


@pytest.mark.parametrize("token", ["", "of-an-hour"])
@pytest.mark.parametrize("name", ["plain", "a%20b/%C3%A9~.raw"])
def test_a_request_is_signed_as_the_client_of_amazon_signs_it(
    name: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, account = f"https://s3.example.org/reco/{name}", s3.Keys("one", "two", token)
    found = s3.signed("GET", url, account, 1_700_000_000.0)

    request = AWSRequest("GET", url, headers={"X-Amz-Content-SHA256": s3.UNSIGNED})
    signer = S3SigV4Auth(Credentials("one", "two", token or None), "s3", "us-east-1")
    request.context["timestamp"] = found["x-amz-date"]
    request.headers["X-Amz-Date"] = found["x-amz-date"]
    if token:
        request.headers["X-Amz-Security-Token"] = token
    canonical = signer.canonical_request(request).rpartition("\n")[0] + "\n" + s3.UNSIGNED
    signature = signer.signature(signer.string_to_sign(request, canonical), request)

    assert found["Authorization"].endswith(f"Signature={signature}")


def test_the_name_of_a_stored_file_stays_inside_its_store() -> None:
    for text in ("store:archive", "store:archive/", "store:archive//a", "store:archive/../a",
                 "store:a b/c"):  # fmt: skip
        with pytest.raises(ValueError, match="is not"):
            locator.check(text)
    assert locator.in_store(locator.check("store:archive/a/b")) == ("archive", "a/b")
