"""Thresholds from which the strength of evidence counts as weak or strong, by model and by space, from a JSON file.

An entry may also have the cosines that unrelated questions find. Questions that ask for advice are judged by them
(core/query/advice.py), or without them as all others.

The file of a model, `evidence.json` in its folder, has one entry. The file that the setting `calibration` names may
have more, and entries for single spaces. An entry is for the model that it was fitted with and for no other.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Evidence, Thresholds
from muisti.core.query.advice import Unrelated

FILE = "evidence.json"

RankedMode = Literal["hybrid", "semantic", "keyword"]

KEYWORD = Thresholds(weak=0.21, strong=0.36)
"""Thresholds of keyword search, which has no model."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds by mode, fitted with the model whose hash is `generation`, for one space or for all."""

    generation: str | None
    space: str | None = None
    modes: Mapping[RankedMode, Thresholds] = msgspec.field(default_factory=dict[RankedMode, Thresholds])
    unrelated: Unrelated | msgspec.UnsetType = msgspec.UNSET


class Calibration:
    """All loaded thresholds. Those of a space take precedence over those of its model."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        entries = list(entries)
        self._modes = {(entry.generation, entry.space): entry.modes for entry in entries}
        self._unrelated = {(entry.generation, entry.space): entry.unrelated for entry in entries if entry.unrelated}

    def level(self, strength: float, mode: str, generation: str | None, space: str) -> Evidence:
        """Return the evidence of an answer; `uncalibrated` when there are no thresholds for the model.

        Modes that do not rank by text (`metadata`, `recent`) have strong evidence when they find anything, else none.
        """
        if mode not in ("hybrid", "semantic", "keyword"):
            return "strong" if strength > 0 else "none"
        if strength <= 0:
            return "none"
        known = self.thresholds(mode, generation, space)
        return "uncalibrated" if known is None else known.level(strength)

    def thresholds(self, mode: str, generation: str | None, space: str) -> Thresholds | None:
        """Return the thresholds of a mode; None for modes that do not rank by text, and for unknown models."""
        if mode not in ("hybrid", "semantic", "keyword"):
            return None
        known = self._modes.get((generation, space), {}).get(mode) or self._modes.get((generation, None), {}).get(mode)
        return KEYWORD if known is None and mode == "keyword" else known

    def unrelated(self, generation: str | None, space: str) -> Unrelated | None:
        """Return the cosines that unrelated questions find; None for models that they were not fitted with."""
        return self._unrelated.get((generation, space)) or self._unrelated.get((generation, None))


def read(path: Path) -> list[Entry]:
    """Return the entries of a file.

    Raises:
        InvalidInput: the file cannot be read, or is no calibration.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Entry])
    except (OSError, msgspec.MsgspecError) as error:
        raise InvalidInput.at("$.calibration", f"{path}: {error}") from error


def write(path: Path, entry: Entry) -> None:
    """Add an entry to a file, in place of the one for the same model and space.

    Raises:
        InvalidInput: the file exists and is no calibration.
        OSError: the file cannot be written.
    """
    others = read(path) if path.exists() else []
    kept = [other for other in others if (other.generation, other.space) != (entry.generation, entry.space)]
    path.write_bytes(msgspec.json.format(msgspec.json.encode([*kept, entry])) + b"\n")
