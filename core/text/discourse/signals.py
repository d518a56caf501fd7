"""Acts of a message, by rules: it asks, requests, states, prefers, decides, or sets a task; and its importance.

English only.

A message may do several of these. Whose message it is counts as well: an assistant's "I like that" is no preference.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from muisti.core.model.outcomes import TypeSuggestion
from muisti.core.model.values import Memory, Stretch
from muisti.core.support.regex import regex
from muisti.core.support.waiting import give_way
from muisti.core.text.sentences import pieces
from muisti.core.text.speakers import ASSISTANTS
from muisti.core.text.standing_instructions import asked_of, has_mark, recognised
from muisti.core.text.terms import fold
from muisti.core.text.when.time_spans import TimeSpan, time_spans

Act = Literal["question", "request", "statement", "preference", "decision", "task"]
READ = 20_000  # characters of a message that are read

_MODAL = r"(?:can|could|would|will) you"
_QUESTION = regex(
    r"(?i)^(?:and |but |so |or |also,? |well,? |ok(?:ay)?,? |hey,? )?"
    r"(?:(?:what|who|whom|whose|which|where|when|why|how)"
    r"(?:'s|’s|'re|’re|'d|’d)?|(?:do|does|did|is|are|was|were|has|have|had|can|could|should|would|will|shall|may)"
    r"(?:n't|n’t)? (?:i|you|we|they|he|she|it|there|this|that|these|those|the|my|your|our|any|anyone|someone))\b"
)
_REQUEST = regex(
    rf"(?i)\b{_MODAL}\b(?! (?:believe|imagine))|\bplease\b|\b(?:help|tell|show|give|remind|send|let) me\b"
    r"|\bi(?:'d| would|’d) like (?:you )?to (?:know|see|have|get)\b|\bi (?:need|want) you to\b"
    r"|\bi need (?:your )?help\b"
)
_ORDER = regex(
    r"(?i)^(?:add|analy[sz]e|calculate|change|check|compare|convert|correct|create|debug|delete|describe|design|draft"
    r"|draw|edit|explain|extend|find|fix|format|generate|give|implement|improve|include|keep|list|make|optimi[sz]e"
    r"|outline|plan|provide|recommend|refactor|remember|remove|rename|replace|review|rewrite|run|schedule|search|send"
    r"|set|show|shorten|sort|suggest|summari[sz]e|tell|test|translate|update|use|verify|write)\b"
    r"(?! (?:of|is|was|were)\b)"
)
_PREFERENCE = regex(
    r"(?i)\b(?:i|we)(?:'d| would|’d| (?:also|still|just|always|much|do|\w+ly))* (?:prefer"
    r"|like(?! to (?:know|see|have|get)\b)|love|adore|enjoy|hate|dislike|detest|despise|loathe|avoid|refuse to"
    r"|can(?:'t|’t|not) (?:stand|bear|handle)"
    r"|(?:do not|don't|don’t|never) (?:like|want|enjoy|eat|drink|use|care for|touch))\b"
    r"|\bi(?:'m|’m| am) (?:not )?(?:a (?:big |huge )?fan of|allergic to|fond of|into|a vegetarian|a vegan|vegetarian"
    r"|vegan|obsessed with|keen on|picky about|partial to|not comfortable with"
    r"|(?:not |very |really |only )?interested in|\w+ly against)\b|\bi have no interest in\b"
    r"|\bi (?:exclusively|only) (?:buy|drink|eat|follow|listen|play|read|stay|travel|use|watch|wear)\b"
    r"|\bmy (?:\w+ )?(?:favou?rite|preference|preferred)\b|\bi(?:'d|’d| would) rather\b|\bi(?:'m|’m| am) averse to\b"
    r"|\bi have an? (?:\w+ )?(?:aversion|preference|dislike|fondness|distaste|soft spot|weakness) (?:to|for|of)\b"
    r"|\bi (?:\w+ly )?(?:find .{1,80}\band (?:prefer|avoid)\b|(?:learn|work|sleep|think) best\b)"
)
_DECISION = regex(
    r"(?i)\b(?:i|we|they)(?:'ve|’ve| have)?(?: (?:just|finally|all|already|now|both))* (?:decided|agreed|chose|chosen"
    r"|settled|opted|picked|concluded|committed to|made up (?:my|our) minds?)\b|\blet(?:'s|’s| us) (?:go with|use|do it"
    r"|stick (?:to|with)|take|settle on)\b|\b(?:i|we)(?:'ll|’ll| will|'m|’m| am|'re|’re| are) (?:go|going) with (?:the"
    r"|a|an|option|plan|this|that)\b"
    r"|\b(?:the )?decision (?:is|was)\b|\bit(?:'s|’s| is) decided\b|\bwe(?:'re|’re| are) going to use\b"
)
_TASK = regex(
    r"(?i)\bto-?do\b|\b(?:i|we|you|he|she|they)(?:'ve|’ve)? (?:must|have to|has to|need to"
    r"|needs to|ought to|got to|gotta)\b"
    r"|\b(?:do not|don't|don’t) forget\b|\bremember to\b|\bremind me\b|\b(?:deadline|action item|follow(?:-| )up)\b"
    r"|\bdue (?:by|on|date|in|next|this|tomorrow)\b|"
    r"\b(?:i|we)(?:'ll|’ll| will) (?!be\b|have\b|never\b)\w+ .{0,60}\b(?:by|before|tomorrow|tonight"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|next (?:week|month|time))\b"
)
_FIRST_PERSON = regex(r"(?i)\b(?:i|me|my|mine|myself|we|us|our|ours)\b")
_NUMBER = regex(r"\d")


@dataclass(frozen=True, slots=True)
class Signals:
    """Acts of a message in a fixed order, the times that it names, and whether it speaks of its author or of numbers.

    `acts` is never empty: what is nothing else is a statement.
    """

    acts: tuple[Act, ...]
    times: tuple[TimeSpan, ...]
    first_person: bool
    numbers: bool


def signals(text: str, *, author: str | None = None, reference: int = 0) -> Signals:
    """Return what a message does; `reference` in microseconds since 1970 is the time that "tomorrow" counts from.

    >>> signals("I prefer tea. Could you order some by Friday?").acts
    ('question', 'request', 'statement', 'preference')
    >>> signals("We decided to use SQLite, so I must write the migration.").acts
    ('statement', 'decision', 'task')
    """
    text = text[:READ]
    assistant = _is_assistant(author)
    found = {act for _, acts in _sentences(text, assistant) for act in acts}
    return Signals(
        acts=tuple(act for act in _ORDERED if act in found) or ("statement",),
        times=time_spans(text, reference),
        first_person=not assistant and _FIRST_PERSON.search(text) is not None,
        numbers=_NUMBER.search(text) is not None,
    )


def joint(messages: Iterable[Signals]) -> Signals:
    """Return what the messages of a turn do together.

    >>> joint([signals("I prefer tea."), signals("I prefer rock.", author="assistant")]).acts
    ('statement', 'preference')
    """
    every = [*messages]
    acts = {act for one in every for act in one.acts}
    return Signals(
        acts=tuple(act for act in _ORDERED if act in acts) or ("statement",),
        times=tuple(time for one in every for time in one.times),
        first_person=any(one.first_person for one in every),
        numbers=any(one.numbers for one in every),
    )


def stating(text: str, act: Act, *, author: str | None = None) -> list[str]:
    """Return the sentences of a message that do something.

    >>> stating("Hello! I prefer tea. Do you like coffee?", "preference")
    ['I prefer tea.']
    """
    return [sentence for sentence, acts in _sentences(text[:READ], _is_assistant(author)) if act in acts]


def _sentences(text: str, assistant: bool) -> Iterator[tuple[str, tuple[Act, ...]]]:
    """Yield the sentences of a message and what each does. Code says nothing."""
    for piece in pieces(text):
        if not piece.code:
            give_way()
            sentence = text[piece.start : piece.stop]
            yield sentence, tuple(_acts(sentence, assistant))


def _is_assistant(author: str | None) -> bool:
    return author is not None and fold(author) in ASSISTANTS


def _acts(sentence: str, assistant: bool) -> Iterator[Act]:
    asks = sentence.rstrip("\"'”’)* ").endswith(("?", "？")) or _QUESTION.match(sentence) is not None
    requests = not assistant and (_REQUEST.search(sentence) or _ORDER.match(sentence)) is not None
    if asks:
        yield "question"
    if requests:
        yield "request"
    if not asks and not requests:
        yield "statement"
    if assistant or asks:
        return
    for act, pattern in _STATED.items():
        if pattern.search(sentence):
            yield act


_ORDERED: tuple[Act, ...] = ("question", "request", "statement", "preference", "decision", "task")
_STATED: Mapping[Act, re.Pattern[str]] = {"preference": _PREFERENCE, "decision": _DECISION, "task": _TASK}


BASE = 0.05
NEAR = 400  # turns before a message that its novelty is measured against
MASS = 60.0  # idf mass at which a message is as full as it counts

# Shares of the rest, which sum to 1.
WEIGHTS: Mapping[str, float] = {
    "novelty": 0.3,
    "first_person": 0.2,
    "information": 0.25,
    "times": 0.07,
    "numbers": 0.03,
    "preference": 0.06,
    "decision": 0.05,
    "task": 0.04,
}

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Importance:
    """`value`, in (0, 1], is the sum of the `parts`, of which "base" is one."""

    value: float
    parts: Mapping[str, float]


def importance(signals: Signals, *, novelty: float, mass: float) -> Importance:
    """Return the importance of a message. `novelty` is in [0, 1], `mass` the sum of the idf of its distinct terms.

    It is a base and a sum of named parts, so it is never zero and can be explained. Working memory chooses and shows
    messages by it; searches do not use it. The parts and their weights come from which turns of two collections of
    conversations hold answers to questions. Two parts held in both: novelty, and speaking in the first person.

    >>> from muisti.core.text.discourse.signals import signals
    >>> importance(signals("I moved to Turku yesterday."), novelty=0.8, mass=20.0).value > .6
    True
    """
    strength = {
        "novelty": min(1.0, max(0.0, novelty)),
        "first_person": float(signals.first_person),
        "information": min(1.0, math.log1p(max(0.0, mass)) / math.log1p(MASS)),
        "times": float(bool(signals.times)),
        "numbers": float(signals.numbers),
        **{act: float(act in signals.acts) for act in ("preference", "decision", "task")},
    }
    parts = {"base": BASE} | {name: round((1 - BASE) * WEIGHTS[name] * strength[name], 4) for name in WEIGHTS}
    parts = {name: part for name, part in parts.items() if part}
    return Importance(round(math.fsum(parts.values()), 4), parts)


def novelty(vector: Vector, before: npt.NDArray[np.float32]) -> float:
    """Return one less the largest cosine to the turns before, of which the last `NEAR` count; 1 without any."""
    recent = before[-NEAR:]
    return 1.0 if not len(recent) else float(1 - max(0.0, float((recent @ vector).max())))


def suggested(memories: Iterable[Memory]) -> Iterator[TypeSuggestion]:
    """Yield a suggestion for each memory that the rule recognises and that is no guard."""
    for memory in memories:
        if memory.type == "guard" or not has_mark(memory.content):
            continue
        speaker = memory.author or memory.metadata.get("speaker")
        author = speaker if isinstance(speaker, str) else None
        said = asked_of(memory.kind, memory.content, author, memory.structure)
        found = recognised(said.text, kind=memory.kind, trust=memory.trust, author=said.speaker)
        if found is not None:
            start, scope = said.start, found.scope
            scope = None if scope is None else Stretch(start + scope.start, start + scope.stop)
            yield TypeSuggestion(id=memory.id, type="guard", scope=scope)
