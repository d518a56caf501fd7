"""New chunks of a large document, stored in a hidden space first and made visible in one batch.

Nobody sees a part of a document, and the memory that this takes does not depend on its size. A process that ends early
leaves a hidden space, which is deleted after an hour, as those of imports are.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.documents.cuts import Cuts
from muisti.core.documents.planning import Coming, chunk_draft
from muisti.core.embedding.models import Models
from muisti.core.model.documents import Cut
from muisti.core.model.errors import TooLarge
from muisti.core.model.filing import overlap_of
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Draft, Memory
from muisti.core.operations.transfer.importing.staging import write
from muisti.core.operations.transfer.staged import clear
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import imports, spaces
from muisti.core.store.sql.imports import Staged
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import raw
from muisti.core.write.begun import Call
from muisti.core.write.intake import Accepted
from muisti.core.write.prepare import ready

GROUP = 256  # chunks in one transaction
REMOTE_MAX = 10_000  # chunks that a remote database makes visible in one transaction
FLAGS_MAX = 100  # flags that an answer lists

Accept = Callable[[Draft], Accepted]


class Figures(msgspec.Struct):
    """Sums over chunks as they are stored."""

    characters: int = 0
    lines: int = 0
    tokens: int = 0

    def add(self, memory: Memory) -> None:
        """Count what a chunk adds to the text of its document."""
        own = memory.content[overlap_of(memory) :]
        self.characters += len(own)
        self.lines += own.count("\n")
        self.tokens += memory.tokens


class ChunkStaging:
    """New chunks of one document in a hidden space. `flags` are those of the first chunks that have some."""

    def __init__(self, database: Database, models: Models, ids: IdSource, space: SpaceRow, call: Call) -> None:
        self.figures = Figures()
        self.flags: list[Flag] = []
        self.count = 0
        self._database, self._models, self._ids, self._space, self._call = database, models, ids, space, call
        self._staged: Staged | None = None

    def check(self, count: int) -> None:
        """Raise `TooLarge` when a database cannot make so many chunks visible in one transaction."""
        if not self._database.local and count > REMOTE_MAX:
            raise TooLarge(
                f"the document has {count:,} new chunks; a remote database takes {REMOTE_MAX:,} in one transaction: "
                "divide the file, or make larger chunks"
            )

    def add(
        self,
        document: tuple[str, Draft],
        cuts: Cuts,
        coming: Sequence[Coming],
        accept: Accept,
        alive: Callable[[], None],
    ) -> None:
        """Store new chunks of a document, given by its id and draft. `alive` is called between groups, and may raise.

        Raises:
            InvalidInput, SensitiveContent, Forbidden.
            Conflict: the space was erased meanwhile.
        """
        self.check(len(coming))
        self._staged = self._open()
        with ThreadPoolExecutor(1, "muisti-staging") as behind:  # a group is written while the next one is prepared
            written: Future[object] | None = None
            for group in _groups(cuts, coming):
                alive()
                accepted = [accept(chunk_draft(document[1], cut, document[0], one.position)) for one, cut in group]
                now = self._call.now
                made = [one.first(self._space, id_text(self._ids.new(now)), now) for one in accepted]
                batch = self._batch(self._staged, made)
                if written is not None:
                    written.result()
                written = behind.submit(write, self._database, batch)
                for one, memory in zip(accepted, made, strict=True):
                    self.figures.add(memory)
                    self.flags += one.flags[: max(0, FLAGS_MAX - len(self.flags))]
            if written is not None:
                written.result()

    def _batch(self, staged: Staged, made: Sequence[Memory]) -> list[Statement]:
        """Return the statements that stage a group of chunks."""
        now, caller = self._call.now, self._call.caller
        batch = list(imports.touch(staged, now))
        for encoder in self._models.embedding(self._space.space):
            batch.append(spaces.register_generation(encoder.identity, encoder.name, encoder.dimensions, now))
        for new in ready(made, self._space, self._models):
            self.count += 1
            batch += imports.stage(staged, new, self.count, None)
            values = ("created", raw(new.memory.id), 1, now, caller.actor, caller.request, None)
            batch.append(imports.stage_change(staged, self.count, values))
        return batch

    def move(self) -> list[Statement]:
        """Return the statements that make all chunks visible, as changes behind the space's seq."""
        if self._staged is None:
            return []
        staged = self._staged
        *moved, _ = imports.move(staged, (0, self.count), self._call.now, as_it_was=False)
        own = Statement(
            "UPDATE changes SET import_id = NULL WHERE space_id = ? AND import_id = ?", (staged.target.id, staged.id)
        )
        return [spaces.guard(staged.space), *moved, own]

    def clear(self) -> None:
        """Delete the hidden space, if there is one."""
        staged, self._staged = self._staged, None
        if staged is not None:
            clear(self._database, staged.space.id, None)

    def _open(self) -> Staged:
        token, actor = uuid.uuid4().hex, self._call.caller.actor
        batch = imports.begin(token, str(uuid.uuid4()), self._space, actor, None, self._call.now)
        *_, space_id, import_id = write(self._database, batch)
        space = structs.replace(self._space, id=cast(int, space_id[0][0]))
        (found,) = self._database.read([Statement("SELECT epoch FROM spaces WHERE id = ?", (space.id,))])
        space = structs.replace(space, space=structs.replace(space.space, epoch=cast(str, found[0][0])))
        return Staged(cast(int, import_id[0][0]), space, self._space)


def _groups(cuts: Cuts, coming: Sequence[Coming]) -> Iterator[list[tuple[Coming, Cut]]]:
    wanted = {one.cut: one for one in coming}
    group: list[tuple[Coming, Cut]] = []
    for number, cut in enumerate(cuts):
        if number in wanted:
            group.append((wanted[number], cut))
        if len(group) == GROUP:
            yield group
            group = []
    if group:
        yield group
