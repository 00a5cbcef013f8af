"""A bucket of an S3 server, with the standard library only; requests are signed (AWS, version 4).

The keys are those of the account: $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY, or the profile
$AWS_PROFILE in ~/.aws/credentials. They are in no argument and in no record of d0ctl.
"""

import configparser
import hashlib
import hmac
import os
import shutil
import time
from typing import IO, Any, Dict, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

TIMEOUT_S = 60.0
"""How long a server may be silent."""

UNSIGNED = "UNSIGNED-PAYLOAD"
"""The checksum of contents that are not signed: d0ctl compares its own."""


class S3Error(Exception):
    """The server refuses or does not answer, with the reason."""


class ObjectMissing(S3Error):
    """There is no such object or bucket."""


class Keys(NamedTuple):
    """The keys of an account; `token` is that of a temporary one."""

    access: str
    secret: str
    token: str = ""
    region: str = "us-east-1"


class Bucket:
    """The objects below `http[s]://HOST/BUCKET[/PREFIX]`."""

    def __init__(self, root: str) -> None:
        self._root = quote(root.rstrip("/"), safe=":/%-_.~")

    def check(self) -> None:
        """Check that the bucket exists and may be read."""
        parts = urlsplit(self._root)
        bucket = parts.path.strip("/").split("/")[0]
        self._ask("HEAD", "%s://%s/%s" % (parts.scheme, parts.netloc, bucket)).close()

    def locate(self, name: str) -> str:
        """Return the URL of an object."""
        self._ask("HEAD", self._url(name)).close()
        return self._url(name)

    def fetch(self, name: str, path: str) -> None:
        """Copy an object to a file."""
        with self._ask("GET", self._url(name)) as answer, open(path, "wb") as file:
            shutil.copyfileobj(answer, file, 1 << 20)
            length = answer.headers.get("Content-Length")
            if length is not None and file.tell() != int(length):
                raise S3Error("the connection broke after %d of %s bytes" % (file.tell(), length))

    def store(self, name: str, path: str) -> None:
        """Copy a file to an object."""
        with open(path, "rb") as file:
            self._ask("PUT", self._url(name), file).close()

    def delete(self, name: str) -> None:
        """Remove an object."""
        self.locate(name)
        self._ask("DELETE", self._url(name)).close()

    def _url(self, name: str) -> str:
        return "%s/%s" % (self._root, quote(name, safe="/-_.~"))

    def _ask(self, method: str, url: str, body: "IO[bytes] | None" = None) -> Any:
        headers = signed(method, url, keys(), time.time())
        if body is not None:
            headers["Content-Length"] = str(os.fstat(body.fileno()).st_size)
            headers["Content-Type"] = "application/octet-stream"
        try:
            return urlopen(Request(url, body, headers, method=method), timeout=TIMEOUT_S)
        except HTTPError as error:
            with error:
                if error.code == 404:
                    raise ObjectMissing("%s is not there" % url)
                raise S3Error("%s answers %d %s" % (url, error.code, error.reason))
        except URLError as error:
            raise S3Error("%s does not answer: %s" % (url, error.reason))


def keys() -> Keys:
    """Return the keys of the account. Raises S3Error if it has none."""
    environment = os.environ
    profile = environment.get("AWS_PROFILE", "default")
    file, settings = configparser.RawConfigParser(), configparser.RawConfigParser()
    aws = os.path.expanduser("~/.aws")
    file.read(environment.get("AWS_SHARED_CREDENTIALS_FILE", aws + "/credentials"))
    settings.read(environment.get("AWS_CONFIG_FILE", aws + "/config"))
    section = profile if profile == "default" else "profile " + profile
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
    region = region or settings.get(section, "region", fallback="us-east-1")
    if environment.get("AWS_ACCESS_KEY_ID"):
        return Keys(environment["AWS_ACCESS_KEY_ID"], environment.get("AWS_SECRET_ACCESS_KEY", ""),
                    environment.get("AWS_SESSION_TOKEN", ""), region)  # fmt: skip
    if not file.has_section(profile):
        raise S3Error("there are no keys for S3: write them into ~/.aws/credentials")
    return Keys(file.get(profile, "aws_access_key_id", fallback=""),
                file.get(profile, "aws_secret_access_key", fallback=""),
                file.get(profile, "aws_session_token", fallback=""), region)  # fmt: skip


def signed(method: str, url: str, account: Keys, now: float) -> "Dict[str, str]":
    """Return the headers that sign a request."""
    parts = urlsplit(url)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    day = stamp[:8]
    headers = {"host": parts.netloc, "x-amz-content-sha256": UNSIGNED, "x-amz-date": stamp}
    if account.token:
        headers["x-amz-security-token"] = account.token
    names = ";".join(sorted(headers))
    lines = "".join("%s:%s\n" % (name, headers[name]) for name in sorted(headers))
    request = "\n".join([method, parts.path or "/", parts.query, lines, names, UNSIGNED])
    scope = "%s/%s/s3/aws4_request" % (day, account.region)
    digest = hashlib.sha256(request.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, digest])
    key = ("AWS4" + account.secret).encode()
    for part in (day, account.region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    headers["Authorization"] = (
        "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"
        % (account.access, scope, names, signature)
    )
    return headers
