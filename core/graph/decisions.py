"""Statements of people on the graph: names that are one entity, names that are not, and relations.

Each statement is a memory of the kind `entity` or `relation`. So it has an author, a time and a history, and goes
through undo, forks, exports, imports and erasure like every memory.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from muisti.core.graph.entities.name_keys import folded, norm
from muisti.core.graph.model import EntityChange, NewRelation, RelationChange, is_relation_kind
from muisti.core.graph.reading import GraphReader
from muisti.core.model.choices import ALIASES_MAX, ENTITY_KINDS, NAME_CHARACTERS, RELATION_KINDS
from muisti.core.model.errors import Conflict, InvalidInput, NotFound
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Draft, Json, Memory, RequestKey
from muisti.core.read.hierarchy import namespace
from muisti.core.store.database import Row
from muisti.core.store.sql import memories, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call, Calls
from muisti.core.write.object_writer import Keeper, Plan
from muisti.core.write.prepare import draft_of

Relates = TypeVar("Relates", NewRelation, RelationChange)
_ID = re.compile(r"\s*[0-9a-f]{16}\s*")  # of an entity, see `name_keys.code_of`


class GraphDecisions(msgspec.Struct, frozen=True, kw_only=True):
    """Statements of one caller on the graph, on names or ids of entities. Thread-safe.

    All methods raise `NotFound` when there is no such space, and `InvalidInput`, `SensitiveContent`, `Forbidden` and
    `QuotaExceeded` as a write of a memory does.
    """

    calls: Calls
    keeper: Keeper
    reader: GraphReader

    def put_entity(self, space: str, name: str, change: EntityChange, *, request: RequestKey | None = None) -> Written:
        """Say what an entity is. Without a statement on it, one is made; a field of None stays as it is."""
        call = self.calls.new(request)
        lists = {"aliases": change.aliases, "apart": change.apart}
        named = replace(change, **{key: given and self._named(space, given, call) for key, given in lists.items()})
        (name,) = self._named(space, [name], call)
        return self._change(space, name, call, lambda stated: _with(stated, named), change.category)

    def merge(
        self,
        space: str,
        name: str,
        others: Sequence[str],
        *,
        category: str | None = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Say that other names are those of an entity, even when they were kept apart."""
        return self._put(space, name, others, ("aliases", "apart"), category, request)

    def keep_apart(
        self,
        space: str,
        name: str,
        others: Sequence[str],
        *,
        category: str | None = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Say that other names are not those of an entity, even when they were merged."""
        return self._put(space, name, others, ("apart", "aliases"), category, request)

    def _put(
        self,
        space: str,
        name: str,
        others: Sequence[str],
        fields: tuple[str, str],
        category: str | None,
        request: RequestKey | None,
    ) -> Written:
        """Add names to the first field of a statement on an entity, and take them out of the second."""
        call = self.calls.new(request)
        name, *others = self._named(space, [name, *others], call)
        keys = {norm(one) for one in others}
        if not others:
            raise InvalidInput.at("$.others", "name at least one")
        if norm(name) in keys:
            raise InvalidInput.at("$.others", "has the name itself; a name is always one entity")
        to, of = fields

        def change(stated: Draft) -> Draft:
            left = tuple(one for one in _listed(stated, of) if norm(one) not in keys)
            return _with(stated, replace(EntityChange(), **{to: (*_listed(stated, to), *others), of: left}))

        return self._change(space, name, call, change, category, others)

    def _named(self, space: str, names: Sequence[str], call: Call) -> tuple[str, ...]:
        """Return names, with each id of an entity that the caller sees as its name, unless the graph is off."""
        ids = [one for one in names if _ID.fullmatch(one)]
        spelled = dict[str, str]()
        if ids:
            with suppress(Conflict):
                opened = self.reader.open(space, call.caller, call.now, None, ids)
                spelled = {one: self.reader.spelling(opened, one) for one in ids}
        return tuple(spelled.get(one, one) for one in names)

    def relate(self, space: str, new: NewRelation, *, request: RequestKey | None = None) -> Written:
        """State a relation."""
        call = self.calls.new(request)
        new = self._with_names(space, new, call)
        return self.keeper.run(
            space, call, lambda row: self.keeper.commit(row, Plan(comes=[self._relation(row, new, call)]), call)
        )

    def correct(self, space: str, id_: str, change: RelationChange, *, request: RequestKey | None = None) -> Written:
        """Change a relation that somebody has stated.

        Raises:
            NotFound: there is no such statement.
        """
        call = self.calls.new(request)
        change = self._with_names(space, change, call)

        def attempt(row: SpaceRow) -> Written:
            found, memory = self._stated(row, id_, ("relation",), call)
            said = memory.structure
            new = NewRelation(
                subject=change.subject or str(said["subject"]),
                kind=change.kind or str(said["kind"]),
                object=change.object or (None if change.literal else _text(said, "object")),
                literal=change.literal or (None if change.object else _text(said, "literal")),
                negative=said.get("polarity") == -1 if change.negative is None else change.negative,
                valid_from=change.valid_from or memory.valid_from,
                valid_to=change.valid_to or memory.valid_to,
                category=memory.category,
                content=change.content,
            )
            made = self._relation(row, new, call)
            fields = ("content", "structure", "valid_from", "valid_to")
            draft = replace(draft_of(memory), **{name: getattr(made, name) for name in fields})
            return self.keeper.commit(row, Plan(changes=[(found, draft)]), call)

        return self.keeper.run(space, call, attempt)

    def retract(self, space: str, id_: str, *, request: RequestKey | None = None) -> Written:
        """Delete a statement on an entity or a relation; its history stays, and an undo brings it back.

        Raises:
            NotFound: there is no such statement.
        """
        call = self.calls.new(request)

        def attempt(row: SpaceRow) -> Written:
            _, memory = self._stated(row, id_, ("entity", "relation"), call)
            return self.keeper.commit(row, Plan(ends=[memory]), call)

        return self.keeper.run(space, call, attempt)

    def _with_names(self, space: str, stated: Relates, call: Call) -> Relates:
        ends = {end: name for end in ("subject", "object") if (name := getattr(stated, end)) is not None}
        return replace(stated, **dict(zip(ends, self._named(space, [*ends.values()], call), strict=True)))

    def _change(
        self,
        space: str,
        name: str,
        call: Call,
        change: Callable[[Draft], Draft],
        category: str | None = None,
        others: Sequence[str] = (),
    ) -> Written:
        key = _checked(name, "$.name")

        def attempt(row: SpaceRow) -> Written:
            for place, one in enumerate(others):  # here, so that a refusal names the field of the request
                self.keeper.intake.text(row, one, call, f"$.others[{place}]")
            own = namespace(call.caller, category)
            places = dict.fromkeys((key, folded(name)))  # earlier versions had statements at the folded key
            found = self.keeper.store.database.read(
                [memories.at_place(row, own, f"entity/{place}") for place in places]
            )
            rows = [one for some in found for one in some if norm(_content(one, row)) == key]
            if not rows:
                stated = Draft(content=" ".join(name.split()), kind="entity", category=own, structure={"norm": key})
                draft = self._screened(row, change(stated), call)
                return self.keeper.commit(row, Plan(comes=[draft]), call)
            before = version_rows.memory(rows[0], row.space.name)
            draft = self._screened(row, change(draft_of(before)), call)
            if draft == draft_of(before):
                return self.keeper.store.leave(row, before, call)
            return self.keeper.commit(row, Plan(changes=[(rows[0], draft)]), call)

        return self.keeper.run(space, call, attempt)

    def _relation(self, space: SpaceRow, new: NewRelation, call: Call) -> Draft:
        """Return the draft of a relation, its names as the policy lets them in.

        Raises:
            InvalidInput: it has no object or two, or no such kind.
        """
        check_relation_kind(new.kind, "$.kind")
        self.keeper.intake.name(space, new.kind, call, "$.kind")
        if (new.object is None) == (new.literal is None):
            raise InvalidInput.at("$.object", "give either object, a name, or literal, a text")
        _checked(new.subject, "$.subject")
        if new.object is not None and folded(new.object) == folded(new.subject):
            raise InvalidInput.at("$.object", "is the subject; a relation has two ends")
        if new.object is not None:
            _checked(new.object, "$.object")
        subject = self.keeper.intake.text(space, new.subject, call, "$.subject")
        field, text = ("object", new.object) if new.object is not None else ("literal", new.literal or "")
        thing = self.keeper.intake.text(space, text, call, f"$.{field}")
        sentence = f"{'Not: ' if new.negative else ''}{subject} {new.kind.replace('_', ' ')} {thing}"
        structure: dict[str, Json] = {"subject": subject, "kind": new.kind, field: thing}
        return Draft(
            content=new.content or sentence,
            kind="relation",
            category=namespace(call.caller, new.category),
            valid_from=new.valid_from,
            valid_to=new.valid_to,
            structure={**structure, "polarity": -1 if new.negative else 1},
        )

    def _screened(self, space: SpaceRow, draft: Draft, call: Call) -> Draft:
        """Return the draft of a statement on an entity with its other names as the policy lets them in."""
        structure = dict(draft.structure)
        for field in ("aliases", "apart"):
            if field in structure:
                names = [
                    self.keeper.intake.text(space, one, call, f"$.{field}[{place}]")
                    for place, one in enumerate(_listed(draft, field))
                ]
                structure[field] = cast(Json, names)
        return replace(draft, structure=structure)

    def _stated(self, space: SpaceRow, id_: str, kinds: Sequence[str], call: Call) -> tuple[Row, Memory]:
        raw = id_bytes(id_)
        rows = [] if raw is None else self.keeper.store.database.read([memories.living(space, raw)])[0]
        memory = version_rows.memory(rows[0], space.space.name) if rows else None
        if memory is None or memory.kind not in kinds or not call.caller.shows(memory.category):
            raise NotFound(kinds[-1], id_)
        return rows[0], memory


def check_relation_kind(kind: str, path: str) -> None:
    """Raise `InvalidInput` for what is no kind of a relation."""
    if not is_relation_kind(kind):
        said = "a kind has up to 40 small letters, digits and _, and begins with a letter"
        raise InvalidInput.at(path, f"{kind[:40]!r} is none: {said}, as reports_to or {', '.join(RELATION_KINDS)}")


def _content(row: Row, space: SpaceRow) -> str:
    return version_rows.memory(row, space.space.name).content


def _with(stated: Draft, change: EntityChange) -> Draft:
    """Return the draft of a statement with a change.

    Raises:
        InvalidInput: there is no such kind, or the names cannot be accepted.
    """
    if change.kind is not None and change.kind not in ENTITY_KINDS:
        raise InvalidInput.at("$.kind", f"is no kind; there are {', '.join(ENTITY_KINDS)}")
    structure = dict(stated.structure)
    if change.kind is not None:
        structure["kind"] = change.kind
    own = norm(stated.content)
    for field, names in (("aliases", change.aliases), ("apart", change.apart)):
        if names is not None:
            if len(names) > ALIASES_MAX:
                raise InvalidInput.at(f"$.{field}", f"has {len(names)} names; {ALIASES_MAX} are allowed")
            by_key = {_checked(name, f"$.{field}"): " ".join(name.split()) for name in names}
            structure[field] = [name for key, name in by_key.items() if key != own]
    both = {norm(one) for one in _names(structure, "aliases")} & {norm(one) for one in _names(structure, "apart")}
    if both:
        raise InvalidInput.at("$.apart", f"{min(both)!r} cannot be a name of the entity and kept apart from it")
    return replace(stated, structure={name: value for name, value in structure.items() if value != []})


def _listed(stated: Draft, field: str) -> list[str]:
    return _names(dict(stated.structure), field)


def _names(structure: dict[str, Json], field: str) -> list[str]:
    names = structure.get(field)
    return [str(name) for name in names] if isinstance(names, list) else []


def _text(structure: Mapping[str, Json], field: str) -> str | None:
    value = structure.get(field)
    return value if isinstance(value, str) else None


def _checked(name: str, path: str) -> str:
    """Return the norm of a name.

    Raises:
        InvalidInput: it has no letter or digit, or is too long.
    """
    key = norm(name)
    if not any(one.isalnum() for one in key) or len(name) > NAME_CHARACTERS:
        raise InvalidInput.at(path, f"a name has a letter or digit, and at most {NAME_CHARACTERS} characters")
    return key
