"""Modules without anything that a short job imports or computes in vain.

Type hints are removed, with imports and aliases that only they use. Modules of the standard library
that a plain attempt does not need are imported when they are first used, and regular expressions
are compiled then. `signal` becomes `_signal`: the same without names for its numbers.
"""

import ast
from typing import Any, List, Set

LATE = (
    "collections", "contextlib", "fcntl", "fnmatch", "functools", "hashlib", "hmac", "json",
    "posixpath", "re", "resource", "shlex", "zlib",
)  # fmt: skip
"""Modules of the standard library that are imported when they are first used."""

DECORATORS = ("contextmanager",)


def simplify(source: "str | bytes") -> ast.Module:
    """Return the simplified tree of a module; its globals need the names of `late`."""
    module: ast.Module = _Simplified().visit(ast.parse(source))
    typing = {
        alias.name
        for node in module.body
        if isinstance(node, ast.ImportFrom) and node.module == "typing"
        for alias in node.names
    }
    for node in module.body:
        if isinstance(node, ast.Assign) and _root(node.value) in typing:
            node.value = ast.Constant(None)
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    module.body = [new for node in module.body for new in _import(node, used)]
    return ast.fix_missing_locations(module)


def _root(node: ast.AST) -> str:
    """Return the name that a type such as `Dict[str, int]` or `TypeVar(...)` begins with."""
    inner = getattr(node, "value", None) or getattr(node, "func", None)
    return inner.id if isinstance(inner, ast.Name) else ""


def _import(node: ast.stmt, used: "Set[str]") -> "List[ast.stmt]":
    """Return a statement; of an import only what is used, and late if it can be."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return [node]
    node.names = [
        alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in used
    ]
    if isinstance(node, ast.ImportFrom):
        if node.module in LATE:
            return [_late(alias, node.module) for alias in node.names]
        return [node] if node.names else []
    return [_plain(alias) for alias in node.names]


def _plain(alias: ast.alias) -> ast.stmt:
    if alias.name == "signal":
        return ast.Import([ast.alias("_signal", "signal")])
    if alias.name in LATE:
        return _assigned(alias.name, _call("_late_module", alias.name))
    return ast.Import([alias])


def _late(alias: ast.alias, module: str) -> ast.stmt:
    kind = "_late_decorator" if alias.name in DECORATORS else "_late_function"
    return _assigned(alias.name, _call(kind, module, alias.name))


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _call(function: str, *values: Any) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [ast.Constant(value) for value in values], [])


class _Simplified(ast.NodeTransformer):
    """A tree without type hints, and with plain tuples and late expressions."""

    def __init__(self) -> None:
        self._depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Remove the hints of a function."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        self._depth += 1
        node.body = [self.visit(each) for each in node.body]
        self._depth -= 1
        node.returns = None
        parameters = node.args
        for each in (
            *parameters.posonlyargs,
            *parameters.args,
            *parameters.kwonlyargs,
            parameters.vararg,
            parameters.kwarg,
        ):
            if each is not None:
                each.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Remove the hint of a variable."""
        self.generic_visit(node)
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Build a NamedTuple of its fields."""
        is_record = any(isinstance(base, ast.Name) and base.id == "NamedTuple"
                        for base in node.bases)  # fmt: skip
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        self.generic_visit(node)
        if is_record:
            names = [field.target.id for field in fields if isinstance(field.target, ast.Name)]
            base = _call("_record", node.name, " ".join(names))
            base.args += [field.value for field in fields if field.value is not None]
            node.bases = [base]
            body = [each for each in node.body if not isinstance(each, ast.Assign)]
            node.body = [_assigned("__slots__", ast.Tuple([], ast.Load())), *body]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Compile a regular expression of a module when it is first used."""
        self.generic_visit(node)
        function = node.func
        if not self._depth and ast.dump(function) == _COMPILE:
            node.func = ast.Name("_late_pattern", ast.Load())
        return node


_COMPILE = ast.dump(ast.Attribute(ast.Name("re", ast.Load()), "compile", ast.Load()))
