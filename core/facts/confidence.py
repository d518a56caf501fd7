"""How sure facts are: the share of each kind that was right when facts of conversations were read one by one."""

from muisti.core.model.relations import RelationKind

DEFAULT = 0.85
MEASURED: dict[RelationKind, float] = {}


def of_rule(kind: RelationKind) -> float:
    """Return the precision that was measured for the facts of a kind that rules state."""
    return MEASURED.get(kind, DEFAULT)
