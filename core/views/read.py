"""Read memories by name, in lists and by search, at any point of history, and make contexts of them for prompts."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from muisti.core.conversations.context.builder import Builder
from muisti.core.conversations.context.choosing import Candidate
from muisti.core.conversations.context.counting import ENCODINGS as ENCODINGS
from muisti.core.conversations.context.counting import USUAL as USUAL
from muisti.core.conversations.context.request import LISTED, check_request, handoff
from muisti.core.conversations.context.request import Request as Request
from muisti.core.documents.anchors import Anchors
from muisti.core.graph.pagerank import EntityFilters, names_entities
from muisti.core.model.context import Context
from muisti.core.model.errors import Forbidden, NotFound, StoreUnavailable
from muisti.core.model.filed import Changed, FileVersion, Folder, Item
from muisti.core.model.hits import Answer, Evidence, Hit, JointAnswer
from muisti.core.model.ids import id_bytes, id_text, imported_ids
from muisti.core.model.operations import Imported
from muisti.core.model.outcomes import Counts, Events, Stats, Warmed
from muisti.core.model.values import Found, History, Memory, Name, Page, Seq, Version
from muisti.core.operations.transfer.export import Export
from muisti.core.operations.transfer.importing.importer import Importer
from muisti.core.query.filters import Filter
from muisti.core.query.points import AsOf, Point, Wanted
from muisti.core.query.query import Part, Query
from muisti.core.read import listing
from muisti.core.read.diff import compared
from muisti.core.read.feed import changes_of
from muisti.core.read.hierarchy import resolved_at, situated
from muisti.core.read.listing import order_of, page, page_of
from muisti.core.read.reading import AskAt, find_space, last_id, named, read, read_at, shown
from muisti.core.read.statistics import AUTHORS, CATEGORIES, TAGS, Mapped, mapped, vectors_of
from muisti.core.read.tallies import Tallies
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.asking import Asking, check_parts
from muisti.core.search.searcher import Searcher
from muisti.core.store.database import Database, Rows
from muisti.core.store.sql import memories, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import WouldWait, without_waiting
from muisti.core.write.calls import Calls
from muisti.core.write.echoes import RecentResults
from muisti.core.write.validate import check_query

Answers = TypeVar("Answers", Answer, JointAnswer)

# Contexts: texts for prompts, made from the memories that a caller sees


class Contexts(msgspec.Struct, frozen=True, kw_only=True):
    """Contexts for one caller. Memories that are shown count as retrieved, as those of a search do."""

    calls: Calls
    builder: Builder
    retrievals: Retrievals
    recent_results: RecentResults

    def build(self, space: str, request: Request) -> Context:
        """Return a text of at most `request.token_budget` tokens, with what it rests on; see `Builder.context`.

        The caller must be allowed to read each space: this view knows memories, no grants of spaces.

        Raises:
            InvalidInput: a part of the request cannot be, such as an encoding that is not on board.
        """
        check_request(request)
        query = request.search(request.filter, 1, None)
        check_query(query)
        if request.spaces:
            check_parts(request.spaces, query)
        now = self.calls.clock()
        context, memories = self.builder.context(space, request, self.calls.caller, now)
        self._note(request, context, [*memories.values()], now)
        return context

    def handoff(self, space: str, about: str, token_budget: int, encoding: str) -> Context:
        """Return what the next agent must know: what was decided, tried, failed or rejected, open ends, the last turns.

        Raises what `build` does.
        """
        check_request(request := handoff(about, token_budget, encoding, None))
        last = self.builder.last_conversation(space, self.calls.caller, self.calls.clock())
        return self.build(space, request if last is None else handoff(about, token_budget, encoding, last))

    def candidates(self, space: str, request: Request) -> Sequence[Candidate]:
        """Return what the memories of a context are chosen from, best first. They do not count as retrieved."""
        check_request(request)
        return self.builder.candidates(space, request, self.calls.caller, self.calls.clock())

    def _note(self, request: Request, context: Context, memories: Sequence[Memory], now: int) -> None:
        """Note to whom the memories were shown; those that a search found count as retrieved."""
        found = {one.id for one in context.citations if one.section not in LISTED}
        for space in context.spaces:
            epoch = space.seq.rpartition(":")[0]
            own = [memory for memory in memories if memory.space == space.name]
            self.recent_results.note(self.calls.caller.actor, epoch, own, now)
            touched = [memory.id for memory in own if memory.id in found]
            if touched and space.evidence != "none" and not request.no_touch and request.as_of is None:
                self.retrievals.note(epoch, touched, now)


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """Reads as one caller. `get` and `search` count as retrievals."""

    calls: Calls
    database: Database
    searcher: Searcher
    asking: Asking
    entities: EntityFilters
    retrievals: Retrievals
    recent_results: RecentResults
    importer: Importer
    anchors: Anchors
    tallies: Tallies

    def get(self, space: str, name: Name, *, as_of: AsOf | None = None, no_touch: bool = False) -> Found:
        """Return a current memory, or one that was current at a point of history.

        It counts as retrieved, unless `no_touch`; what is read of the past does not. The id that an imported memory
        had in another system finds it, too.

        Raises:
            NotFound: there is none, it is deleted, superseded or has expired.
        """
        try:
            return self._get(space, name, as_of, no_touch=no_touch)
        except NotFound:
            for one in imported_ids(space, name) if isinstance(name, str) else ():
                with suppress(NotFound):
                    return self._get(space, one, as_of, no_touch=no_touch)
            raise

    def _get(self, space: str, name: Name, as_of: AsOf | None, *, no_touch: bool) -> Found:
        found, point, (rows,) = self._at(space, as_of, lambda row, point: [named(row, name, point)])
        memory = shown(rows, space, name, self.calls.caller, point.time)
        if not no_touch and as_of is None:
            self.retrievals.note(found.seq.epoch, [memory.id], self.calls.clock())
        (memory,) = self._checked(situated(self.database, found, [memory], point), as_of)
        return Found(memory=memory, seq=found.seq)

    def history(
        self,
        space: str,
        name: Name,
        *,
        most: int | None = None,
        characters: int | None = None,
        before: int | None = None,
    ) -> History:
        """Read versions of a memory, of a deleted one too: all, or a page of those before the version `before`.

        A page has at most `most` versions, and its texts about `characters` characters. An address names the memory
        that is there, expired or not, else the last that was.

        Raises:
            NotFound: there never was one.
        """
        database = self.database
        memory_id = last_id(database, find_space(database, space), name, self.calls.caller)
        raw = id_bytes(memory_id)
        if raw is None:
            raise NotFound("memory", memory_id)
        wanted = None if most is None else most + 1  # the changes of the last one are those from the one before it
        found, (newest, rows, chain) = read(
            database,
            space,
            lambda row: [
                memories.history(row, raw, 1),
                memories.history(row, raw, wanted, before),
                memories.chain(row, raw),
            ],
        )
        shows = self.calls.caller.shows
        if not newest or not shows(version_rows.memory(newest[0], space).category):
            raise NotFound("memory", memory_id)
        versions = [version_rows.version(row, space) for row in rows]
        point = Point(None, self.calls.clock())
        memories_of = situated(database, found, (one.memory for one in versions), point)
        versions = [replace(one, memory=memory) for one, memory in zip(versions, memories_of, strict=True)]
        kept = _within(versions, most, characters)
        seen = [version for version in versions[: kept + 1] if shows(version.memory.category)]
        links = tuple(id_text(cast(bytes, row[0])) for row in chain if shows(row[1]))
        last = versions[kept - 1].memory.version if kept < len(versions) else None
        return History(
            versions=tuple(one for one in compared(seen) if last is None or one.memory.version >= last),
            chain=links,
            seq=found.seq,
            earlier=last,
        )

    def search(self, space: str, query: Query, max_age: float = 0.0) -> Answer:
        """Return the memories that best answer a query; see `Searcher.search`."""
        check_query(query)
        now, caller = self.calls.clock(), self.calls.caller
        answer = self._judged(self.asking.one(space, query, caller, now, max_age), query.as_of)
        self._note(query, answer.hits, answer.evidence, answer.seq, now)
        return answer

    def search_spaces(
        self, parts: Sequence[Part], query: Query, max_age: float = 0.0, elsewhere: Mapping[str, "Read"] = {}
    ) -> JointAnswer:
        """Return the memories of several spaces that best answer a query; see `Asking.several`.

        `elsewhere` has the views of spaces in other databases.

        The caller must be allowed to read each of them: this view knows memories, no grants of spaces.
        """
        check_query(query)
        now = self.calls.clock()
        others = {space: view.asking for space, view in elsewhere.items()}
        found = self.asking.several(parts, query, self.calls.caller, now, max_age, others)
        answer = self._judged(found, query.as_of)
        for one in answer.spaces:
            hits = [hit for hit in answer.hits if hit.memory.space == one.name]
            elsewhere.get(one.name, self)._note(query, hits, one.evidence, one.seq, now)
        return answer

    def search_at_once(self, space: str, query: Query, max_age: float = 0.0, *, alone: bool = True) -> Answer:
        """Search on an event loop; see `Searcher.search_at_once`.

        Raises:
            WouldWait: this may take more than a millisecond or two; `search` on a thread.
        """
        check_query(query)
        if query.filter is not None and names_entities(query.filter):  # the graph may have to catch up
            raise WouldWait
        now = self.calls.clock()
        with without_waiting():
            own = self.asking.own(space, query, self.calls.caller, now)
            answer = self._judged(self.searcher.search_at_once(space, own, now, max_age, alone=alone), query.as_of)
            self._note(query, answer.hits, answer.evidence, answer.seq, now)
            return answer

    def categories(self, space: str, *, as_of: AsOf | None = None) -> Counts:
        """Count the active memories of each category."""
        return self.tallies.names(space, CATEGORIES, self.calls.caller.category, as_of, self.calls.clock())

    def tags(self, space: str, *, as_of: AsOf | None = None) -> Counts:
        """Count the active memories of each tag."""
        return self.tallies.names(space, TAGS, self.calls.caller.category, as_of, self.calls.clock())

    def authors(self, space: str, *, as_of: AsOf | None = None) -> Counts:
        """Count the active memories of each author."""
        return self.tallies.names(space, AUTHORS, self.calls.caller.category, as_of, self.calls.clock())

    def warm(self, space: str) -> Warmed:
        """Load what the next search of a space would wait for; see `Searcher.warm`."""
        return self.searcher.warm(space)

    def stats(self, space: str, *, as_of: AsOf | None = None) -> Stats:
        """Return sizes and rates of what the caller sees of a space; the quota is of the present alone."""
        return self.tallies.stats(space, self.calls.caller.category, as_of, self.calls.clock())

    def map(self, space: str, *, filter: Filter | None = None, limit: int = 1_000, as_of: AsOf | None = None) -> Mapped:
        """Return the newest memories in two dimensions, by their vectors; see `core.read.statistics`."""
        caller, now = self.calls.caller, self.calls.clock()
        filter, _ = self.entities.meant(space, filter, caller, as_of, now)
        own = resolved_at(self.database, space, caller.only(filter), as_of, now)
        found, _, (rows,) = self._at(space, as_of, lambda row, point: [vectors_of(row, own, limit, point)])
        return mapped(found, rows)

    def changes(self, space: str, wanted: Wanted) -> Events:
        """Return the changes of a space; see `core.read.feed`."""
        return changes_of(self.database, space, wanted, self.calls.caller)

    def files(self, space: str, folder: Folder) -> tuple[Sequence[Item], bool]:
        """Return a page of the memories below a path, in the order of their paths, and whether there are more."""
        return listing.items(self.database, space, folder, self.calls.caller, self.calls.clock())

    def file_versions(self, space: str, asked: Changed) -> tuple[Sequence[FileVersion], bool]:
        """Return a page of what was done to memories with a path, newest first, and whether there is more."""
        return listing.versions(self.database, space, asked, self.calls.caller)

    def imports(self, space: str) -> Sequence[Imported]:
        """Return the imports of a space, newest first."""
        return self.importer.known(space)

    def export(self, space: str, version: str, *, vectors: bool = True) -> Export:
        """Return all that a space has, its history too; `version` is that of Muisti. See `Export`.

        Raises:
            Forbidden: there are memories that the caller does not see.
        """
        if not self.calls.caller.sees_all:
            raise Forbidden("export and import need a key that sees the whole space, in every category")
        with suppress(StoreUnavailable):  # a count that cannot be written is no reason to read nothing
            self.retrievals.flush()
        return Export(self.database, space, self.calls.clock(), version, vectors=vectors)

    def list(
        self,
        space: str,
        *,
        filter: Filter | None = None,
        limit: int = 50,
        sort: str | None = None,
        cursor: str | None = None,
        as_of: AsOf | None = None,
    ) -> Page:
        """List memories that are or were current; `sort` is one of `SORTS`, else that of the cursor."""
        caller, order, now = self.calls.caller, order_of(sort, cursor), self.calls.clock()
        filter, lacks = self.entities.meant(space, filter, caller, as_of, now)
        own = caller.only(filter)
        own = resolved_at(self.database, space, own, as_of, now)
        found, at, (rows,) = self._at(space, as_of, lambda row, point: [page_of(row, own, limit, order, cursor, point)])
        listed = page(found, rows, limit, order)
        items = self._checked(situated(self.database, found, listed.items, at), as_of)
        return replace(listed, items=tuple(items), degraded=lacks)

    def _checked(self, memories: Sequence[Memory], as_of: AsOf | None) -> Sequence[Memory]:
        """Return memories with the states of their anchors, which are about the present alone."""
        cited = as_of is None and any([one.anchors for one in memories])
        return self.anchors.checked(memories, self.calls.caller, self.calls.clock()) if cited else memories

    def _judged(self, answer: Answers, as_of: AsOf | None) -> Answers:
        """Return an answer whose hits and instructions have the states of their anchors."""
        memories = [one.memory for one in (*answer.hits, *answer.instructions)]
        checked = self._checked(memories, as_of)
        if checked is memories:
            return answer
        hits = tuple(replace(hit, memory=memory) for hit, memory in zip(answer.hits, checked, strict=False))
        rest = zip(answer.instructions, checked[len(hits) :], strict=True)
        return replace(answer, hits=hits, instructions=tuple(replace(one, memory=memory) for one, memory in rest))

    def _at(self, space: str, as_of: AsOf | None, ask: AskAt) -> tuple[SpaceRow, Point, Sequence[Rows]]:
        return read_at(self.database, space, as_of, self.calls.clock(), ask)

    def _note(self, query: Query, hits: Sequence[Hit], evidence: Evidence, seq: Seq, now: int) -> None:
        """Note to whom the hits were shown; they count as retrieved when there is evidence that they answer.

        The echo check asks what somebody has read, which is every hit and its neighbours. Retrievals promote and
        refresh memories, so the nearest of what is not about the query must not count.
        """
        read = [hit.memory for hit in hits]
        counts = evidence != "none" and not query.no_touch and query.as_of is None
        if read and counts:
            self.retrievals.note(seq.epoch, [memory.id for memory in read], now)
        for hit in hits if query.options is not None else ():
            if hit.context is not None:
                read += (*hit.context.before, *hit.context.after)
        self.recent_results.note(self.calls.caller.actor, seq.epoch, read, now)


def _within(versions: Sequence[Version], most: int | None, characters: int | None) -> int:
    """Return how many of the first versions a page has: at least one."""
    length = 0
    for place, one in enumerate(versions):
        length += len(one.memory.content)
        if place and ((most is not None and place >= most) or (characters is not None and length > characters)):
            return place
    return len(versions)
