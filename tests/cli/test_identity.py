"""Keys that are named as the identity of a node."""

from pathlib import Path

from tests.cli.conftest import Type
from tests.support.site import Site


def test_a_public_key_as_identity_leads_to_the_private_one(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    private, public = tmp_path / "key", tmp_path / "key.pub"
    private.touch()
    public.touch()

    result = d0ctl("node", "add", "n", "host", "--identity", str(public))
    site_file = tmp_path / "site.yaml"
    site_file.write_text(f"nodes: {{n: {{destination: host, identity: {public}}}}}")

    refused = [f"d0ctl: `--identity`: `{public}` is a public key", f"--identity {private}"]
    assert (result.exit_code, result.stderr.splitlines()) == (2, refused)
    fault = f"`{public}` is a public key; the private one is `{private}`\n"
    assert d0ctl("site", "check", str(site_file)).stderr.endswith(fault)
