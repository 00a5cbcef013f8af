"""The start of a job from its bundle, which executes this text with its modules as MODULES."""

import sys
from typing import Any, Dict, Iterable, Tuple

TASK = "d0ctl_wrapper.attempt.task"

LATE = "d0ctl_wrapper.bundle.late"


def load(archive: str, modules: "Iterable[Tuple[str, bool, Any]]") -> None:
    """Execute modules in their order, as imports would; the archive has those imported later."""
    names: "Dict[str, Any]" = {}
    for name, is_package, code in modules:
        module = sys.modules[name] = type(sys)(name)
        package, _, last = name.rpartition(".")
        path = "%s/%s" % (archive, name.replace(".", "/"))
        if is_package:
            module.__path__ = [path]
        module.__package__ = name if is_package else package
        module.__file__ = path + ("/__init__.py" if is_package else ".py")
        if package:
            setattr(sys.modules[package], last, module)
        module.__dict__.update(names)
        exec(code, module.__dict__)
        if name == LATE:
            names = module.NAMES


if __name__ == "__main__":
    load(sys.argv[1], globals()["MODULES"])
    if len(sys.argv) > 2:
        sys.modules[TASK].main()
