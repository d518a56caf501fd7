"""Replies and requests whose fields are those of another value."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import attrgetter
from types import NoneType
from typing import Any, ClassVar, Self, TypeVar, cast, get_args, get_type_hints

from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.values import Seq

T = TypeVar("T")


class Reply(Struct, frozen=True, kw_only=True):
    """A reply whose fields have the names of those of a value of the core.

    Fields that the value lacks are sought in its attributes `within`; `named` has the attributes of those whose names
    differ. Both may have dots.
    """

    within: ClassVar[Sequence[str]] = ()
    named: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def of(cls, value: Any, /, **more: Any) -> Self:
        """Return the reply with the fields of a value; `more` has those that differ.

        Values in fields become replies where these are declared; points of history, and numbers where texts are
        declared, become texts. None becomes absent where a field is never null. Fields that are nowhere keep their
        defaults.
        """
        values = [value, *(attrgetter(part)(value) for part in cls.within)]
        given = dict[str, Any]()
        for name, read, fit in _fits(cls):
            if name not in more:
                for one in values:
                    if (found := read(one)) is not UNSET:
                        given[name] = fit(found)
                        break
        return cls(**given, **more)

    @classmethod
    def each(cls, values: Iterable[Any]) -> list[Self]:
        """Return the replies of several values."""
        return [cls.of(value) for value in values]


class Same(Reply, frozen=True, kw_only=True):
    """A reply with the very fields of its value, which encodes to the same bytes."""

    @classmethod
    def of(cls, value: Any, /, **more: Any) -> Self:
        """Return the value itself, without a copy."""
        return cast(Self, value)


def copied(kind: type[T], value: object, **more: Any) -> T:
    """Return a struct of a kind with the fields that a value has by the same names; `more` has those that differ.

    >>> from msgspec import defstruct
    >>> Point, Place = defstruct("Point", ["x", "y"]), defstruct("Place", ["x", "name"])
    >>> copied(Place, Point(1, 2), name="there")
    Place(x=1, name='there')
    """
    names = (name for name in cast(Any, kind).__struct_fields__ if name not in more)
    return kind(**{name: getattr(value, name) for name in names}, **more)


@cache
def _fits(kind: type[Reply]) -> list[tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]:
    """Return each field of a reply with the functions that read it from a value of the core, and that fit it."""
    hints = get_type_hints(kind)
    return [
        (name, _reader(kind.named.get(name, name)), _fit([*_parts(hints[name])])) for name in kind.__struct_fields__
    ]


def _reader(path: str) -> Callable[[Any], Any]:
    first, *rest = path.split(".")
    if not rest:
        return lambda value: getattr(value, first, UNSET)
    return lambda value: reduce(lambda one, part: getattr(one, part, UNSET), [first, *rest], value)


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield the classes that an annotation is composed of."""
    inner = get_args(annotation)
    yield from (part for one in inner for part in _parts(one)) if inner else (annotation,)


def _fit(parts: list[Any]) -> Callable[[Any], Any]:
    reply = next((part for part in parts if Reply in getattr(part, "__mro__", ())), None)
    null = UNSET if UnsetType in parts and NoneType not in parts else None
    is_text = {*parts} <= {str, NoneType, UnsetType}

    def fit(value: Any) -> Any:
        if value is None:
            return null
        if isinstance(value, Seq) or type(value) is int and is_text:
            return str(value)
        if isinstance(value, Mapping):
            return dict(cast(Mapping[str, Any], value))
        if reply is None:
            return value
        many = isinstance(value, list | tuple)
        return [reply.of(one) for one in cast(list[Any], value)] if many else reply.of(value)

    return fit
