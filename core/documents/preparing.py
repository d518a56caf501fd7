"""Decide which chunks a document gets: its cuts are aligned with the chunks that are there, and new ones accepted."""

from collections.abc import Callable, Sequence

from msgspec import structs

from muisti.core.documents.cuts import key_of
from muisti.core.documents.planning import Alignment, Coming, Known, align, chunk_draft, chunks_of, fields_of
from muisti.core.documents.staging import ChunkStaging
from muisti.core.documents.work import Work
from muisti.core.embedding.models import Models
from muisti.core.model.documents import Cut
from muisti.core.model.ids import IdSource
from muisti.core.model.values import Draft
from muisti.core.store.database import Database
from muisti.core.store.sql import version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import count_tokens
from muisti.core.write.begun import Call
from muisti.core.write.intake import Accepted, Intake

CHANGING_MAX = 25_000  # chunks of a large document that one batch changes


class Preparing:
    """Prepare documents, each alone. Thread-safe."""

    def __init__(self, database: Database, models: Models, ids: IdSource, intake: Intake) -> None:
        self._database, self._models, self._ids, self._intake = database, models, ids, intake

    def prepare(self, space: SpaceRow, work: Work, call: Call, alive: Callable[[], None]) -> None:
        """Align the cuts of a document with its chunks, and accept those that are new."""
        cuts = work.incoming.cuts
        known = [] if work.before is None else chunks_of(self._database, space, version_rows.raw(work.id))
        fields = [fields_of(chunk_draft(work.draft, cut, work.id, 0)) for cut in cuts] if known else []
        keys = list(cuts.keys)
        work.alignment = align(known, keys, fields)
        if work.is_large:
            self._stage(space, work, call, alive)
            return
        work.accepted = self._accept(space, work, call)
        if any(one.draft.content != cut.text for one, cut in _pairs(work)):
            self._align_again(space, work, known, keys, fields, call)
        for one in work.alignment.kept:
            work.figures.tokens += one.tokens
        self._count(work)
        work.flags = tuple(flag for one in work.accepted.values() for flag in one.flags)

    def _align_again(
        self,
        space: SpaceRow,
        work: Work,
        known: Sequence[Known],
        keys: list[bytes],
        fields: list[bytes],
        call: Call,
    ) -> None:
        """Align once more, by the texts that the policy of the space lets in."""
        for number, one in work.accepted.items():
            keys[number] = key_of(one.draft.content)
            if known:
                fields[number] = fields_of(one.draft)
        before = work.accepted
        work.alignment = align(known, keys, fields)
        coming = {one.cut for one in work.alignment.coming}
        more = self._accept(space, work, call, but=set(before))
        work.accepted = {number: one for number, one in {**before, **more}.items() if number in coming}

    def _accept(
        self, space: SpaceRow, work: Work, call: Call, but: set[int] | frozenset[int] = frozenset()
    ) -> dict[int, Accepted]:
        wanted = {one.cut: one for one in work.alignment.coming if one.cut not in but}
        return {
            number: self._accepted(space, chunk_draft(work.draft, cut, work.id, wanted[number].position), call, work)
            for number, cut in enumerate(work.incoming.cuts)
            if number in wanted
        }

    def _accepted(self, space: SpaceRow, draft: Draft, call: Call, work: Work) -> Accepted:
        """Accept a chunk; where the policy redacts it, its overlap follows."""
        path = work.incoming.path
        accepted = self._intake.new(space, draft, call, path, echoes=False, hierarchy=True)
        overlap = draft.structure.get("overlap")
        if accepted.draft.content == draft.content or not isinstance(overlap, int):
            return accepted
        repeated = structs.replace(draft, content=draft.content[:overlap])
        before = self._intake.new(space, repeated, call, path, echoes=False, hierarchy=True).draft.content
        text = accepted.draft.content
        kept = len(before) if text.startswith(before) else _common(text, draft.content[:overlap])
        structure = {**accepted.draft.structure, "overlap": kept}
        return structs.replace(accepted, draft=structs.replace(accepted.draft, structure=structure))

    def _count(self, work: Work) -> None:
        """Sum the figures of a document from its chunks as they are stored."""
        for number, cut in enumerate(work.incoming.cuts):
            one = work.accepted.get(number)
            text, overlap = (cut.text, cut.overlap) if one is None else _own(one.draft)
            work.figures.characters += len(text) - overlap
            work.figures.lines += text.count("\n", overlap)
            work.figures.tokens += 0 if one is None else count_tokens(text)
        for one in work.alignment.changing:
            work.figures.tokens += one.known.tokens

    def _stage(self, space: SpaceRow, work: Work, call: Call, alive: Callable[[], None]) -> None:
        """Store the new chunks of a large document in a hidden space. A dry run only counts them."""
        cuts = work.incoming.cuts
        if len(work.alignment.changing) > CHANGING_MAX:  # one batch could not hold them, so they come again
            work.alignment = _anew(work.alignment)
        staging = work.staging = ChunkStaging(self._database, self._models, self._ids, space, call)
        if call.dry_run:
            staging.check(len(work.alignment.coming))
        elif work.alignment.coming:

            def accept(draft: Draft) -> Accepted:
                return self._accepted(space, draft, call, work)

            staging.add((work.id, work.draft), cuts, work.alignment.coming, accept, alive)
        work.flags = staging.flags
        coming = {one.cut for one in work.alignment.coming}
        work.figures = staging.figures
        for number, cut in enumerate(cuts):
            if number not in coming or call.dry_run:
                work.figures.characters += len(cut.text) - cut.overlap
                work.figures.lines += cut.text.count("\n", cut.overlap)
        for one in (*work.alignment.kept, *(each.known for each in work.alignment.changing)):
            work.figures.tokens += one.tokens


def _pairs(work: Work) -> list[tuple[Accepted, Cut]]:
    return [(work.accepted[n], cut) for n, cut in enumerate(work.incoming.cuts) if n in work.accepted]


def _own(draft: Draft) -> tuple[str, int]:
    overlap = draft.structure.get("overlap")
    return draft.content, overlap if isinstance(overlap, int) else 0


def _common(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _anew(alignment: Alignment) -> Alignment:
    """Return an alignment in which the chunks that change end, and new ones come in their place."""
    return Alignment(
        kept=alignment.kept,
        coming=sorted(
            (*alignment.coming, *(Coming(one.cut, one.position) for one in alignment.changing)),
            key=lambda one: one.cut,
        ),
        ended=[*alignment.ended, *(one.known for one in alignment.changing)],
    )
