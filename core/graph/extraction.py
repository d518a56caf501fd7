"""Read one version: who and what it names, and which relations it states. What is read depends on the version alone.

Memories, exchanges and chunks of documents are read by the recogniser and the readers of facts. Chunks of source code,
markup and data are not: symbols of code are known (core/documents/symbols), attributes are no names. Summaries and the
other objects are made from what is read already. Memories of the kinds `entity` and `relation` say in their
`structure` what people have stated.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from msgspec.structs import replace

from muisti.core.graph.entities import pipelines
from muisti.core.graph.entities.name_keys import code_of, folded, initials, norm
from muisti.core.graph.entities.recogniser import Asked, Recogniser, Reported, mentions, shipped, windows
from muisti.core.graph.facts.between import AUTHOR, Fact, Named
from muisti.core.graph.facts.reading import facts
from muisti.core.graph.model import Mention, is_relation_kind
from muisti.core.graph.sql.graph_rows import Gathered
from muisti.core.model.choices import ME, NAME_CHARACTERS, RELATION_KINDS, EntityKind, RelationKind
from muisti.core.model.messages import messages
from muisti.core.model.values import Json
from muisti.core.parsing.detect import is_programming_language
from muisti.core.text.speakers import is_side

CONFIDENCE = 0.9  # set by hand: other systems let a language model read
_KINDS: Mapping[str, EntityKind] = {
    "person": "person", "per": "person", "people": "person",
    "org": "organisation", "organization": "organisation", "organisation": "organisation", "company": "organisation",
    "gpe": "place", "loc": "place", "location": "place", "place": "place", "fac": "place",
    "work_of_art": "work", "product": "product", "technology": "product", "event": "event", "date": "date",
}  # fmt: skip
_WORD = re.compile("[a-z0-9]+")
# Kinds of other systems by ours, and whether subject and object change places.
_RELATIONS: Mapping[str, tuple[RelationKind, bool]] = {
    **{kind: (kind, False) for kind in RELATION_KINDS},
    "created": ("made", False), "built": ("made", False), "developed": ("made", False), "wrote": ("made", False),
    "created_by": ("made", True), "built_by": ("made", True), "developed_by": ("made", True),
    "written_by": ("made", True),
    "works_for": ("works_at", False), "employed_by": ("works_at", False), "employs": ("works_at", True),
    "resides_in": ("lives_in", False), "born_in": ("comes_from", False), "married_to": ("spouse", False),
    "friend_of": ("knows", False), "used_by": ("uses", True), "owned_by": ("owns", True),
    "headquartered_in": ("based_in", False),
}  # fmt: skip


def with_imported(
    text: str, mentions: Sequence[Mention], metadata: Mapping[str, Json]
) -> tuple[list[Mention], list[Fact]]:
    """Return the mentions of a sentence with the names that its metadata give, and the relation that they state.

    Names from the metadata replace mentions that they overlap. The kind is that of the recogniser when none is given.
    """
    names, relation = _named(text, metadata)
    if not names:
        return [*mentions], []
    known = [_of_kind(one, mentions) for one in names]
    others = [one for one in mentions if all(one.stop <= name.start or name.stop <= one.start for name in names)]
    if "entity" in metadata:  # what follows the name is its kind, in words of the other system
        others = [one for one in others if text[one.start : one.stop] != metadata.get("entity_type")]
    facts = [] if relation is None else [Fact(*relation, None, True, CONFIDENCE, 0, len(text))]
    return [*known, *others], facts


def _named(text: str, metadata: Mapping[str, Json]) -> tuple[list[Mention], tuple[int, RelationKind, int] | None]:
    """Return the names that a sentence is about, and (subject, kind, object) of its relation, by their places."""
    name, stated = metadata.get("entity"), metadata.get("relation")
    if isinstance(name, str):
        return _found(text, name, 0, _KINDS.get(str(metadata.get("entity_type")).casefold(), "other")), None
    if not isinstance(stated, dict):
        return [], None
    said = cast(Mapping[str, Json], stated)
    first = _found(text, str(said.get("from")), 0, "other")
    names = [*first, *_found(text, str(said.get("to")), first[0].stop if first else 0, "other")]
    told = "_".join(_WORD.findall(str(said.get("type")).casefold()))
    kind, turned = _RELATIONS.get(told, (told, False))
    if not is_relation_kind(kind) or len(names) < 2:
        return names, None
    own = cast(RelationKind, kind)
    return names, (1, own, 0) if turned else (0, own, 1)


def _found(text: str, name: str, after: int, kind: EntityKind) -> list[Mention]:
    start = text.find(name, after) if name else -1
    return [] if start < 0 else [Mention(start, start + len(name), kind, CONFIDENCE, "known")]


def _of_kind(name: Mention, mentions: Sequence[Mention]) -> Mention:
    same = [one.kind for one in mentions if (one.start, one.stop) == (name.start, name.stop)]
    return replace(name, kind=same[0]) if same and name.kind == "other" else name


SPEAKER, REPLIER, ELSEWHERE = -1, -2, -3  # starts of mentions that are not in the text
RULES = "7"  # raised with each change of what is read out of a version
FACTS_MAX = 100  # of one version
MENTIONS_MAX = 500

ReadFacts = Callable[[str, Sequence[Named], str | None], Sequence[Fact]]


class Source(NamedTuple):
    """A version to read."""

    row: int
    kind: str
    content: str
    author: str | None
    structure: Mapping[str, Json]
    metadata: Mapping[str, Json] = {}  # of a sentence of an imported graph


class _Part(NamedTuple):
    """Holds the words of one speaker in a version, from a character on. `mark` is the start of the speaker's mention.

    `speakers` has the names of both sides that the version names.
    """

    text: str
    start: int
    speaker: str | None
    mark: int
    speakers: tuple[str, ...]


class Reader:
    """Reads versions. Thread-safe when the recogniser is."""

    def __init__(self, recogniser: Recogniser, facts: ReadFacts, asked: Asked | None = None) -> None:
        """`asked` is a model elsewhere that tells the names; where it tells none, the recogniser finds them."""
        self._recogniser, self._facts, self._asked = recogniser, facts, asked

    @property
    def identity(self) -> str:
        """Name of what is found: with another one, the same texts may be read differently."""
        return f"{(self._asked or self._recogniser).identity}-{RULES}"

    @property
    def waits(self) -> bool:
        """Whether reading waits for a model elsewhere."""
        return self._asked is not None

    def close(self) -> None:
        """Close the connections to a model elsewhere."""
        if self._asked is not None:
            self._asked.close()

    def read(self, sources: Iterable[Source], *, ask: bool = True) -> Gathered:
        """Return the rows of versions. Without `ask` no model elsewhere is asked."""
        found, every = _Found(), list(sources)
        parts = [_parts(source) if _is_text(source) else [] for source in every]
        told = iter(self._told([part.text for own in parts for part in own], ask=ask))
        for source, own in zip(every, parts, strict=True):
            if source.kind == "entity":
                _stated_entity(source, found)
            elif source.kind == "relation":
                _stated_relation(source, found)
            self._read(source, [(part, next(told)) for part in own], found)
        return found.gathered()

    def _told(self, texts: Sequence[str], *, ask: bool) -> list[list[Reported] | None]:
        """Return the names that a model elsewhere tells of each text; None where the recogniser must find them."""
        if self._asked is None or not ask:
            return [None] * len(texts)
        bounds = [windows(text) for text in texts]
        asked = [text[start:stop] for text, own in zip(texts, bounds, strict=True) for start, stop in own]
        answers = iter(self._asked.ask(asked) if asked else ())
        found: list[list[Reported] | None] = []
        for own in bounds:
            parts = [next(answers) for _ in own]
            known = [part for part in parts if part is not None]
            found.append([one for part in known for one in part] if len(known) == len(parts) else None)
        return found

    def _mentions(self, source: Source, part: _Part, told: Sequence[Reported] | None, found: "_Found") -> list[Mention]:
        if told is not None:
            spotted, dropped = mentions(part.text, told, part.speakers)
            found.dropped += dropped
            return spotted
        if self.waits:
            found.fallbacks[source.row] = f"{self._recogniser.identity}-{RULES}"
        return self._recogniser.read(part.text, speakers=part.speakers)

    def _read(self, source: Source, parts: Iterable[tuple[_Part, Sequence[Reported] | None]], found: "_Found") -> None:
        overlap = source.structure.get("overlap") if source.kind == "chunk" else 0
        number = 0
        for part, told in parts:
            spotted = [
                one
                for one in self._mentions(source, part, told, found)[:MENTIONS_MAX]
                if one.stop + part.start > (overlap if isinstance(overlap, int) else 0)
            ]
            spotted, stated = with_imported(part.text, spotted, source.metadata)
            keys = [_key(part.text[one.start : one.stop]) for one in spotted]
            for one, key in zip(spotted, keys, strict=True):
                place = one.start + part.start, one.stop + part.start
                found.mention(source.row, *place, key, one.kind, one.confidence, one.source)
            speaker = "" if part.speaker is None or is_side(part.speaker) else _key(part.speaker)
            if speaker:
                found.mention(source.row, part.mark, part.mark, speaker, "person", 1.0, "speaker")
            for fact in stated or self._facts(part.text, spotted, part.speaker)[:FACTS_MAX]:
                number += self._add(source, part, fact, keys, number, found)

    def _add(self, source: Source, part: _Part, fact: Fact, keys: Sequence[str], number: int, found: "_Found") -> bool:
        subject = keys[fact.subject] if fact.subject >= 0 else _speaker(part, fact.subject)
        thing = None if fact.object is None else keys[fact.object] if fact.object >= 0 else _speaker(part, fact.object)
        if not subject or (fact.object is not None and not thing) or subject == thing:
            return False
        for end, key in ((fact.subject, subject), (fact.object, thing)):
            if end == AUTHOR and key == ME:
                found.mention(source.row, part.mark, part.mark, key, "person", 1.0, "speaker")
        first, last = (None, None) if fact.literal is None else _moved(fact.literal, part)
        start, stop = _moved((fact.start, fact.stop), part)
        polarity = 1 if fact.polarity else -1
        told = (thing, first, last, polarity, fact.confidence, start, stop)
        found.relations.append((source.row, number, subject, fact.kind, *told, "text"))
        return True


class _Found:
    def __init__(self) -> None:
        self._names: dict[tuple[str, int], tuple[str, str, str, str, str, str, int]] = {}
        self.mentions: list[tuple[int, int, int, str, str, float, str]] = []
        self.relations: list[tuple[int, int, str, str, str | None, int | None, int | None, int, float, int, int, str]]
        self.relations = []
        self.aliases: list[tuple[int, str, str, int]] = []
        self.fallbacks: dict[int, str] = {}
        self.dropped = 0

    def name(self, key: str, row: int) -> None:
        if (key, row) not in self._names:
            self._names[key, row] = (*entity_row(key), row)

    def mention(self, row: int, start: int, stop: int, key: str, kind: str, confidence: float, source: str) -> None:
        if key:
            self.name(key, row)
            self.mentions.append((row, start, stop, key, kind, round(float(confidence), 4), source))

    def gathered(self) -> Gathered:
        found = self.mentions, self.relations, self.aliases
        return Gathered([*self._names.values()], *found, [*self.fallbacks.items()], self.dropped)


def entity_row(key: str) -> tuple[str, str, str, str, str, str]:
    """Return (norm, code, folded key, first word, last word, initials); the last three are empty for one word.

    >>> entity_row("Bank of America")[2:], entity_row("Oslo")[2:]
    (('bank of america', 'Bank', 'America', 'BA'), ('oslo', '', '', ''))
    """
    words = key.split(" ")
    if len(words) < 2:
        return key, code_of(key), folded(key), "", "", ""
    return key, code_of(key), folded(key), words[0], words[-1], initials(words)


def _key(text: str) -> str:
    """Return the norm of a name; empty for what is too long to be one, or has no letter or digit."""
    key = norm(text)
    return key if len(key) <= NAME_CHARACTERS and any(one.isalnum() for one in key) else ""


def _speaker(part: _Part, end: int) -> str:
    """Return the norm of the author; empty for the other side of a dialogue, which a version does not name."""
    if end != AUTHOR:
        return ""
    return ME if part.speaker is None or is_side(part.speaker) else _key(part.speaker)


def _parts(source: Source) -> list[_Part]:
    """Return the two messages of an exchange, or the whole of another version."""
    found = messages(source.kind, source.content, source.author or None, source.structure)
    both = _names(*(one.speaker for one in found))
    return [_Part(one.text, one.start, one.speaker, REPLIER if one.is_reply else SPEAKER, both) for one in found]


def _names(*speakers: str | None) -> tuple[str, ...]:
    """Return the speakers that have a name, and not only a side of a chat."""
    return tuple(one for one in speakers if one and not is_side(one))


def _is_text(source: Source) -> bool:
    """Return whether a version is to be read: neither stated by people nor code."""
    language = source.structure.get("language")
    is_code = source.kind == "chunk" and isinstance(language, str) and is_programming_language(language)
    return not is_code and source.kind not in ("entity", "relation")


def _stated_entity(source: Source, found: _Found) -> None:
    key, kind = _key(source.content), _kind(source.structure.get("kind"))
    if not key:
        return
    found.mention(source.row, 0, len(source.content), key, kind, 1.0, "manual")
    found.aliases.append((source.row, key, key, 0))
    for apart, field in ((0, "aliases"), (1, "apart")):
        names = source.structure.get(field)
        for other in {_key(str(name)) for name in names} if isinstance(names, list) else ():
            if other and other != key:
                found.name(other, source.row)
                found.aliases.append((source.row, key, other, apart))


def _stated_relation(source: Source, found: _Found) -> None:
    said = source.structure
    subject, thing = str(said.get("subject") or ""), str(said.get("object") or "")
    literal, tie = str(said.get("literal") or ""), str(said.get("kind"))
    one, two = _key(subject), _key(thing)
    if not one or not (two or literal) or not is_relation_kind(tie):
        return
    for name, key, kind in ((subject, one, said.get("subject_kind")), (thing, two, said.get("object_kind"))):
        start = source.content.find(name) if key else -1
        place = (start, start + len(name)) if start >= 0 else (ELSEWHERE, ELSEWHERE)
        found.mention(source.row, *place, key, _kind(kind), 1.0, "manual")
    at = source.content.find(literal) if literal and not two else -1
    first, last = (at, at + len(literal)) if at >= 0 else (None, None)
    polarity = -1 if said.get("polarity") == -1 else 1
    told = (two or None, first, last, polarity, 1.0, 0, len(source.content))
    found.relations.append((source.row, 0, one, tie, *told, "manual"))


def _moved(place: tuple[int, int], part: _Part) -> tuple[int, int]:
    return place[0] + part.start, place[1] + part.start


def _kind(given: object) -> EntityKind:
    return cast(EntityKind, given) if isinstance(given, str) and given else "other"


MakeReader = Callable[[], Reader]
"""Loads a reader when it is first needed."""


def usual_reader() -> Reader:
    """Load the shipped recogniser."""
    return Reader(shipped(), facts)


def asked_reader(asked: Asked) -> MakeReader:
    """Return what makes a reader whose names a model elsewhere tells, and the shipped recogniser where it fails."""
    return lambda: Reader(shipped(), facts, asked)


def pipeline_reader(package: str) -> MakeReader:
    """Return what loads the pipeline of spaCy that an installed package holds.

    Raises:
        InvalidInput: spaCy or the package is not installed, or the package holds no pipeline.
    """
    pipelines.check_installed(package)
    return lambda: Reader(pipelines.load(package), facts)
