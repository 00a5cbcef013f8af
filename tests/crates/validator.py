"""Run by the python of the environment that has roc-validator, which conflicts with Textual.

    python validator.py METADATA...

Prints what violates the profiles, and exits with 1 if anything does.
"""

import importlib.resources
import json
import sys
from pathlib import Path

import requests
from rocrate_validator.services import validate_metadata_as_dict
from rocrate_validator.utils.http import HttpRequester

PROFILES = ("ro-crate-1.1", "process-run-crate-0.5")

CONTEXT = "https://w3id.org/ro/crate/1.1/context"


def answer(_: HttpRequester, url: str, **options: object) -> requests.Response:
    """Answer with the context as the package `rocrate` has it: a check needs no network."""
    if url != CONTEXT:
        raise requests.ConnectionError(f"{url} is not fetched")
    response = requests.Response()
    response.status_code, response.url = 200, url
    response.headers["Content-Type"] = "application/ld+json"
    text = importlib.resources.files("rocrate").joinpath("data", "ro-crate.jsonld")
    response._content = text.read_bytes()
    return response


def main() -> int:
    """Check each file by each profile."""
    HttpRequester.get = answer
    broken = 0
    for path in sys.argv[1:]:
        for profile in PROFILES:
            settings = {"profile_identifier": profile, "metadata_only": True}
            found = validate_metadata_as_dict(json.loads(Path(path).read_text()), settings)
            issues = found.get_issues()
            broken += len(issues)
            print(f"{path}: {profile}: {len(issues)} issues")
            for issue in issues:
                print(f"  {issue.message}")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
