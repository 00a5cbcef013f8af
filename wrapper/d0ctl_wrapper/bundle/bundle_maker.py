"""Making the bundle: by the relay, or by the first job of another python."""

import ast
import marshal
import os
import sys
import time
from typing import Any, Dict, Iterator, List, Tuple

from d0ctl_wrapper.bundle import bundle_path
from d0ctl_wrapper.bundle.bundle_start import LATE, TASK
from d0ctl_wrapper.bundle.simplify import simplify
from d0ctl_wrapper.disk import write_all

OLDEST = (3, 8)
"""The oldest python that is worth it: others have no positional-only arguments in their trees."""

ABANDONED_S = 60.0
"""The seconds after which an unfinished bundle was left by a job that was killed."""

_START = "d0ctl_wrapper/bundle/bundle_start.py"

_CHECK = "import marshal,sys;exec(*marshal.loads(open(sys.argv.pop(),'rb').read()))"

Modules = Dict[str, Tuple[str, bytes]]
"""The path and the source of modules by their names."""


def make(archive: str) -> None:
    """Make the bundle unless there is one, or another job makes it."""
    target = bundle_path.of(archive)
    aside = target + ".aside"
    if sys.version_info < OLDEST or os.path.exists(target) or not _begin(aside):
        return
    try:
        with open(aside, "wb", buffering=0) as file:
            write_all(file.fileno(), _text(archive))
            os.fsync(file.fileno())
        if _can_load(archive, aside):
            os.rename(aside, target)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)


def make_aside(archive: str) -> None:
    """Make the bundle in a child, which takes the memory for it along, and wait for that.

    It takes a second, once, and saves as many jobs as begin meanwhile from doing without it.
    """
    if not archive.endswith(".pyz") or os.path.exists(bundle_path.of(archive)):
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        make(archive)
    finally:
        os._exit(0)


def _begin(aside: str) -> bool:
    """Create the unfinished bundle; return False if another job has."""
    try:
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if time.time() - os.stat(aside).st_mtime > ABANDONED_S:
            os.unlink(aside)
        return False
    return True


def _can_load(archive: str, bundle: str) -> bool:
    """Return whether another process of this python loads a bundle."""
    python = sys.executable or os.readlink("/proc/self/exe")  # empty in a job without a PATH
    arguments = [python, "-I", "-S", "-c", _CHECK, archive, bundle]
    return os.spawnv(os.P_WAIT, python, arguments) == 0


def _text(archive: str) -> bytes:
    """Return the arguments of `exec`: the start, and the globals in which it finds the modules."""
    import zipfile  # late: one job needs it

    with zipfile.ZipFile(archive) as found:
        names = [name for name in found.namelist() if name.endswith(".py")]
        sources = {_name(name): (name, found.read(name)) for name in names}
    modules: "List[Any]" = [
        _compiled(sources, name, tree) for name, tree in _ordered(sources, [LATE, TASK])
    ]
    start = _compile(simplify(sources[_name(_START)][1]), _START)
    return marshal.dumps((start, {"__name__": "__main__", "MODULES": tuple(modules)}))


def _name(file: str) -> str:
    name = file[: -len(".py")].replace("/", ".")
    return name[: -len(".__init__")] if name.endswith(".__init__") else name


def _compiled(sources: Modules, name: str, tree: ast.Module) -> "Tuple[str, bool, Any]":
    file = sources[name][0]
    return name, file.endswith("/__init__.py"), _compile(tree, file)


def _compile(tree: ast.Module, file: str) -> Any:
    return compile(tree, file, "exec", dont_inherit=True, optimize=2)


def _ordered(sources: Modules, roots: "List[str]") -> "List[Tuple[str, ast.Module]]":
    """Return modules and all that they import when they are imported, in the order of execution."""
    trees: "Dict[str, ast.Module]" = {}
    begun = set()

    def visit(name: str) -> None:
        if name in begun or name not in sources:
            return
        begun.add(name)
        visit(name.rpartition(".")[0])
        tree = simplify(sources[name][1])
        for imported in _imports(tree):
            visit(imported)
        trees[name] = tree

    for root in roots:
        visit(root)
    return list(trees.items())


def _imports(tree: ast.Module) -> "Iterator[str]":
    """Yield the names of modules that a module may import; `from` may name a module, too."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from ("%s.%s" % (node.module, alias.name) for alias in node.names)
