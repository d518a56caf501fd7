"""Put the sections of a context together: with titles, or into the caller's template; and find every memory again."""

from collections.abc import Mapping, Sequence
from string import Template

import msgspec

from muisti.core.conversations.context.rendering import NOTICE, Place, Shown, written
from muisti.core.conversations.context.sections import TITLES
from muisti.core.model.context import SectionName

CONTEXT, QUERY, NOTICED = "context", "query", "notice"  # placeholders, beside the names of sections


class Part(msgspec.Struct, frozen=True):
    """A section with the memories to show; `note` is a line in their place."""

    name: SectionName
    shown: Sequence[Shown] = ()
    days: bool = True
    note: str = ""


class Text(msgspec.Struct, frozen=True):
    """A text and the places of memories in it, by section."""

    text: str
    places: Sequence[tuple[SectionName, Place]] = ()


def laid_out(parts: Sequence[Part], template: str | None, query: str) -> Text:
    """Return the text of a context. Empty sections are left out; nothing at all is an empty text."""
    if template is None:
        return _own(parts)
    return _filled(parts, template, query)


def title(name: SectionName, parts: int) -> str:
    """Return the line above a section; memories alone need none."""
    return "" if name == "memories" and parts == 1 else TITLES[name]


def _own(parts: Sequence[Part]) -> Text:
    texts: list[Text] = []
    for part in parts:
        if part.shown or part.note:
            texts += [Text(title(part.name, len(parts))), _section(part)]
    return _joined([Text(f"{NOTICE}\n"), *texts]) if texts else Text("")


def _section(part: Part) -> Text:
    text, places = written(part.shown, days=part.days)
    return Text(text + part.note, [(part.name, place) for place in places])


def _filled(parts: Sequence[Part], template: str, query: str) -> Text:
    """Return the template with its placeholders filled; others stay as they are, as in `Template.safe_substitute`."""
    known: Mapping[str, Text] = {
        CONTEXT: _own(parts),
        QUERY: Text(query),
        NOTICED: Text(NOTICE),
        **{name: Text("") for name in TITLES},
        **{part.name: _section(part) for part in parts},
    }
    pieces: list[Text] = []
    at = 0
    for found in Template.pattern.finditer(template):
        pieces.append(Text(template[at : found.start()]))
        name = found["named"] or found["braced"]
        fallback = "$" if found["escaped"] is not None else found.group()
        pieces.append(known.get(name, Text(fallback)) if name else Text(fallback))
        at = found.end()
    return _joined([*pieces, Text(template[at:])])


def _joined(texts: Sequence[Text]) -> Text:
    places: list[tuple[SectionName, Place]] = []
    at = 0
    for one in texts:
        for name, place in one.places:
            places.append((name, Place(place.shown, place.start + at, place.stop + at)))
        at += len(one.text)
    return Text("".join(one.text for one in texts), places)
