"""What a simplified module has in place of the modules and classes that it uses rarely or never."""

import sys
from _collections import _tuplegetter  # type: ignore[import-not-found]
from typing import Any, Callable, Dict, List, Tuple


def _found(module: str, name: str) -> Any:
    __import__(module)
    return getattr(sys.modules[module], name)


class _Module:
    """A module that is imported when it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = _found(self._name, name)
        setattr(self, name, value)
        return value


class _Pattern:
    """A regular expression that is compiled when it is first used."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments
        self._compiled: Any = None

    def _real(self) -> Any:
        if self._compiled is None:
            self._compiled = _found("re", "compile")(*self._arguments)
        return self._compiled

    def match(self, *arguments: Any) -> Any:
        return self._real().match(*arguments)

    def search(self, *arguments: Any) -> Any:
        return self._real().search(*arguments)

    def sub(self, *arguments: Any) -> Any:
        return self._real().sub(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)


def _function(module: str, name: str) -> "Callable[..., Any]":
    """Return a function that imports the real one when it is called."""

    def call(*arguments: Any, **options: Any) -> Any:
        return _found(module, name)(*arguments, **options)

    return call


def _decorator(module: str, name: str) -> "Callable[..., Any]":
    """Return a decorator whose functions import the real one when they are called."""

    def decorate(function: Any) -> Any:
        made: "List[Any]" = []

        def call(*arguments: Any, **options: Any) -> Any:
            if not made:
                made.append(_found(module, name)(function))
            return made[0](*arguments, **options)

        return call

    return decorate


class _Record(tuple):  # type: ignore[type-arg]
    """A NamedTuple, made in a twentieth of the time."""

    __slots__ = ()
    _fields: "Tuple[str, ...]" = ()
    _defaults: "Tuple[Any, ...]" = ()

    def __new__(cls, *values: Any, **options: Any) -> "_Record":
        rest = cls._fields[len(values) :]
        if rest:
            known = dict(zip(cls._fields[len(cls._fields) - len(cls._defaults) :], cls._defaults))
            known.update(options)
            values = (*values, *[known[name] for name in rest])
        if len(values) != len(cls._fields) or not set(options) <= set(rest):
            raise TypeError("%s needs %s" % (cls.__name__, ", ".join(cls._fields)))
        return tuple.__new__(cls, values)

    def _asdict(self) -> "Dict[str, Any]":
        return dict(zip(self._fields, self))

    def _replace(self, **changes: Any) -> "_Record":
        return type(self)(**{**self._asdict(), **changes})

    def __repr__(self) -> str:
        fields = ("%s=%r" % pair for pair in zip(self._fields, self))
        return "%s(%s)" % (type(self).__name__, ", ".join(fields))


def _record(name: str, names: str, *defaults: Any) -> type:
    """Return the base of a class with these fields; the last ones have defaults."""
    fields = tuple(names.split())
    getters = {field: _tuplegetter(index, None) for index, field in enumerate(fields)}
    settings = {"__slots__": (), "_fields": fields, "_defaults": defaults}
    return type(name, (_Record,), {**getters, **settings})


NAMES: "Dict[str, Any]" = {
    "_late_module": _Module, "_late_pattern": _Pattern, "_late_function": _function,
    "_late_decorator": _decorator, "_record": _record,
}  # fmt: skip
"""The names in the globals of simplified modules."""
