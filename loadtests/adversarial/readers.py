"""Every function of `core` and `service` that reads text of a user, as one that takes a text alone."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np

from muisti.core.chunking.cutting import DEFAULT, cut
from muisti.core.chunking.options import Chunking
from muisti.core.conflicts import attribution, judgement, stance, words
from muisti.core.context import features
from muisti.core.context.counting import counter
from muisti.core.discourse import signals, summarise, titles
from muisti.core.embedding.encoder import SHIPPED
from muisti.core.embedding.tokens import Tokens
from muisti.core.entities.names import norm
from muisti.core.entities.recogniser import shipped
from muisti.core.facts.reading import facts
from muisti.core.graph import naming
from muisti.core.model.documents import Piece, PieceKind
from muisti.core.model.errors import InvalidInput
from muisti.core.model.graph import Mention
from muisti.core.model.graph_terms import EntityKind
from muisti.core.model.values import QUERY_MAX, Draft
from muisti.core.quality import lint
from muisti.core.query import advice, filter_fields, filters, intent, query
from muisti.core.read import diff
from muisti.core.symbols import reading as symbols
from muisti.core.text import highlight, passages, personal, secrets, speakers, standing, stated_secrets, terms
from muisti.core.text.passages import MAX_TOKENS
from muisti.core.text.terms import WORD_MAX, count_tokens
from muisti.core.text.when import words as when
from muisti.core.transfer.records import read_record
from muisti.core.write import recent_results, screening, validate
from muisti.service.asgi import compress
from muisti.service.cli import output, project
from muisti.service.cli.commands.hook import capture
from muisti.service.console.markdown import safe_html
from muisti.service.formats import front_matter, markdown
from muisti.service.formats.importers import basic_memory, claude, documents, items, mem0
from muisti.service.formats.importers import markdown as own_notes
from muisti.service.formats.importers.notes import Note
from muisti.service.formats.importers.shapes import Shape
from muisti.service.http import headers, preferences
from muisti.service.http.decode import decode
from muisti.service.mcp import fence, recall, resources
from muisti.service.observability import reads
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.requests import DraftBody

PASSAGE = MAX_TOKENS * WORD_MAX  # characters
NOW = 1_700_000_000_000_000
HEADERS = 262_144  # bytes of all headers of a request
SIDES = [".", "user", "assistant", "ann lee"]


class Reader(NamedTuple):
    """A function of a text; `top` is the most characters that reach it."""

    name: str
    call: Callable[[str], object]
    top: int = 100_000


@cache
def _tokens() -> Tokens:
    return Tokens((SHIPPED / "tokenizer.json").read_bytes())


def _names(text: str) -> list[Mention]:
    """Return each 20 characters of a text as a name, so that pairs of names are judged."""
    kinds: tuple[EntityKind, ...] = ("person", "place", "organisation")
    return [Mention(at, min(at + 10, len(text)), kinds[at % 3], 1.0, "rule") for at in range(0, len(text), 20)]


def _note(text: str) -> Note:
    return Note("folder/note.md", {"title": "note", "permalink": "note"}, text, 1)


def _all_of_note(text: str) -> object:
    note = _note(text)
    return note.prose, note.tags, note.links


def _split_note(text: str) -> None:
    with suppress(front_matter.BadFrontMatter):
        front_matter.read(text)


def _fields_of_note(text: str) -> None:
    with suppress(front_matter.BadFrontMatter):
        front_matter.read(f"---\n{text[: front_matter.LENGTH_MAX]}\n---\n")


def _claude(text: str) -> None:
    for _ in claude._remembered("a", {"conversations_memory": text}):
        pass


def _basic(text: str) -> None:
    basic_memory._is_ours(text)
    for _ in basic_memory._of(_note(text)):
        pass


def _checked(text: str) -> None:
    with suppress(InvalidInput):
        validate.check_draft(Draft(content=text), NOW)


def _fields(text: str) -> None:
    with suppress(InvalidInput):
        filters.parse({text: {"eq": text}})


def _body(text: str) -> None:
    with suppress(InvalidInput, HttpError):
        decode(msgspec.json.encode({text: 1}), DraftBody)


def _record(text: str) -> None:
    with suppress(InvalidInput):
        read_record(msgspec.json.encode({"type": "memory", "memory": {text: 1}}))


def _tags(text: str) -> None:
    with suppress(HttpError):
        headers.etags(text)


def _freshness(text: str) -> None:
    with suppress(HttpError):
        headers.freshness(text)


def _metadata(text: str) -> None:
    pieces = {text[at : at + 40]: text[at : at + 40] for at in range(0, len(text), 40)}
    items._metadata(pieces, {}, "other")


def _like(text: str) -> None:
    """Compare as the conflict check does: no text of more than a passage."""
    if count_tokens(text) <= MAX_TOKENS:
        judgement.judge(text, f"{text} not", 0.95, lambda texts: np.full((len(texts), 4), 0.5, np.float32))


def _line(text: str) -> None:
    for _ in items.lines_of(items.Item("a", "b", {"content": text, "tags": [text]}), "mem0", "default"):
        pass


def _symbol(text: str) -> None:
    with suppress(InvalidInput):
        symbols.split(text)


def _chunked(text: str, kind: PieceKind, options: Chunking = DEFAULT) -> None:
    for _ in cut([Piece(text=text, kind=kind, language="python" if kind == "code" else None)], options):
        pass


READERS = (
    Reader("normalise", terms.normalise),
    Reader("fold", terms.fold),
    Reader("index terms", lambda one: terms.index_codes(one, 0)),
    Reader("query terms", terms.query_terms, QUERY_MAX),
    Reader("count tokens", terms.count_tokens),
    Reader("highlight", lambda one: highlight.highlight(one, {"a", "word", "1", "版版"}), PASSAGE),
    Reader("passages", passages.split),
    Reader("key of a name", norm),
    Reader("mentions", lambda one: shipped().read(one, speakers=["Ann Lee"], known={"a b"}), 30_000),
    Reader("chunks", lambda one: _chunked(one, "text")),
    Reader("chunks of code", lambda one: _chunked(one, "code")),
    Reader("fixed chunks", lambda one: _chunked(one, "text", Chunking(strategy="fixed"))),
    Reader("model tokens", lambda one: _tokens().of([one])),
    Reader("secrets", secrets.secrets_in),
    Reader("personal data", personal.personal_in),
    Reader("redaction", lambda one: screening.without(one, secrets.secrets_in(one))),
    Reader("validation", _checked),
    Reader("echoes", lambda one: list(recent_results.sentences(one))),
    Reader("facts", lambda one: facts(one, _names(one), None, two=True)),
    Reader("time words", lambda one: when.time_spans(one, NOW)),
    Reader("speakers", speakers.Speakers(SIDES).asked, QUERY_MAX),
    Reader("query", lambda one: query.parse(one, "any"), QUERY_MAX),
    Reader("conflict words", words.read.__wrapped__),  # without its cache
    Reader("conflict", _like),
    Reader("difference", lambda one: diff.stretch(one, f"{one[: len(one) // 2]} {one}")),
    Reader("lint parts", lint._parts),
    Reader("filter", _fields),
    Reader("JSON body", _body),
    Reader("import line", _record),
    Reader("front matter", _split_note),
    Reader("fields of a note", _fields_of_note, front_matter.LENGTH_MAX),
    Reader("note", _all_of_note),
    Reader("own notes", lambda one: own_notes.detect(Shape(cast(Any, None), "text", texts=[one]))),
    Reader("names of notes", lambda one: markdown.path_of({"content": one})),
    Reader("basic-memory", _basic),
    Reader("Claude", _claude),
    Reader("mem0 blocks", lambda one: mem0._BLOCK.split(one)),
    Reader("importer's metadata", _metadata),
    Reader("importer's line", _line),
    Reader("hook", capture.may_be_secret),
    Reader("MCP text", lambda one: recall.quoted({"id": "1", "updated_at": "2024", "content": one, "key": one})),
    Reader("terminal", lambda one: (output.safe(one), output.one_line(one))),
    Reader("Accept-Encoding", lambda one: compress.chosen(one.encode()), HEADERS),
    Reader("ETags", _tags, HEADERS),
    Reader("freshness", _freshness, HEADERS),
    Reader("Prefer", lambda one: preferences.minimal(one), HEADERS),
    Reader("stated secrets", stated_secrets.stated_in),
    Reader("standing instruction", standing.standing),
    Reader("scope of an instruction", standing.scope_of),
    Reader("attribution", attribution.attributed),
    Reader("question", stance.asks),
    Reader("quoted statements", stance.statements_quoted),
    Reader("speech acts", signals.signals),
    Reader("decisions", lambda one: signals.stating(one, "decision")),
    Reader("title", titles.title_of),
    Reader("topic's title", lambda one: titles.title([one], [one])),
    Reader("summary", lambda one: summarise.compress(one, 200, count_tokens, "word")),
    Reader("features of a context", lambda one: features.measure(one, counter())),
    Reader("names in the graph", naming.candidates, QUERY_MAX),
    Reader("advice", advice.asks_for_advice, QUERY_MAX),
    Reader("intent", lambda one: intent.read(one, NOW), QUERY_MAX),
    Reader("misspelt field", lambda one: filter_fields.nearest(one, ["author", "created_at", "importance"])),
    Reader("glob", filter_fields.literal),
    Reader("symbol", _symbol, QUERY_MAX),
    Reader("cuts of an importer", lambda one: documents.cuts_of(one, items.split(one, 1_000))),
    Reader("fence", lambda one: list(fence.fenced(one))),
    Reader("read that is counted", reads.normalised),
    Reader("resource", resources.space_of),
    Reader("remote", lambda one: project.remote_path(one)),
    Reader("Markdown as HTML", safe_html, 200_000),
)
