"""Pass criteria of a load test."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.tables import Table


@dataclass(frozen=True, slots=True)
class Gate:
    """A figure that may not be larger than its limit."""

    what: str
    found: float
    limit: float

    @property
    def holds(self) -> bool:
        return self.found <= self.limit


def table(gates: Sequence[Gate]) -> Table:
    rows = [[gate.what, f"{gate.found:,.1f}", f"{gate.limit:,.1f}", "" if gate.holds else "BROKEN"] for gate in gates]
    return Table("gates", "limits", ["what", "found", "at most", ""], rows)
