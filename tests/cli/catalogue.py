"""A site file with software, and a job that needs it."""

from pathlib import Path

TEXT = """\
code-server: {folder}
nodes:
  localhost: {{cpus: 3, services: SAM}}
clusters:
  farm: {{platform: sl7, capacity: 2TB}}
software:
  - {{name: reco, version: v1, archive: reco.tar.gz, script: "reco {{inputs}} > {{outputs}}",
     needs: SAM, runtime: 20m}}
defaults: {{nice: 3, grace: 1}}
"""


def write(folder: Path, text: str) -> str:
    """A file with this text; its path."""
    path = folder / "some.yaml"
    path.write_text(text)
    return str(path)
