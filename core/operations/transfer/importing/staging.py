"""Stage the lines that were read in a hidden space."""

import math
import struct
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from msgspec.structs import replace

from muisti.core.embedding.models import Models, card_of
from muisti.core.model.collisions import Echo
from muisti.core.model.errors import Conflict, PlaceTaken, Problem
from muisti.core.model.generations import Card
from muisti.core.model.ids import id_text
from muisti.core.model.places import is_structural, name_of, place_of, spans_of, without
from muisti.core.model.times import to_us
from muisti.core.model.values import NAME_MAX, Json, Memory
from muisti.core.operations.transfer.importing.lines import Incoming, Item
from muisti.core.operations.transfer.importing.moving import clear, write
from muisti.core.operations.transfer.importing.plan import Plan, ids_in, names_of, original, told_apart
from muisti.core.operations.transfer.records import ChangeLine, PassageRecord, TelemetryLine, read_vector
from muisti.core.store.database import Database, Refusal, Refused, Rows, Statement
from muisti.core.store.sql import hierarchy, imports, spaces, version_rows
from muisti.core.store.sql.imports import Staged
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.version_rows import raw
from muisti.core.text.terms import fold
from muisti.core.write.calls import Call
from muisti.core.write.intake import Intake
from muisti.core.write.prepare import ready

_SCALES = struct.Struct("<2f")

_JOINED = frozenset({"session", "conversation", "summary"})

Clock = Callable[[], int]


class Staging:
    """Hidden space for one file, created with the first batch."""

    def __init__(
        self,
        file: Incoming,
        database: Database,
        models: Models,
        clock: Clock,
        intake: Intake,
        token: str | None = None,
    ) -> None:
        """`token` names the hidden space; None for a new name."""
        self._file, self._database, self._models, self._clock = file, database, models, clock
        self._intake = intake
        self._token = token or uuid.uuid4().hex
        self._staged: Staged | None = None
        self._is_repeated = False  # an earlier process has staged lines of this very file, and ended
        self._renamed: dict[tuple[str, str | None, str | None], str] = {}  # topics whose names the space has

    @property
    def staged(self) -> Staged | None:
        """The import in the database; None before the first batch."""
        return self._staged

    def go_on(self, import_id: int, space_id: int, last: int) -> None:
        """Take over what another process has staged, up to change `last` of the file. That process is refused now.

        Raises:
            Conflict: the staged lines are gone, because memories of the space were erased.
        """
        self._database.write([imports.disown(space_id), *imports.drop_after(space_id, last)])
        self._staged = self._read(import_id, space_id)

    def add(self, items: Sequence[Item], changes: Sequence[ChangeLine], telemetry: Sequence[TelemetryLine]) -> None:
        """Stage a batch. A refused file is staged too, because its report counts the good lines."""
        if not items and not changes and not telemetry:
            return
        staged = self._open()
        if self._file.opened.source is not None:  # ids of other systems; our own are those of the memories
            items = told_apart(self._database, self._file.target, items)
        plan = self._plan(items, changes)
        chosen = [self._unlike(moved) for item in items if (moved := plan.item(item)) is not None]
        kept = self._free([item for item in chosen if item is not None])
        self._stage(staged, self._missing(staged, items, kept) if self._is_repeated and items else kept)
        rows = [imports.stage_change(staged, *values) for values in plan.changes(changes)]
        names = names_of(self._database, self._file.target, [line.id for line in telemetry])
        rows += [imports.stage_telemetry(staged, names.of(line.id), *self._retrieved(line)) for line in telemetry]
        if rows:
            write(self._database, [*imports.touch(staged, self._clock()), *rows])

    def _missing(self, staged: Staged, batch: Sequence[Item], kept: Sequence[Item]) -> list[Item]:
        """Return the items of a batch that no earlier process has staged. What it staged of others is deleted."""
        wanted = {item.born: item for item in kept}
        (rows,) = self._database.read([imports.staged_between(staged, batch[0].born, batch[-1].born)])
        stale: list[int] = []
        for born, staged_id, passages in cast(list[tuple[int, bytes, int]], rows):
            item = wanted.get(born)
            if item is None or staged.alias(item.memory.id) != staged_id:
                stale.append(born)
                continue
            del wanted[born]
            self._file.flag(item.flags)
            self._file.tally.kept += passages if item.passages else 0
            self._file.tally.embedded += 0 if item.passages else passages
        if stale:
            write(self._database, [*imports.touch(staged, self._clock()), *imports.drop_changes(staged, stale)])
        return list(wanted.values())

    def _retrieved(self, line: TelemetryLine) -> tuple[int, int]:
        return line.retrieval_count, min(to_us(line.last_retrieved_at), self._file.now)

    def close(self) -> tuple[Staged, int, int]:
        """Delete bad memories after the last batch. Return the import and the numbers of memories and versions left."""
        staged = self._open()
        write(self._database, imports.touch(staged, self._clock()))
        for chunk in _chunks(sorted(self._file.lost)):
            names = names_of(self._database, self._file.target, chunk)
            write(self._database, imports.drop(staged, [*map(names.of, chunk)]))
        self._check_parents(staged)
        memories, versions = (cast(int, rows[0][0]) for rows in self._database.read(imports.sizes(staged)))
        return staged, memories, versions

    def clear(self, memories: int | None) -> None:
        """Delete the hidden space, if it exists. `memories` is the number imported, None when the import failed."""
        staged, self._staged = self._staged, None
        if staged is not None:
            clear(self._database, staged.space.id, memories)

    def _open(self) -> Staged:
        """Return the import in the database. Create it for the first batch."""
        if self._staged is None:
            self._repeat()
        if self._staged is None:
            source = self._file.opened.source
            batch = imports.begin(
                self._token, str(uuid.uuid4()), self._file.target, self._file.caller.actor, source, self._clock()
            )
            *_, space_id, import_id = write(self._database, batch)
            self._staged = self._read(cast(int, import_id[0][0]), cast(int, space_id[0][0]))
        return self._staged

    def _repeat(self) -> None:
        """Take over what a process that has ended left of the same file; it would be refused from now on."""
        (rows,) = self._database.read([imports.left_behind(self._token)])
        for import_id, space_id in cast(list[tuple[int, int]], rows):
            self._database.write([imports.disown(space_id)])
            self._staged, self._is_repeated = self._read(import_id, space_id), True

    def _read(self, import_id: int, space_id: int) -> Staged:
        (found,) = self._database.read([Statement("SELECT epoch FROM spaces WHERE id = ?", (space_id,))])
        if not found:
            raise Conflict("the space was erased meanwhile, or memories of the file were; send the file again")
        space = replace(self._file.target, id=space_id)
        space = replace(space, space=replace(space.space, epoch=cast(str, found[0][0])))
        return Staged(import_id, space, self._file.target)

    def _plan(self, items: Sequence[Item], changes: Sequence[ChangeLine]) -> Plan:
        ids = {one for item in items for one in ids_in(item.memory)}
        ids |= {change.id for change in changes if change.id is not None}
        names = names_of(self._database, self._file.target, ids)
        new = sorted({names.of(item.memory.id) for item in items if item.is_new})
        (staged,) = self._database.read([imports.known_ids(self._open(), new)])
        return Plan(self._file, names, staged)

    def _unlike(self, item: Item) -> Item | None:
        """Apply the echo policy to an item. Return None when it is refused."""
        if item.died is not None:
            return item
        call, path = Call(self._file.now, None, self._file.caller), f"$.lines[{item.line}]"
        try:
            memory, flags = self._intake.brought(self._file.target, item.memory, item.memory, call, path, is_new=True)
        except Echo as refusal:
            self._file.lost.add(item.memory.id)
            self._file.fail(item.line, item.place, refusal.code, [Problem("$.content", str(refusal))])
            return None
        return replace(item, memory=memory, flags=(*item.flags, *flags))

    def _free(self, items: Sequence[Item]) -> list[Item]:
        """Return the items whose address and place in a conversation no other memory of the space has."""
        items = self._placed(items)
        keyed = [item for item in items if item.died is None and _has_address(item.memory)]
        answers = (
            self._database.read([imports.holder(self._file.target, item.memory) for item in keyed]) if keyed else []
        )
        for item, rows in zip(keyed, answers, strict=True):
            if rows and rows[0][0] != raw(item.memory.id):
                other = id_text(cast(bytes, rows[0][0]))
                message = f"category and key belong to memory {other} of this space"
                self._file.lost.add(item.memory.id)
                self._file.fail(item.line, item.place, "address_taken", [Problem("$.key", message)])
        return [item for item in items if item.memory.id not in self._file.lost]

    def _placed(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return the items without those whose place in a conversation another memory of the space has.

        Of the latter a turn that gives way comes in without its number, and an object that gives way is passed over. A
        session or a conversation joins the one of its name, which stays as it is, and so do their summaries.
        """
        items = self._with_topics(items)
        current = [item for item in items if item.died is None and _has_place(item.memory)]
        holders = {item.line: rows for item, rows in zip(current, self._holders(current), strict=True)}
        kept: list[Item] = []
        for item in items:
            rows = holders.get(item.line)
            if not rows or rows[0][0] == raw(item.memory.id):
                kept.append(item)
            elif item.memory.kind in _JOINED and not item.gives_way:
                self._file.lost.add(item.memory.id)  # with its earlier versions
                self._file.tally.skipped["joined"] += 1
            elif not item.gives_way:
                self._file.lost.add(item.memory.id)
                told = str(PlaceTaken(item.memory.kind, name_of(item.memory), item.memory.turn))
                self._file.fail(item.line, item.place, "place_taken", [Problem("$", told)])
            elif is_structural(item.memory):
                self._file.tally.skipped["exists"] += 1
            else:
                kept.append(replace(item, memory=_without_turn(item.memory)))
        return kept

    def _with_topics(self, items: Sequence[Item]) -> list[Item]:
        """Return the items, topics among them with the turns that no topic of the space has, under free names.

        One that has no turns left joins the topics that have them; it is passed over with its earlier versions.
        """
        found: list[Item] = []
        for item in items:
            memory = item.memory
            if memory.kind == "topic" and item.died is None and not item.gives_way:
                item = self._of_free_turns(item)
            elif memory.kind == "summary" and (name := self._renamed.get(_topic(memory))) is not None:
                item = replace(item, memory=replace(memory, topic=name))
            if item is not None:
                found.append(item)
        return found

    def _of_free_turns(self, item: Item) -> Item | None:
        topic, target = item.memory, self._file.target
        asked = hierarchy.objects(target, topic.category, topic.conversation or "", self._file.now, "topic")
        stored = [version_rows.memory(row, target.space.name) for row in self._database.read([asked])[0]]
        others = [one for one in stored if one.id != topic.id]
        before = spans_of(topic)
        left = without(before, [span for one in others for span in spans_of(one)])
        if before and not left:
            self._file.lost.add(topic.id)
            self._file.tally.skipped["joined"] += 1
            return None
        if left != before:
            spans: Json = [list(span) for span in left]
            item = replace(item, memory=replace(topic, structure={**topic.structure, "spans": spans}))
        if topic.topic in {one.topic for one in others}:
            name = f"{topic.topic}"[: NAME_MAX - 13] + f"-{topic.id[-12:]}"
            self._renamed[_topic(topic)] = name
            item = replace(item, memory=replace(item.memory, topic=name))
        return item

    def _holders(self, items: Sequence[Item]) -> list[Rows]:
        """Return who is at the place of each item."""
        return (
            self._database.read([imports.at_place(self._file.target, item.memory) for item in items]) if items else []
        )

    def _stage(self, staged: Staged, items: Sequence[Item]) -> None:
        """Store versions. If the database refuses them, divide them until the refused version is found."""
        if not items:
            return
        batch = list(imports.touch(staged, self._clock()))
        flagged = len(self._file.tally.flags)
        kept, embedded = self._file.tally.kept, self._file.tally.embedded
        for item, new in zip(items, self._prepared(items), strict=True):
            batch += imports.stage(staged, new, item.born, item.died)
            self._file.flag(item.flags)
            if item.is_new:
                me, version = raw(item.memory.id), item.memory.version
                caller = self._file.caller
                values = ("created", me, version, self._file.now, caller.actor, caller.request, None)
                batch.append(imports.stage_change(staged, item.born, values))
        try:
            write(self._database, [*self._register(), *batch])
        except Refused as refused:
            if refused.code != Refusal.CONSTRAINT:
                raise
            self._file.tally.kept, self._file.tally.embedded = kept, embedded
            del self._file.tally.flags[flagged:]
            if len(items) == 1:
                item = items[0]
                if not item.is_new:
                    self._file.lost.add(item.memory.id)
                message = "an earlier line has the same id and version, or the same category and key"
                self._file.fail(item.line, item.place, "address_taken", [Problem("$", message)])
                return
            middle = len(items) // 2
            self._stage(staged, items[:middle])
            self._stage(staged, items[middle:])

    def _prepared(self, items: Sequence[Item]) -> list[NewVersion]:
        """Return versions with their passages. Vectors come from the file if it has them, else from the model."""
        bare = ready([item.memory for item in items], self._file.target, Models())
        made = [self._with_vectors(item, new) for item, new in zip(items, bare, strict=True)]
        todo = [place for place, new in enumerate(made) if new is None]
        models, tally = self._models, self._file.tally
        if models.inline(self._file.target.space.generation) is not None:
            tally.embedded += sum(len(bare[place].passages or ()) for place in todo)
        if self._file.dry_run or self._file.is_refused:
            models = Models()
        fresh = ready([items[place].memory for place in todo], self._file.target, models) if todo else []
        for place, new in zip(todo, fresh, strict=True):
            made[place] = new
        return [new for new in made if new is not None]

    def _with_vectors(self, item: Item, new: NewVersion) -> NewVersion | None:
        """Return the version with the vectors of its line, or None when they are missing or from another model.

        Vectors of the shadow and of the second model are taken too, if the line has them.
        """
        cut, given = new.passages or (), item.passages or ()
        if [(one.passage.start, one.passage.stop) for one in cut] != [(one.start, one.stop) for one in given]:
            return None
        own = None if self._file.generation is None else self._vectors(self._file.generation, given)
        if own is None:
            return None
        self._file.tally.kept += len(own)
        others = [found for model in self._others() if (found := self._vectors(model, given)) is not None]
        vectors = [dict(pairs) for pairs in zip(own, *others, strict=True)]
        passages = [replace(one, vectors=found) for one, found in zip(cut, vectors, strict=True)]
        return replace(new, passages=passages)

    def _others(self) -> list[str]:
        """Return the models whose vectors are kept beside those of the space's own: its shadow, and its second one."""
        space, seconds = self._file.target.space, self._models.seconds
        encoder = seconds.named(seconds.chosen(space))  # a new space has it as soon as background work has looked
        coming = None if encoder is None else encoder.identity
        return [one for one in (space.shadow, space.second or coming) if one is not None]

    def _vectors(self, generation: str, given: Sequence[PassageRecord]) -> list[tuple[str, bytes]] | None:
        """Return the vectors of a model in a line, each with the model; None when one is missing or is no unit."""
        header = self._file.opened
        name = next((name for name, one in header.generations.items() if one.hash == generation), None)
        if name is None or any(name not in one.vectors for one in given):
            return None
        dimensions = header.generations[name].dimensions
        vectors = [read_vector(one.vectors[name], dimensions) for one in given]
        return [(generation, vector) for vector in vectors] if all(map(_is_sound, vectors)) else None

    def _register(self) -> list[Statement]:
        """Return statements that register the models of the vectors."""
        space = self._file.target.space
        known = {card.identity: card for card in map(card_of, self._models.embedding(space))}
        for one in self._file.opened.generations.values():
            if one.hash in (self._file.generation, *self._others()):
                known.setdefault(one.hash, Card(one.hash, one.model, one.dimensions))
        return [spaces.register_generation(card, self._file.now) for card in known.values()]

    def _check_parents(self, staged: Staged) -> None:
        """Drop memories whose parent is missing, and their children in turn. Each counts as a failure."""
        while True:
            (rows,) = self._database.read([imports.orphans(staged)])
            for memory_id, parent_id in cast(list[tuple[bytes, bytes]], rows):
                memory, parent = (
                    original(self._database, self._file.target, id_text(one)) for one in (memory_id, parent_id)
                )
                message = f"memory {memory}: no memory {parent} in the file or in this space"
                self._file.fail(0, None, "invalid_input", [Problem("$.parent_id", message)])
            if not rows:
                return
            write(self._database, [imports.drop_orphans(staged)])


def _has_address(memory: Memory) -> bool:
    return memory.key is not None and memory.superseded_by is None


def _has_place(memory: Memory) -> bool:
    return memory.superseded_by is None and place_of(memory) is not None


def _topic(memory: Memory) -> tuple[str, str | None, str | None]:
    return fold(memory.category or ""), memory.conversation, memory.topic


def _without_turn(memory: Memory) -> Memory:
    """Return an exchange whose turn is taken: its metadata keep the number."""
    return replace(memory, turn=None, metadata={**memory.metadata, "turn": memory.turn})


def _is_sound(vector: bytes) -> bool:
    """Return whether the scales of a stored vector fit a unit vector."""
    return all(math.isfinite(scale) and 0 <= scale <= 1 for scale in _SCALES.unpack_from(vector))


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), 500):
        yield ids[start : start + 500]
