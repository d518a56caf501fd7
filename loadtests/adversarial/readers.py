"""Every function of `core` and `service` that reads text of a user, as one that takes a text alone."""

import io
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, cast
from xml.sax.saxutils import escape

import msgspec
import numpy as np

from muisti.core.conversations.context import weights
from muisti.core.conversations.context.counting import counter
from muisti.core.documents.symbols import reading as symbols
from muisti.core.embedding.cache import normalised
from muisti.core.embedding.encoder import SHIPPED, Tokens
from muisti.core.graph import answers as graph_answers
from muisti.core.graph import extraction as imported
from muisti.core.graph import pagerank as naming
from muisti.core.graph.entities import recogniser
from muisti.core.graph.entities.name_keys import norm
from muisti.core.graph.entities.recogniser import shipped
from muisti.core.graph.facts.reading import facts
from muisti.core.graph.model import Mention
from muisti.core.model import messages
from muisti.core.model.choices import EntityKind
from muisti.core.model.errors import InvalidInput
from muisti.core.model.unreadable import Unreadable
from muisti.core.model.values import QUERY_MAX, Draft
from muisti.core.operations.quality import lint
from muisti.core.operations.transfer.records import read_record
from muisti.core.parsing.chunking.cutting import DEFAULT, cut
from muisti.core.parsing.chunking.options import Chunking
from muisti.core.parsing.code import apart, grammars, reading
from muisti.core.parsing.code.grammars import TooIntricate, is_available
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.pieces import Piece, PieceKind
from muisti.core.parsing.reading import parse
from muisti.core.parsing.worker import file_reader
from muisti.core.query import applies, evidence, filter_fields, filters, intent, lacking, query
from muisti.core.read import diff
from muisti.core.search import answering
from muisti.core.text import aliases, highlight, recognise, secrets, sentences, speakers, standing_instructions, terms
from muisti.core.text.discourse import signals, summarise
from muisti.core.text.language import mostly_latin
from muisti.core.text.sentences import MAX_TOKENS
from muisti.core.text.terms import WORD_MAX, count_tokens
from muisti.core.text.when import time_spans as when
from muisti.core.write import echoes, screening, validate
from muisti.core.write.conflicts import exclusive, judgement, seeking, stance, words
from muisti.core.write.conflicts.claims import Claim, claim
from muisti.service.agents import answering as agents
from muisti.service.agents import outcomes
from muisti.service.asgi.messages import chosen
from muisti.service.console.render import safe_html
from muisti.service.console.versions import diff as console_diff
from muisti.service.formats import markdown
from muisti.service.formats.importers import (
    basic_memory,
    chunked,
    claude,
    claude_code,
    dialogues,
    items,
    mem0,
    notion,
    rules,
    slack,
)
from muisti.service.formats.importers import markdown as own_notes
from muisti.service.formats.importers.obsidian import Note
from muisti.service.formats.importers.shapes import Shape
from muisti.service.graph import formats as statements
from muisti.service.http import parameters, respond
from muisti.service.http.decode import decode
from muisti.service.mcp import messages as mcp_messages
from muisti.service.mcp import resources, token_budget
from muisti.service.mcp import tools as given
from muisti.service.observability import read_log
from muisti.service.pages.asking import marking
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.requests import DraftBody
from muisti.service.terminal import project, views
from muisti.service.tools import rendering
from muisti.service.tools.arguments import Remember
from tests.core.parsing import samples

PASSAGE = MAX_TOKENS * WORD_MAX  # characters
NOW = 1_700_000_000_000_000
HEADERS = 262_144  # bytes of all headers of a request
SIDES = [".", "user", "assistant", "ann lee"]
CLAIM = cast(Claim, claim("Our CEO is Bob Lee"))


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
    with suppress(markdown.BadFrontMatter):
        markdown.read_fields(text)


def _fields_of_note(text: str) -> None:
    with suppress(markdown.BadFrontMatter):
        markdown.read_fields(f"---\n{text[: markdown.LENGTH_MAX]}\n---\n")


def _claude(text: str) -> None:
    for _ in claude._remembered("a", {"conversations_memory": text}):
        pass


def _basic(text: str) -> None:
    basic_memory._marks(text)
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
        parameters.etags(text)


def _freshness(text: str) -> None:
    with suppress(HttpError):
        parameters.freshness(text)


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


def _parsed(text: str, name: str) -> None:
    with suppress(Unreadable):
        for _ in parse(text.encode("utf-8", "replace"), name, Options(), cast(Any, None)):
            pass


def _titled(text: str) -> None:
    turn = items.Item("a", "b", {"content": text, "event_at": None, "created_at": None})
    dialogues.conversation_object(dialogues.Conversation("a", "a"), "b", turn)


def _message(text: str) -> None:
    with suppress(mcp_messages.Unreadable):
        mcp_messages.message_of(msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": text, "params": {text: 1}}))


def _unreported(text: str) -> object:
    """Find the names that a model has reported: each second word, and one that is everywhere."""
    return recogniser.mentions(
        text, [recogniser.Reported(one, "person") for one in [*text[:2_000].split()[::2], "a"]], ()
    )


def _of_file(form: str) -> Callable[[str], None]:
    """Return a reader of a file of a form that has the text in it."""

    def run(text: str) -> None:
        with suppress(Unreadable):
            for _ in file_reader(form)(FORMS[form](text), Options(), About()):
                pass

    return run


def _stored(office: bytes) -> bytes:
    """Return an office file without compression: a text that repeats would be refused as a bomb."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(office)) as before, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in before.namelist():
            archive.writestr(name, before.read(name))
    return file.getvalue()


def _mail(text: str) -> bytes:
    return b"From: a@b.c\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n" + _bytes(text)


def _notebook(text: str) -> bytes:
    cells = [{"cell_type": kind, "source": text, "metadata": {}, "outputs": []} for kind in ("markdown", "code")]
    return msgspec.json.encode({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def _pdf(text: str) -> bytes:
    lines = [text[at : at + 100] for at in range(0, len(text), 100)]
    pages = ("\n".join(lines[at : at + 50]) for at in range(0, len(lines), 50))
    return samples.pdf(*(page.encode("latin-1", "replace").decode("latin-1") for page in pages))


def _sheet(text: str) -> str:
    cell = f"<table:table-cell><text:p>{text}</text:p></table:table-cell>"
    return f"<table:table><table:table-row>{cell}</table:table-row></table:table>"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# What makes a file of each form that has a text in it.
FORMS: Mapping[str, Callable[[str], bytes]] = {
    "html": _bytes,
    "eml": _mail,
    "mbox": lambda one: b"From a@b Mon May  3 10:00:00 2024\n" + _mail(one).replace(b"\nFrom ", b"\n>From "),
    "ipynb": _notebook,
    "pdf": _pdf,
    "docx": lambda one: _stored(samples.docx(samples.word_document(samples.paragraph(one)))),
    "pptx": lambda one: _stored(samples.pptx("Tea\n" + one)),
    "xlsx": lambda one: _stored(samples.xlsx([[one[at : at + 30_000]] for at in range(0, len(one), 30_000)])),
    "odt": lambda one: _stored(samples.odf("text", f"<text:p>{escape(one)}</text:p>")),
    "odp": lambda one: _stored(samples.odf("presentation", f"<draw:page><text:p>{escape(one)}</text:p></draw:page>")),
    "ods": lambda one: _stored(samples.odf("spreadsheet", _sheet(escape(one)))),
    "epub": lambda one: _stored(samples.epub(f"<p>{escape(one)}</p>")),
}


def _code(language: str) -> Callable[[str], None]:
    def run(text: str) -> None:
        with suppress(TooIntricate):
            grammars.definitions(text, language)
            reading.read("a", text, language)

    return run


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
    Reader("passages", sentences.split),
    Reader("key of a name", norm),
    Reader("mentions", lambda one: shipped().read(one, speakers=["Ann Lee"], known={"a b"}), 30_000),
    Reader("chunks", lambda one: _chunked(one, "text")),
    Reader("chunks of code", lambda one: _chunked(one, "code")),
    Reader("fixed chunks", lambda one: _chunked(one, "text", Chunking(strategy="fixed"))),
    Reader("model tokens", lambda one: _tokens().of([one]), QUERY_MAX),
    Reader("secrets", secrets.secrets_in),
    Reader("personal data", recognise.personal_in),
    Reader("redaction", lambda one: screening.without(one, secrets.secrets_in(one))),
    Reader("rules of an agent", lambda one: list(rules.items("AGENTS.md", one))),
    Reader("validation", _checked),
    Reader("echoes", lambda one: list(echoes.sentences(one))),
    Reader("facts", lambda one: facts(one, _names(one), None, two=True)),
    Reader("time words", lambda one: when.time_spans(one, NOW)),
    Reader("times of events", lambda one: when.of_events(one, when.time_spans(one, NOW))),
    Reader("kind of an answer", answering.kind_of, QUERY_MAX),
    Reader("subjects of a question", lambda one: [*applies.subjects(one)], QUERY_MAX),
    Reader("what a statement lacks", lambda one: (lacking.is_question(one), lacking._asked(one), lacking._stated(one))),
    Reader("questions to the graph", graph_answers._FIRST_PERSON.search, QUERY_MAX),
    Reader("prompt of a hook", lambda one: agents._SHOWN.sub("", one)),
    Reader("outcomes", lambda one: (outcomes.outcomes(one), outcomes.may_be_secret(one), outcomes.is_of_a_person(one))),
    Reader("Claude Code", claude_code._said),
    Reader("Slack", slack._Workspace().plain),
    Reader("page of Notion", lambda one: notion._divided(one, "a", ["b"])),
    Reader("other names", lambda one: [*aliases.stated(one)]),
    Reader("claim", lambda one: (seeking.sought(one), exclusive.may_be_about(one, CLAIM))),
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
    Reader("fields of a note", _fields_of_note, markdown.LENGTH_MAX),
    Reader("note", _all_of_note),
    Reader("own notes", lambda one: own_notes.detect(Shape(cast(Any, None), "text", texts=[one]))),
    Reader("names of notes", lambda one: markdown.path_of({"content": one})),
    Reader("basic-memory", _basic),
    Reader("Claude", _claude),
    Reader("mem0 blocks", lambda one: mem0._BLOCK.split(one)),
    Reader("importer's metadata", _metadata),
    Reader("importer's line", _line),
    Reader("MCP text", lambda one: token_budget.quoted({"id": "1", "updated_at": "2024", "content": one, "key": one})),
    Reader("terminal", lambda one: (views.safe(one), views.one_line(one))),
    Reader("Accept-Encoding", lambda one: chosen(one.encode()), HEADERS),
    Reader("ETags", _tags, HEADERS),
    Reader("freshness", _freshness, HEADERS),
    Reader("Prefer", lambda one: respond.minimal(one), HEADERS),
    Reader("stated secrets", secrets.stated_in),
    Reader("standing instruction", standing_instructions.standing),
    Reader("scope of an instruction", standing_instructions.scope_of),
    Reader("attribution", stance.attributed),
    Reader("question", stance.asks),
    Reader("quoted statements", stance.statements_quoted),
    Reader("speech acts", signals.signals),
    Reader("decisions", lambda one: signals.stating(one, "decision")),
    Reader("title", summarise.title_of),
    Reader("topic's title", lambda one: summarise.title([one], [one])),
    Reader("summary", lambda one: summarise.compress(one, 200, count_tokens, "word")),
    Reader("features of a context", lambda one: weights.measure(one, counter())),
    Reader("names in the graph", naming.candidates, QUERY_MAX),
    Reader("advice", evidence.asks_for_advice, QUERY_MAX),
    Reader("intent", lambda one: intent.read(one, NOW), QUERY_MAX),
    Reader("misspelt field", lambda one: filter_fields.nearest(one, ["author", "created_at", "importance"])),
    Reader("glob", filter_fields.literal),
    Reader("symbol", _symbol, QUERY_MAX),
    Reader("cuts of an importer", lambda one: chunked.cuts_of(one, items.split(one, 1_000))),
    Reader("fence", lambda one: list(rendering.fenced(one))),
    Reader("read that is counted", read_log.normalised),
    Reader("resource", resources.space_of),
    Reader("remote", lambda one: project.remote_path(one)),
    Reader("Markdown as HTML", safe_html, 200_000),
    Reader("difference in the console", lambda one: console_diff(one, f"{one[: len(one) // 2]} {one}")),
    Reader("marked matches", lambda one: marking.marked(f"…{one[-200:]}**x**", one), PASSAGE),
    Reader("names of a model", _unreported),
    Reader("imported relation", lambda one: imported.with_imported(one, _names(one), {"entity": one[:100]})),
    Reader("reply of a turn", lambda one: messages.messages("exchange", one, "a", {"reply_at": len(one) // 2})),
    Reader("file of text", lambda one: _parsed(one, "a.txt")),
    Reader("file in Markdown", lambda one: _parsed(one, "a.md")),
    Reader("file of values", lambda one: _parsed(one, "a.csv")),
    Reader("arguments of a tool", lambda one: given.given(Remember, {"content": one, "tags": one})),
    Reader("message of MCP", _message),
    Reader("words of code", lambda one: apart.words_of([one])),
    Reader("symbol in a passage", apart.symbol_of),
    Reader("graph for XML", statements.xml),
    Reader("size for MCP", token_budget.tokens),
    Reader("script", mostly_latin),
    Reader("text of a vector", normalised),
    Reader("title of an imported conversation", _titled),
    Reader("graph for Cypher", lambda one: (statements._quoted(one), statements._dotted(one))),
)

# What worker processes read, each with a limit of processor time.
OF_WORKERS = (
    *(Reader(f"code: {language}", _code(language)) for language in grammars.GRAMMARS if is_available(language)),
    *(Reader(f"file: {form}", _of_file(form)) for form in FORMS),
)
