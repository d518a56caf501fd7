"""Which strengths of evidence count as weak and strong: thresholds by model and by space, read from a JSON file.

A model's own file, `evidence.json` in its folder, has one entry; the file that the setting `calibration` names may have
more, and entries for single spaces. An entry holds for the model that it was fitted with and for no other.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Evidence
from muisti.core.query.evidence import Thresholds

FILE = "evidence.json"

RankedMode = Literal["hybrid", "semantic", "keyword"]

KEYWORD = Thresholds(weak=0.21, strong=0.36)
"""For search by words alone, which has no model."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds by mode, fitted with a model (the hash of its identity), for one space or for all."""

    generation: str | None
    space: str | None = None
    modes: Mapping[RankedMode, Thresholds] = msgspec.field(default_factory=dict[RankedMode, Thresholds])


class Calibration:
    """Thresholds that are known. Those of a space come before those of its model."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._modes = {(entry.generation, entry.space): entry.modes for entry in entries}

    def level(self, strength: float, mode: str, generation: str | None, space: str) -> Evidence:
        """The evidence of an answer; `uncalibrated` when nothing was fitted for the model.

        Modes that rank by no text (`metadata`, `recent`) find what they are asked for or nothing: strong or none.
        """
        if mode not in ("hybrid", "semantic", "keyword"):
            return "strong" if strength > 0 else "none"
        if strength <= 0:
            return "none"
        known = self._modes.get((generation, space), {}).get(mode) or self._modes.get((generation, None), {}).get(mode)
        if known is None and mode == "keyword":
            known = KEYWORD
        return "uncalibrated" if known is None else known.level(strength)


def read(path: Path) -> list[Entry]:
    """The entries of a file.

    Raises:
        InvalidInput: it cannot be read, or is no calibration.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Entry])
    except (OSError, msgspec.MsgspecError) as error:
        raise InvalidInput.at("$.calibration", f"{path}: {error}") from error


def write(path: Path, entry: Entry) -> None:
    """Add an entry to a file, in place of the one for the same model and space.

    Raises:
        InvalidInput: what is there is no calibration.
        OSError: it cannot be written.
    """
    others = read(path) if path.exists() else []
    kept = [other for other in others if (other.generation, other.space) != (entry.generation, entry.space)]
    path.write_bytes(msgspec.json.format(msgspec.json.encode([*kept, entry])) + b"\n")
