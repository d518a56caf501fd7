"""Hazina: the folder of a store or of a project, with metadata of documents, texts of their chunks, and chats.

A document comes in with its chunks where the folder has their texts. Without them its searchable text or its summary
is a memory.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from muisti.core.model.choices import CONTENT_MAX
from muisti.core.parsing.pieces import Cut
from muisti.service.formats.importers.chunked import Text, cuts_of, document_items, path_of
from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    Skipped,
    clean,
    pascal,
    retrieved,
    text_of,
    times,
    without,
    words,
)
from muisti.service.formats.importers.shapes import Shape, json_items, json_object
from muisti.service.formats.importers.source_files import Part, Source

SYSTEM = "hazina"
SUFFIX = ".metadata.json"
OF_METADATA = ".metadata"  # the text that was made from the metadata of a document, to be embedded
CHUNKS = (".chunks", "chunks.json")  # ends of the names of the lists of chunks
VECTORS = (".embed", "embeddings", "embeddings.json")
VECTOR = "a vector of another model"
READ = ("OriginalPath", "Created", "Modified", "CustomMetadata", "Summary", "Tags", "SearchableText")
_NUMBER = re.compile(r" chunk (\d+)$")


def detect(shape: Shape) -> bool:
    return shape.is_many and (shape.holds(SUFFIX) or shape.holds(INDEX) or shape.holds("parts/chunks.json"))


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        store = _Store(parts)
        yield from store.broken
        for part in parts:
            if part.name.endswith(SUFFIX):
                yield from _described(part, store)
        for name in [name for name in store.chunks if name not in store.done]:
            yield from _bare(name, store)
        yield from chats(parts, store.used)
        for part in parts:
            if part.name not in store.used and not part.name.endswith(SUFFIX):
                yield from _left(part)


class _Store:
    """The files of a store. `chunks` has the keys of the chunks of each document, `used` the files that were read."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.chunks: dict[str, list[str]] = {}
        self.used: set[str] = set()
        self.done: set[str] = set()  # documents
        self.broken: list[Failed] = []
        self._named: defaultdict[str, list[Part]] = defaultdict(list)
        for part in parts:
            if part.name.endswith(CHUNKS):
                self._take(part)
            else:
                self._named[posixpath.basename(part.name)].append(part)

    def _take(self, part: Part) -> None:
        self.used.add(part.name)
        text = part.text()
        found = text if isinstance(text, Failed) else json_object(text, part.name)
        if isinstance(found, Failed):
            self.broken.append(found)
        else:
            self.chunks |= {name: words(keys) for name, keys in found.items() if isinstance(keys, list)}

    def texts(self, document: str) -> list[tuple[str, Part | None]]:
        """Return the keys of the chunks of a document in order, each with the file of its text."""
        described = f"{document}{OF_METADATA}"
        if (about := self._file(described)) is not None:
            self.used.add(about.name)
        keys = [key for key in self.chunks.get(document, [document]) if key != described]
        found = [(key, self._file(key)) for key in sorted(keys, key=_place)]
        return [] if len(found) == 1 and found[0][1] is None and document not in self.chunks else found

    def _file(self, key: str) -> Part | None:
        path = key.replace("\\", "/")
        ends = [
            part
            for part in self._named.get(posixpath.basename(path), ())
            if part.name == path or part.name.endswith(f"/{path}")
        ]
        return min(ends, key=lambda part: len(part.name), default=None)


def _place(key: str) -> int:
    found = _NUMBER.search(key)
    return int(found[1]) if found else -1


def _described(part: Part, store: _Store) -> Iterator[Found]:
    """Yield the document whose metadata a file has."""
    text = part.text()
    record = text if isinstance(text, Failed) else json_object(text, part.name)
    if isinstance(record, Failed):
        yield record
        return
    row = pascal(record)
    document = text_of(row.get("Id"))
    if document is None:
        yield Failed(part.name, "a document without an Id")
        return
    store.done.add(document)
    chunks = store.texts(document)
    item = _item(part.name, document, row)
    content = text_of(row.get("SearchableText")) or text_of(row.get("Summary"))
    if chunks:
        searchable = without({"SearchableText": row.get("SearchableText")})
        yield from _document(replace(item, rest={**item.rest, **searchable}), chunks, store, row)
    elif content is None:
        yield Skipped(part.name, "no text")
    else:
        yield replace(item, memory={**item.memory, "content": content})


def _bare(name: str, store: _Store) -> Iterator[Found]:
    """Yield a document that has chunks and no metadata."""
    store.done.add(name)
    yield from _document(Item(external=name, place=name, memory={"metadata": {}}), store.texts(name), store, {})


def _item(place: str, document: str, row: Json) -> Item:
    own = row.get("CustomMetadata")
    moments, unread = times(row, created_at="Created", updated_at="Modified")
    tags, source = words(row.get("Tags")), text_of(row.get("OriginalPath"))
    lost = {
        **({} if isinstance(own, dict) else {"CustomMetadata": own}),
        **({} if tags else {"Tags": row.get("Tags")}),
        **({} if source else {"OriginalPath": row.get("OriginalPath")}),
    }
    return Item(
        external=document,
        place=place,
        memory={
            "tags": tags,
            "source": source,
            "reason": text_of(row.get("Summary")) if text_of(row.get("SearchableText")) else None,
            "metadata": own if isinstance(own, dict) else {},
            **moments,
        },
        rest={**without(row, *READ), **without(lost), **unread},
        retrieved=retrieved(row.get("AccessCount"), row.get("LastAccessed"), row.get("Modified"), row.get("Created")),
    )


def _document(
    item: Item, chunks: Sequence[tuple[str, Part | None]], store: _Store, row: Mapping[str, object]
) -> Iterator[Found]:
    """Yield a document with its chunks, or a failure when the text of a chunk is missing or cannot be read."""
    texts: list[str] = []
    for key, part in chunks:
        if part is None:
            yield Failed(item.place, f"the text of {key!r} is missing")
            return
        store.used.add(part.name)
        text = part.text()
        if isinstance(text, Failed):
            yield text
            return
        texts.append(clean(text))
    if not "".join(texts).strip():
        yield Skipped(item.place, "no text")
        return
    path = path_of(item.external, f"{SYSTEM}/{item.place}")
    reason = {} if row.get("Summary") is None else {"reason": text_of(row.get("Summary"))}
    about = replace(item, external=f"document\n{item.external}", memory={**item.memory, **reason})
    yield from document_items(about, Text(path, _cuts(texts), text_of(row.get("MimeType"))), SYSTEM)


def _cuts(texts: Sequence[str]) -> list[Cut]:
    """Return the cuts of chunks that were made between lines, so that a line break belongs to the one before."""
    lined = [*(f"{text}\n" for text in texts[:-1]), texts[-1]]
    if all(text.strip() for text in lined) and max(map(len, lined)) <= CONTENT_MAX:
        return [Cut(text=text) for text in lined]
    return cuts_of("".join(lined), [text for text in texts if text.strip()])


def _left(part: Part) -> Iterator[Skipped]:
    """Yield what stays behind of a file that is no text, metadata or chat."""
    if not part.name.endswith(VECTORS):
        of_tags = "tag_relevance" in part.name.split("/")
        yield Skipped(part.name, "scores of tags" if of_tags else "neither metadata, a chunk nor a chat")
    elif part.head(64).lstrip()[:1] == b"[":
        yield from (Skipped(place, VECTOR) for place, _ in json_items(part, "item"))
    else:
        yield Skipped(part.name, "a file of vectors")


INDEX = "chats/chats.json"
READ_OF_CHAT = ("Id", "Name", "ProjectId", "Created", "Modified")
ROLES = ("user", "system", "assistant")  # by their number
SPOKEN = ("user", "assistant")


def chats(parts: Sequence[Part], used: set[str]) -> Iterator[Found]:
    """Yield the chats of all `chats` folders, and add the files that were read to `used`."""
    files = {part.name: part for part in parts if "chats" in part.name.split("/")[:-1]}
    for part in [one for name, one in files.items() if posixpath.basename(name) == "chats.json"]:
        used.add(part.name)
        for place, row in json_items(part, "item"):
            chat = pascal(row) if isinstance(row, dict) else {}
            id_ = text_of(chat.get("Id"))
            if id_ is None:
                yield Failed(place, "a chat without an Id")
                continue
            own = files.get(posixpath.join(posixpath.dirname(part.name), f"{id_}.json"))
            if own is None:
                yield Skipped(place, "an empty chat")
                continue
            used.add(own.name)
            yield from _chat(_conversation(chat, id_), chat, own)
    for name, part in files.items():
        if name in used:
            continue
        used.add(name)
        if name.endswith(".json"):
            id_ = posixpath.basename(name).removesuffix(".json")
            yield from _chat(Conversation(id_, session="hazina"), {}, part)
        else:
            yield Skipped(name, "an attachment")


def _conversation(chat: Json, id_: str) -> Conversation:
    moments, unread = times(chat, created_at="Created", updated_at="Modified")
    return Conversation(
        id_,
        session=text_of(chat.get("ProjectId")) or "hazina",
        title=text_of(chat.get("Name")),
        times=moments,
        rest={**without(chat, *READ_OF_CHAT), **unread},
    )


def _chat(conversation: Conversation, chat: Json, part: Part) -> Iterator[Found]:
    """Yield the messages of a chat. They have no times there, so they get that of their chat."""
    yield from with_object(conversation, _messages(conversation, chat, json_items(part, "item")))


def _messages(conversation: Conversation, chat: Json, rows: Iterator[tuple[str, object]]) -> Iterator[Found]:
    turn = 0
    for number, (place, row) in enumerate(rows, start=1):
        found = _message(conversation, chat, place, row, turn + 1, number)
        turn += isinstance(found, Item)
        yield found


def _message(conversation: Conversation, chat: Json, place: str, found: object, turn: int, number: int) -> Found:
    if not isinstance(found, dict):
        return Failed(place, "is no object")
    row = pascal(found)
    role, payload = row.get("Role"), row.get("Payload")
    said = ROLES[role] if isinstance(role, int) and role in range(len(ROLES)) else str(role).lower()
    if said not in SPOKEN:
        return Skipped(place, "not said by user or assistant")
    text = text_of(row.get("Text"))
    if text is None and payload not in (None, "", {}):
        text, payload = payload if isinstance(payload, str) else msgspec.json.encode(payload).decode(), None
    if text is None:
        return Skipped(place, "no text")
    rest = {**without(row, "Role", "Text", "Payload"), **without({"Payload": payload})}
    return message(conversation, turn, f"{conversation.id}\n{number}", place, said, text, chat.get("Created"), rest)
