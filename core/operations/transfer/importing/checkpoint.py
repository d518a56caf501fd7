"""The state of an import between two batches, with which another process goes on."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.imports import LineProblem
from muisti.core.model.outcomes import Flag
from muisti.core.operations.transfer.importing.incoming import Incoming, Tally
from muisti.core.operations.transfer.importing.lines import Reached
from muisti.core.operations.transfer.importing.moving import Begun
from muisti.core.operations.transfer.records import Header
from muisti.core.store.sql.spaces import SpaceRow


class Moving(msgspec.Struct, frozen=True):
    """Numbers of the staged memories and versions, the last change of the file, and where the move is."""

    memories: int
    versions: int
    top: int
    begun: Begun

    @property
    def is_over(self) -> bool:
        return self.begun.after >= self.top


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """State of an import after `offset` bytes of its file. `staged` are the ids of the import and its hidden space.

    `now` is the time of the import in microseconds, which all of its memories have.
    """

    now: int
    offset: int = 0
    reached: Reached = Reached()
    header: Header | None = None
    staged: tuple[int, int] | None = None
    lost: tuple[str, ...] = ()
    failed: int = 0
    failures: tuple[LineProblem, ...] = ()
    flags: tuple[Flag, ...] = ()
    skipped: Mapping[str, int] = {}
    vectors: tuple[int, int] = (0, 0)
    versions: int = 0
    moving: Moving | None = None

    @classmethod
    def of(
        cls, file: Incoming, reached: Reached, offset: int, staged: tuple[int, int] | None, moving: Moving | None
    ) -> "Checkpoint":
        """Return the state of an import."""
        tally = file.tally
        return cls(
            now=file.now,
            offset=offset,
            reached=reached,
            header=file.header,
            staged=staged,
            lost=tuple(sorted(file.lost)),
            failed=tally.failed,
            failures=tuple(tally.failures),
            flags=tuple(tally.flags),
            skipped=dict(tally.skipped),
            vectors=(tally.kept, tally.embedded),
            versions=tally.versions,
            moving=moving,
        )

    def incoming(self, target: SpaceRow, caller: Caller, generation: str | None, *, atomic: bool) -> Incoming:
        """Return the state that the modules of an import share."""
        kept, embedded = self.vectors
        tally = Tally(
            self.failed, list(self.failures), list(self.flags), Counter(self.skipped), kept, embedded, self.versions
        )
        return Incoming(
            target=target,
            caller=caller,
            now=self.now,
            atomic=atomic,
            dry_run=False,
            generation=generation,
            header=self.header,
            lost=set(self.lost),
            tally=tally,
        )

    def text(self) -> str:
        """Return the state as JSON."""
        return msgspec.json.encode(self).decode()


# Built at import: msgspec (0.22) analyses a type on first use, and crashes when several threads do that together.
_DECODER = msgspec.json.Decoder(Checkpoint)


def read(text: str) -> Checkpoint | None:
    """Return the state in a text that `Checkpoint.text` made; None for an empty one."""
    return _DECODER.decode(text) if text else None
