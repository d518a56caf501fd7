"""Replies read their fields from a value of the core: by name, inside of its parts, or where they are declared."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.values import Seq
from muisti.service.schemas.copying import Reply


class Inner(Struct, frozen=True):
    name: str
    size: int = 3


class Value(Struct, frozen=True):
    number: int
    at: Seq
    inner: Inner
    name: str = "outer"


class Shown(Reply, frozen=True, kw_only=True):
    within = ("inner",)
    named = {"seq": "at", "id": "number", "called": "inner.name"}

    id: str
    seq: str
    name: str
    size: int
    called: str
    missing: int | UnsetType = UNSET


def test_fields_come_from_the_value_then_from_its_parts_and_from_where_they_are_declared():
    value: Any = Value(7, Seq("e", 2), Inner("inner"))
    assert Shown.of(value) == Shown(id="7", seq="e:2", name="outer", size=3, called="inner")
    assert Shown.of(value, size=9, called="x").size == 9
