"""The only place that turns the invoking script of some software into what a node runs.

The script knows the parameters that its entry declares, `{inputs}`, `{inputs.list}` and
`{outputs}`. It is filled at launch, when the node is known, so nothing in it may fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from d0ctl.jobfile.language.quoting import as_word
from d0ctl.jobfile.language.script import Script, compile_script
from d0ctl.jobfile.language.shell import Context
from d0ctl.jobfile.language.template import LoopName, Scope
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, Place


def _compiled(scalar: Scalar, names: Sequence[str], shell: str, faults: Faults) -> Script:
    scope = Scope({name: LoopName(at) for at, name in enumerate(names)})
    return compile_script(scalar, scope, faults, shell)


def judge_script(scalar: Scalar, shell: str, parameters: Mapping[str, str], faults: Faults) -> None:
    """Note what is wrong with a script; a value is quoted, so it stands outside of quotes."""
    script = _compiled(scalar, tuple(parameters), shell, faults)
    for hole in script.holes:
        if hole.context is not Context.BARE:
            message = f"`{hole.mark.text}` is quoted by itself and can't stand inside quotes"
            faults.add(hole.place, message)


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a binary at launch: names of its inputs with the paths they came from."""

    given: Mapping[str, str]
    made: Sequence[str]

    def inputs(self) -> list[str]:
        """The inputs' names, as they lie for the binary."""
        return [as_word(name) for name in self.given]

    def outputs(self) -> list[str]:
        """The outputs' names."""
        return [as_word(name) for name in self.made]

    def word(self, value: str) -> str:
        """Return a value, or the name of the input of which it is the path."""
        for name, path in self.given.items():
            if path == value or path.endswith("/" + value.removeprefix("./")):
                return as_word(name)
        return value


def invoking_script(text: str, shell: str, parameters: Mapping[str, str], files: Files) -> str:
    """Put values into a script of the catalogue; inputs are named later, as in a `run:`."""
    script = _script(text, shell, tuple(parameters))
    return script.text(tuple(parameters.values()), files)


@lru_cache(maxsize=256)
def _script(text: str, shell: str, names: tuple[str, ...]) -> Script:
    faults = Faults("software")
    return _compiled(Scalar(Place(1, 1), text, source=text), names, shell, faults)
