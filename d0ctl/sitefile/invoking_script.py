"""The invoking script of software, from the catalogue to the text that a node runs.

The script knows the parameters that its entry declares, `{inputs}`, `{inputs.list}` and
`{outputs}`. Values are inserted at launch, when the node is known; so all faults are found when
the site file is read.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from d0ctl.jobfile.language.placeholders import LoopName, Scope
from d0ctl.jobfile.language.quoting import as_word
from d0ctl.jobfile.language.script import Script, compile_script
from d0ctl.jobfile.language.shell import Context
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, Position


def _compiled(scalar: Scalar, names: Sequence[str], shell: str, faults: Faults) -> Script:
    scope = Scope({name: LoopName(at) for at, name in enumerate(names)})
    return compile_script(scalar, scope, faults, shell)


def check_script(scalar: Scalar, shell: str, parameters: Mapping[str, str], faults: Faults) -> None:
    """Record the faults of a script; values are not known yet, so quotes are refused."""
    script = _compiled(scalar, tuple(parameters), shell, faults)
    for insertion in script.insertions:
        if insertion.context is not Context.BARE:
            message = f"`{insertion.written}` is inside quotes: remove them, d0ctl adds its own"
            faults.add(insertion.position, message)


class Files(Struct, frozen=True):
    """The files of a binary at launch: `paths` has its inputs by their local names."""

    paths: Mapping[str, str]
    made: Sequence[str]

    def inputs(self) -> list[str]:
        """Return the local names of the inputs."""
        return [as_word(name) for name in self.paths]

    def outputs(self) -> list[str]:
        """Return the names of the outputs."""
        return [as_word(name) for name in self.made]

    def local_names(self, members: Sequence[str]) -> None:
        """Return None: a script of the catalogue has no loop, and so no groups."""

    def word(self, value: str) -> str:
        """Return a value, or the local name of the input whose path it is."""
        for name, path in self.paths.items():
            if path == value or path.endswith("/" + value.removeprefix("./")):
                return as_word(name)
        return value


def invoking_script(text: str, shell: str, parameters: Mapping[str, str], files: Files) -> str:
    """Insert the values into a script of the catalogue; inputs are inserted later, as in `run:`."""
    script = _script(text, shell, tuple(parameters))
    return script.text(tuple(parameters.values()), files)


@lru_cache(maxsize=256)
def _script(text: str, shell: str, names: tuple[str, ...]) -> Script:
    faults = Faults("software")
    return _compiled(Scalar(Position(1, 1), text, source=text), names, shell, faults)
