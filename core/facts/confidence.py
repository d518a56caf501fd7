"""Confidence of facts that rules state.

The constants are shares of right facts among those that a person read: 100 of conversations, and all of 150 texts that
state a preference. None of these texts was in view when the rules were written. Shares are (right + 1) / (read + 2).
"""

from muisti.core.model.relations import RelationKind

MEASURED: dict[RelationKind, float] = {"likes": 0.91, "dislikes": 0.94, "avoids": 0.97, "prefers": 0.84}
OTHERS = 0.94  # of the other kinds together: 29 were read


def of_rule(kind: RelationKind) -> float:
    """Return the share of the facts of a kind that are right."""
    return MEASURED.get(kind, OTHERS)
