"""Replies and requests whose fields are those of another value."""

from typing import Any, TypeVar, cast

T = TypeVar("T")


def copied(kind: type[T], value: object, **more: Any) -> T:
    """Return a struct of a kind with the fields that a value has by the same names; `more` has those that differ.

    >>> from msgspec import defstruct
    >>> Point, Place = defstruct("Point", ["x", "y"]), defstruct("Place", ["x", "name"])
    >>> copied(Place, Point(1, 2), name="there")
    Place(x=1, name='there')
    """
    names = (name for name in cast(Any, kind).__struct_fields__ if name not in more)
    return kind(**{name: getattr(value, name) for name in names}, **more)
