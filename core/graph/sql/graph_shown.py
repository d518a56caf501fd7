"""Conditions on the versions that a caller sees in the graph of a space at a point, and lists of ids as arguments."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from muisti.core.query.points import Point
from muisti.core.store.database import Scalar
from muisti.core.store.sql.points import lived
from muisti.core.store.sql.version_rows import UNEXPIRED

IDS = "json_each(?) t"
LISTED = "(SELECT value FROM json_each(?))"


class Shown(NamedTuple):
    """The versions that a caller sees at a point: those of one folded category, or of all."""

    point: Point
    category: str | None

    @property
    def sql(self) -> str:
        """The condition on a row `v`."""
        own = "" if self.category is None else " AND v.category_folded = ?"
        return f"{lived(self.point)[0]} AND v.status <> 'superseded' AND {UNEXPIRED}{own}"

    @property
    def args(self) -> tuple[Scalar, ...]:
        own = () if self.category is None else (self.category,)
        return (*lived(self.point)[1], self.point.time, *own)

    def mentioned(self, entity: str) -> str:
        """Return the condition that a version that is seen mentions an entity."""
        return (
            "EXISTS (SELECT 1 FROM mentions n CROSS JOIN versions v ON v.id = n.version_id "
            f"WHERE n.entity_id = {entity} AND {self.sql})"
        )


def ids_text(ids: Iterable[int]) -> str:
    """Return ids as the argument of `IDS` or `LISTED`, in order."""
    return json.dumps(sorted(ids))
