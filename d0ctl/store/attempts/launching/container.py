"""Binaries that run in a container, by the engine of the site."""

import shlex
from typing import Any

SHELLS = {"bash": ["bash", "-eo", "pipefail", "-c"], "sh": ["sh", "-e", "-c"]}

_CALL = """\
if ! command -v {engine} >/dev/null; then
  echo "{engine}: no such command, and the binary has an \\`image\\`" >&2
  exit 127
fi
variables=()
for name in $(compgen -e); do
  case "$name" in
    PATH | HOME | HOSTNAME | USER | LOGNAME | SHELL | LD_LIBRARY_PATH | TMPDIR) ;;
    *) variables+=(--env "$name") ;;
  esac
done
"""
"""Finds the engine, and the variables that docker and podman pass on only by name."""

_RUN = {
    "apptainer": 'exec apptainer exec --bind "$D0CTL_BASE" --pwd "$D0CTL_WORK" {image} {command}',
    "podman": 'exec podman run --rm --init --network host --volume "$D0CTL_BASE:$D0CTL_BASE" '
    '--workdir "$D0CTL_WORK" "${{variables[@]}}" {image} {command}',
    "docker": 'exec docker run --rm --init --network host --user "$(id -u):$(id -g)" '
    '--volume "$D0CTL_BASE:$D0CTL_BASE" --workdir "$D0CTL_WORK" "${{variables[@]}}" '
    "{image} {command}",
}
"""How each engine is called; the node's folder has the working directory and the inputs."""


def in_container(binary: dict[str, Any], image: str, engine: str) -> dict[str, Any]:
    """Return the launch of a binary that runs in an image, when its program is known."""
    script = [*SHELLS[binary["shell"]], binary["script"] or ""]
    arguments = binary["argv"] or script
    run = _RUN[engine]
    if binary.get("stdin") is not None:
        run = run.replace(" run --rm", " run --interactive --rm")
    call = run.format(image=shlex.quote(image), command=shlex.join(arguments))
    text = f"{_CALL.format(engine=engine)}{call}\n"
    return {**binary, "script": text, "shell": "bash", "argv": None}
