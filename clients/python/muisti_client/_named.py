"""Names of keyword arguments: shown by `help()` and editors of notebooks, and guessed for one that is misspelt."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

C = TypeVar("C", bound=type[Any])
UNPACKED = re.compile(r"Unpack\[(?:\w+\.)?(\w+)\]")
WHERE = ("options", "_filters")  # modules that declare keyword arguments


class _Unset:
    """Default of an argument that is left out when it is not given, because None means something else."""

    def __repr__(self) -> str:
        return "..."


UNSET: Any = _Unset()


class _Annotation(str):
    """A type as it is written, which `help()` shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def named(cls: C) -> C:
    """Give each verb of a class a signature with the names of its options, and refuse others with a TypeError."""
    for name, member in [*vars(cls).items()]:
        if inspect.isfunction(member) and not name.startswith("_") and _has_options(member):
            setattr(cls, name, _named(member))
    return cls


def _has_options(verb: Callable[..., Any]) -> bool:
    return any(one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD) for one in inspect.signature(verb).parameters.values())


def _named(verb: Callable[..., Any]) -> Callable[..., Any]:
    shown = inspect.Signature([*_parameters(verb)], return_annotation=_written(verb.__annotations__.get("return")))
    known = {*shown.parameters} - {"self"}

    def check(options: Mapping[str, Any]) -> None:
        for name in options.keys() - known:
            raise TypeError(f"{verb.__name__}() has no option {name!r}{_nearest(name, known)}")

    @wraps(verb)
    def call(*arguments: Any, **options: Any) -> Any:
        check(options)
        return verb(*arguments, **options)

    @wraps(verb)
    async def awaited(*arguments: Any, **options: Any) -> Any:
        check(options)
        return await verb(*arguments, **options)

    checked = awaited if inspect.iscoroutinefunction(verb) else call
    checked.__dict__["__signature__"] = shown  # which `inspect` looks for
    return checked


def _parameters(verb: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a verb; those of its options take the place of `**options`."""
    for one in inspect.signature(verb).parameters.values():
        if one.kind is not one.VAR_KEYWORD:
            yield one.replace(annotation=_written(one.annotation))
            continue
        for name, kind in _options(str(one.annotation)).items():
            yield inspect.Parameter(name, one.KEYWORD_ONLY, default=UNSET, annotation=_Annotation(kind))


def _options(annotation: str) -> dict[str, str]:
    name = UNPACKED.sub(r"\1", annotation)
    for module in WHERE:
        if declared := getattr(import_module(f".{module}", __package__), name, None):
            return {field: _text(kind) for field, kind in declared.__annotations__.items()}
    raise TypeError(f"no options are called {name}")


def _text(kind: Any) -> str:
    return getattr(kind, "__forward_arg__", None) or inspect.formatannotation(kind)


def _written(annotation: Any) -> Any:
    return _Annotation(annotation) if isinstance(annotation, str) else annotation


def _nearest(name: str, known: set[str]) -> str:
    found = import_module("difflib").get_close_matches(name, sorted(known), 1)
    return f"; did you mean {found[0]!r}?" if found else f"; it has {', '.join(sorted(known))}"
