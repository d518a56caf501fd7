"""Prepare versions to be stored: passages cut, terms listed, vectors computed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from msgspec import structs
from msgspec.structs import replace

from muisti.core.embedding.models import Models
from muisti.core.embedding.vectors import pack
from muisti.core.model.choices import Status
from muisti.core.model.fields import STATED
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.spaces import Field
from muisti.core.model.times import from_us
from muisti.core.model.values import STRUCTURAL, Draft, Memory, Passage
from muisti.core.parsing.code.apart import Stretch, headers, is_code
from muisti.core.store.sql.inserting import Indexed, NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.memo import memoised
from muisti.core.text.sentences import split
from muisti.core.text.terms import FIELDS, count_tokens, fold, index_codes, same_text_hash

NAMES = 256  # texts of fields besides the content whose terms are remembered


class Source(msgspec.Struct, frozen=True):
    """Texts of a memory that are indexed or embedded, by field; of a chunk of code its language, and its symbol."""

    texts: dict[Field, str]
    language: str | None = None
    symbol: str | None = None

    @classmethod
    def of(cls, draft: Draft | Memory) -> "Source":
        texts: dict[Field, str | None] = {
            "content": draft.content,
            "key": draft.key,
            "tags": ", ".join(draft.tags),
            "category": draft.category,
            "author": draft.author,
            "reason": draft.reason,
        }
        given = dict[Field, str]()
        for field, text in texts.items():
            if text:
                given[field] = text
        language, symbol = draft.structure.get("language"), draft.structure.get("symbol")
        if draft.kind != "chunk" or not isinstance(language, str) or not is_code(language):
            return cls(given)
        return cls(given, language, symbol if isinstance(symbol, str) else None)

    def code(self, passage: Passage) -> Stretch | None:
        """Return the code in a passage, None for other texts."""
        if self.language is None:
            return None
        return Stretch(self.texts["content"][passage.start : passage.stop], self.language, self.symbol)


def new_memory(draft: Draft, space: str, memory_id: str, now: int, trust: int, supersedes: str | None = None) -> Memory:
    """Return the first version of a new memory."""
    at = from_us(now)
    return Memory(
        id=memory_id,
        space=space,
        version=1,
        created_at=at,
        updated_at=at,
        supersedes=supersedes,
        superseded_by=None,
        trust=trust,
        tokens=count_tokens(draft.content),
        **_values(draft, now),
    )


def changed(memory: Memory, draft: Draft, now: int, trust: int) -> Memory:
    """Return the next version of a memory, with the fields of a draft."""
    return structs.replace(
        memory,
        version=memory.version + 1,
        updated_at=max(from_us(now), memory.updated_at),
        trust=trust,
        tokens=count_tokens(draft.content),
        **_values(draft, now),
    )


def reviewed(memory: Memory, status: Status, now: int) -> Memory:
    """Return the next version of a memory, with another status."""
    return structs.replace(repeated(memory, memory, now), status=status)


def superseded(memory: Memory, by: str, now: int) -> Memory:
    """Return the last version of a memory, which names the memory that supersedes it."""
    updated_at = max(from_us(now), memory.updated_at)
    return structs.replace(
        memory, version=memory.version + 1, status="superseded", superseded_by=by, updated_at=updated_at
    )


def restored(memory: Memory, last: Memory, now: int) -> Memory:
    """Return the version that follows `last` and repeats `memory`, without its expiry if that has passed."""
    expired = memory.expires_at is not None and memory.expires_at <= from_us(now)
    end = None if expired else memory.expires_at
    return structs.replace(repeated(memory, last, now), superseded_by=None, expires_at=end)


def repeated(memory: Memory, last: Memory, now: int) -> Memory:
    """Return the version that follows `last` and repeats `memory`."""
    return structs.replace(memory, version=last.version + 1, updated_at=max(from_us(now), last.updated_at))


def draft_of(memory: Memory) -> Draft:
    """Return the fields that the caller has set."""
    return Draft(**{name: getattr(memory, name) for name in STATED})


def distinct_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags without those that differ from an earlier one only in case.

    >>> distinct_tags(("Auth", "auth", "api"))
    ('Auth', 'api')
    """
    return tuple({fold(tag): tag for tag in reversed(tags)}[key] for key in dict.fromkeys(map(fold, tags)))


def canonical(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return ids as they are stored, each once.

    >>> canonical(("0197A3C0-5F4E-7000-8000-0123456789AB", "0197a3c0-5f4e-7000-8000-0123456789ab"))
    ('0197a3c0-5f4e-7000-8000-0123456789ab',)
    """
    return tuple(dict.fromkeys(id_text(raw) for one in ids if (raw := id_bytes(one)) is not None))


def ready(memories: Sequence[Memory], space: SpaceRow, models: Models) -> list[NewVersion]:
    """Return versions with their passages, embedded by the model of the space and by its shadow, in one call of each.

    A model that the process does not have embeds nothing.
    """
    cuts = [(memory, Source.of(memory), passages_of(memory)) for memory in memories]
    parts = parts_of((source, passage) for _, source, cut in cuts for passage in cut)
    vectors: Iterator[Mapping[str, bytes]] = repeat({})
    if encoders := models.embedding(space.space):
        texts = [one.embedded(space.space.settings.embedded_fields) for one in parts]
        made = [[(encoder.identity, vector) for vector in pack(encoder.encode(texts))] for encoder in encoders]
        vectors = (dict(one) for one in zip(*made, strict=True))
    indexed = (Indexed(one.passage, one.terms(), vector) for one, vector in zip(parts, vectors, strict=False))
    versions = list[NewVersion]()
    for memory, _, cut in cuts:
        versions.append(NewVersion(memory, same_text_hash(memory.content), list(islice(indexed, len(cut)))))
    return versions


def passages_of(memory: Memory) -> list[Passage]:
    """Return the passages of a memory that searches find; the objects of conversations have none."""
    return [] if memory.kind in STRUCTURAL else split(memory.content, memory.tokens)


def again(memory: Memory, before: Memory, row: int, space: SpaceRow, models: Models) -> NewVersion:
    """Return the next version of a memory. Passages are copied from the version before if their text is unchanged."""
    if Source.of(memory) != Source.of(before):
        return replace(ready([memory], space, models)[0], previous=row)
    return carried(memory, row)


def carried(memory: Memory, row: int) -> NewVersion:
    """Return the next version of a memory, with the passages of the version in `row`."""
    return NewVersion(memory, same_text_hash(memory.content), None, row)


class Part(NamedTuple):
    """A passage as it is indexed and embedded; `header` is that of its code."""

    source: Source
    passage: Passage
    header: str

    def embedded(self, fields: Sequence[Field]) -> str:
        """Return the text that is embedded: the chosen fields, one per line, and code below its header."""
        texts = {**self.source.texts, "content": self.header + self._content()}
        return "\n".join(texts[field] for field in fields if field in texts)

    def terms(self) -> bytes:
        """Return the term codes of the passage and of the memory's other fields, 8 bytes each, little endian.

        Those of the header count as content too.
        """
        codes = index_codes(self.header, FIELDS.index("content")) if self.header else b""
        for field, text in self.source.texts.items():
            codes += index_codes(self._content(), 0) if field == "content" else codes_of_name(text, field)
        return codes

    def _content(self) -> str:
        return self.source.texts["content"][self.passage.start : self.passage.stop]


def parts_of(passages: Iterable[tuple[Source, Passage]]) -> list[Part]:
    """Return passages as they are indexed and embedded. The code in all of them is read together."""
    found = [(source, passage, source.code(passage)) for source, passage in passages]
    heads = headers(code for _, _, code in found if code is not None)
    return [Part(source, passage, heads[code] if code is not None else "") for source, passage, code in found]


@memoised(NAMES)
def codes_of_name(text: str, field: Field) -> bytes:
    """Return the term codes of a field besides the content; those of many memories are equal."""
    return index_codes(text, FIELDS.index(field))


def _values(draft: Draft, now: int) -> dict[str, Any]:
    values: dict[str, Any] = dict(zip(STATED, _STATED(draft), strict=True))
    if isinstance(draft.expires_at, timedelta):
        values["expires_at"] = from_us(now) + draft.expires_at
    if draft.tags:
        values["tags"] = distinct_tags(draft.tags)
    if draft.derived_from:
        values["derived_from"] = canonical(draft.derived_from)
    return values


_STATED = attrgetter(*STATED)
