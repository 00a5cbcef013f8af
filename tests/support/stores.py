"""Stores of a site that are real: a directory, rsync, and a server of the S3 protocol."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import debian_program

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret/key+of/tests"}
"""The keys of the account for S3."""


@contextmanager
def s3_server(bucket: str) -> Iterator[str]:
    """Yield the URL of a new bucket."""
    # Each worker imports this module to collect tests, and few run those that need a server.
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        client = boto3.client("s3", endpoint_url=url, region_name="us-east-1",
                              aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
                              aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"])  # fmt: skip
        client.create_bucket(Bucket=bucket)
        yield f"{url}/{bucket}"
    finally:
        server.stop()


def rsync_folder() -> Path:
    """Return the folder of the program rsync."""
    return debian_program("rsync", "rsync").parent
