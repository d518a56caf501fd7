"""Receipts store, on request, a search and its answer, so that the search can be repeated and compared."""

from collections.abc import Callable
from typing import cast, get_args

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.context import Context
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.hits import Answer, Evidence
from muisti.core.model.ids import IdSource, id_bytes, id_text
from muisti.core.model.quality import (
    ListedReceipt,
    Moved,
    Receipt,
    ReceiptHit,
    ReceiptPage,
    Told,
    Why,
    asks_for_context,
)
from muisti.core.model.times import DAY_US, from_us
from muisti.core.model.values import LIMIT_MAX, Memory, Seq
from muisti.core.read.reading import find_space, read
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import memories, quality, spaces, version_rows
from muisti.core.store.sql.quality import Kept, KeptHit, KeptLine
from muisti.core.store.sql.version_rows import WIDTH
from muisti.core.text.terms import fold

KEPT_MAX = 10_000  # in a space
FORGET_MAX = 500  # receipts in one step


class _Fate(msgspec.Struct, frozen=True, kw_only=True):
    """State of a memory: its last version, whether that has ended, and the changes of this and the first version."""

    memory: Memory
    is_dead: bool
    born: int
    first: int


class Receipts:
    """Receipts of all spaces. Instances are thread-safe."""

    def __init__(self, database: Database, ids: IdSource, days: float) -> None:
        """`days` is how long receipts are kept."""
        self._database = database
        self._ids = ids
        self._kept_us = int(days * DAY_US)

    def keep(
        self, space: str, parameters: bytes, answer: Answer | Context, reference_time: int, caller: Caller, now: int
    ) -> str:
        """Store the answer of a search, or a context. Return the receipt's id. Times are in microseconds.

        Raises:
            NotFound: the space was erased meanwhile.
        """
        found = find_space(self._database, space)
        id_ = self._ids.new(now)
        shown = _shown(answer)
        told = Told(
            total=answer.total if isinstance(answer, Answer) else len(shown) + answer.left_out_total,
            evidence=answer.evidence,
            strategy=answer.strategy,
            degraded=answer.degraded,
            ranks=tuple(one.ranks for one in shown),
        )
        category = None if caller.category is None else fold(caller.category)
        kept = Kept(
            id_, found.id, space, found.space.epoch, now, caller.actor, category, answer.seq.number,
            found.space.generation, reference_time, parameters.decode(), msgspec.json.encode(told).decode(),
        )  # fmt: skip
        hits = [KeptHit(one.rank, version_rows.raw(one.memory_id), one.version, one.score) for one in shown]
        try:
            self._database.write([spaces.guard(found), *quality.insert_receipt(found, kept, hits, KEPT_MAX)])
        except Refused as refused:
            raise NotFound("space", space) from refused
        return id_text(id_)

    def get(self, receipt_id: str, reaches: Callable[[str], bool], caller: Caller, now: int) -> Receipt:
        """Return a receipt of a space that the caller may read.

        Raises:
            NotFound: there is none that the caller may see.
        """
        raw = id_bytes(receipt_id)
        rows, hits = self._database.read(quality.receipt_by_id(raw)) if raw is not None else ([], [])
        one = Kept._make(rows[0]) if rows else None
        if one is None or not reaches(one.space) or one.made_at < now - self._kept_us or not _is_theirs(one, caller):
            raise NotFound("receipt", receipt_id)
        told = _read(one.answer)
        return Receipt(
            id=id_text(one.id),
            space=one.space,
            at=Seq(one.epoch, one.seq),
            made_at=from_us(one.made_at),
            actor=one.actor,
            category=one.category,
            generation=one.generation,
            reference_time=from_us(one.reference_time),
            parameters=one.parameters.encode(),
            told=told,
            hits=tuple(_hit(KeptHit._make(row), told) for row in hits),
        )

    def list(
        self,
        space: str,
        caller: Caller,
        now: int,
        *,
        actor: str | None = None,
        since: int | None = None,
        until: int | None = None,
        evidence: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> ReceiptPage:
        """Return receipts of a space that the caller may see, newest first; `since` and `until` are in microseconds.

        Raises:
            NotFound: there is no such space.
            InvalidInput: the limit is out of range, or the cursor or the level of evidence is none of ours.
        """
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
        after = None if cursor is None else id_bytes(cursor)
        if cursor is not None and after is None:
            raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor of this list")
        if evidence is not None and evidence not in get_args(Evidence):
            raise InvalidInput.at("$.evidence", f"{evidence[:40]!r} is none of {', '.join(get_args(Evidence))}")
        category = None if caller.category is None else fold(caller.category)
        chosen = quality.Chosen(category, actor, since, until, evidence)
        found, (rows,) = read(
            self._database,
            space,
            lambda row: [quality.receipts_listed(row, chosen, now - self._kept_us, limit + 1, after)],
        )
        lines = [_line(KeptLine._make(row), found.space.epoch) for row in rows[:limit]]
        more = len(rows) > limit
        return ReceiptPage(items=tuple(lines), next_cursor=lines[-1].id if more else None, seq=found.seq)

    def compared(self, receipt: Receipt, answer: Answer | Context, now: int) -> tuple[Moved, ...]:
        """Return the memories whose ranks differ between a receipt and an answer of now, those of the receipt first."""
        space = find_space(self._database, receipt.space)
        before = {hit.memory_id: hit.rank for hit in receipt.hits}
        after = {hit.memory_id: hit.rank for hit in _shown(answer)}
        differing = [one for one in dict.fromkeys([*before, *after]) if before.get(one) != after.get(one)]
        if not differing:
            return ()
        (rows,) = self._database.read([quality.fates(space.id, [version_rows.raw(one) for one in differing])])
        fates: dict[str, _Fate] = {}
        for row in rows:
            memory = version_rows.memory(row, receipt.space)
            died, born, first = cast(tuple[int | None, int, int | None], row[WIDTH : WIDTH + 3])
            first = receipt.at.number if memory.id in before else first or born  # a redacted hit has lost versions
            fates[memory.id] = _Fate(memory=memory, is_dead=died is not None, born=born, first=first)
        is_other_model = space.space.generation != receipt.generation
        return tuple(
            Moved(
                memory_id=one,
                before=before.get(one),
                after=after.get(one),
                why=_why(fates.get(one), receipt, now, is_other_model=is_other_model),
                superseded_by=fates[one].memory.superseded_by if one in fates else None,
            )
            for one in differing
        )

    def forget(self, now: int) -> bool:
        """Delete some receipts that are too old. Return whether more are left."""
        *_, ((left,),) = self._database.write(quality.forget_receipts(now - self._kept_us, FORGET_MAX))
        return cast(int, left) > 0


def _shown(answer: Answer | Context) -> list[ReceiptHit]:
    """Return the memories of an answer in its order; of a context those in the text."""
    if isinstance(answer, Context):
        return [
            ReceiptHit(rank=one.n, memory_id=one.id, version=one.version, score=one.score or 0.0, ranks={})
            for one in answer.citations
        ]
    return [
        ReceiptHit(rank=rank, memory_id=hit.memory.id, version=hit.memory.version, score=hit.score, ranks=hit.ranks)
        for rank, hit in enumerate(answer.hits, start=1)
    ]


def _is_theirs(one: Kept, caller: Caller) -> bool:
    """Return whether a caller may see a receipt. A caller of one category sees only receipts of that category."""
    return caller.category is None or one.category == fold(caller.category)


def _line(one: KeptLine, epoch: str) -> ListedReceipt:
    told, parameters = _read(one.answer), one.parameters.encode()
    return ListedReceipt(
        id=id_text(one.id),
        at=Seq(epoch, one.seq),
        made_at=from_us(one.made_at),
        actor=one.actor,
        kind="context" if asks_for_context(parameters) else "search",
        query=_query(parameters).query,
        evidence=told.evidence,
        strategy=told.strategy,
        total=told.total,
        hits=one.hits,
    )


def _hit(one: KeptHit, told: Told) -> ReceiptHit:
    return ReceiptHit(
        rank=one.rank,
        memory_id=id_text(one.memory_id),
        version=one.version,
        score=one.score,
        ranks=told.ranks[one.rank - 1],
    )


def _why(fate: _Fate | None, receipt: Receipt, now: int, *, is_other_model: bool) -> Why:
    """Return why the rank of a memory has changed."""
    if fate is None:
        return "erased"
    memory = fate.memory
    if fate.is_dead:
        return "deleted"
    if memory.superseded_by is not None:
        return "superseded"
    if memories.is_expired(memory, now):
        return "expired"
    if fate.first > receipt.at.number:
        return "new"
    if fate.born > receipt.at.number:
        return "changed" if memory.status == "active" else "status"
    return "model" if is_other_model else "others"


class _Asked(msgspec.Struct, frozen=True):
    """The text of the request of a receipt."""

    query: str = ""


_read = msgspec.json.Decoder(Told).decode
_query = msgspec.json.Decoder(_Asked).decode
