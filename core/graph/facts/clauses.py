"""Find the clauses of a sentence that have a known subject, and read their verbs as far as the one that counts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from muisti.core.graph.facts.lexicon import ADJECTIVES, FORMS
from muisti.core.graph.facts.words import Word, listed

_HEADS = listed(
    "and but so because since although though while plus also as or then think know guess say believe feel well yeah"
    " yes no oh wow ok okay personally actually honestly lol haha sure true right nope yep anyway besides however"
    " therefore thus hence still now currently today recently lately unfortunately fortunately sadly btw yet for"
    " remember note mean realize realise hey hi thanks which too there , - – — ( \" “ ' ‘ : * & … . ! ;"
)
_SAYS = listed("think know say said mentioned note noted remember told mean forget aware sure user forgotten")
_OPENS = frozenset("\"“'‘")
_AUX = {
    **dict.fromkeys(listed("am is are was were be been being"), "be"),
    **dict.fromkeys(listed("have has had having"), "have"),
    **dict.fromkeys(listed("do does did"), "do"),
    **dict.fromkeys(listed("would could might may should must"), "modal"),
    **dict.fromkeys(listed("can will shall"), "can"),
    **dict.fromkeys(listed("not never rarely seldom hardly barely neither n't nor"), "not"),
    **dict.fromkeys(listed("only exclusively solely strictly"), "only"),
}
_ADVERBS = listed(
    "really also just still do too so very quite pretty much even ever already both all often sometimes now always"
    " more kind sort rather usually generally mostly typically primarily definitely absolutely super totally more"
    " most best first again recently lately currently long instead simply then actually once soon tend tends"
)  # fmt: skip
_NO_ADVERBS = listed("family reply apply supply rely fly italy only ally bully belly jelly lovely silly early daily")
_CHAINS = listed(
    "tend tends tended try tries trying tried need needs have has choose chooses chose decided decide start started"
    " begin began begun continue continued manage managed learned prefer prefers get got strive want wants"
)
_FEELS = listed("get feel become feels gets became getting feeling")
_ALSO_NOUNS = listed("love like use plan value favor favour fear object visit design work paint cook hope aim")
_AFTER_VERBS = listed("the a an my our their all any some to it that this how when what every natural only")
_DUE = listed("need needs want wants has have wanted")
_BEGINS = listed("start started begin began begun stop stopped quit keep kept")
_STOPS = listed("stop stopped quit")
_LOSES = listed("he she they it who which you")  # another subject
_JOINS = listed("and but or , ; so")
_MANNERS = 8  # words that may be between a subject and its verb


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, the words before the verb, and the place of the verb or of what follows "am" or "have".

    `last` is the kind of auxiliary just before it. `gone` says that it holds no more: "no longer". The clause begins at
    `border`, or at an earlier subject that it shares, and ends before `until`.
    """

    subject: int
    first: int
    at: int
    last: str = ""
    negated: bool = False
    gone: bool = False
    modal: bool = False
    past: bool = False
    only: bool = False
    chosen: bool = False  # "I prefer to …"
    refused: bool = False  # "I stopped …"
    due: bool = False  # "I need to …"
    border: int = 0
    until: int = 0


def clauses(words: Sequence[Word], subjects: Mapping[int, tuple[int, int]]) -> list[Clause]:
    """Return the clauses of a sentence. `subjects` has for the first word of a subject its code and its last word."""
    found = [*_clauses(words, subjects)]
    borders = [*(clause.border for clause in found[1:]), len(words)]
    return [replace(clause, until=until) for clause, until in zip(found, borders, strict=False)]


def _clauses(words: Sequence[Word], subjects: Mapping[int, tuple[int, int]]) -> Iterator[Clause]:
    """Yield clauses, each with the subject at its head or one that it shares with the clause before."""
    open_clause: Clause | None = None
    for at in range(len(words)):
        here = subjects.get(at)
        clause: Clause | None = None
        if here is not None:
            if open_clause := Clause(here[0], at, here[1] + 1, border=at) if _is_head(words, at) else None:
                clause = _verbs(words, replace(open_clause, negated=_doubted(words, at)))
        elif words[at].text in _LOSES:
            open_clause = None
        elif open_clause is not None and words[at].text in _JOINS and at + 1 < len(words) and at + 1 not in subjects:
            clause = _shared(words, open_clause, at)
        if clause is not None:
            open_clause = clause
            yield clause


def _shared(words: Sequence[Word], before: Clause, at: int) -> Clause | None:
    """Return the clause after "and" or "or" with the subject of the one before. "Or" shares its negation, too."""
    clause = Clause(before.subject, before.first, at + 1, border=at)
    if words[at].text == "or":
        clause = replace(clause, negated=before.negated, chosen=before.chosen, gone=before.gone, last=before.last)
    found = _verbs(words, clause)
    return found if found is not None and _continues(words, found) else None


def _is_head(words: Sequence[Word], at: int) -> bool:
    """Return whether a clause may begin at a subject: not in a question, a condition, or after a noun."""
    if at == 0:
        return True
    before = words[at - 1].text
    if before in _OPENS:
        return at == 1
    if before == "that":
        return at > 1 and words[at - 2].text in _SAYS
    return before in _HEADS or (before.endswith("ly") and before not in _NO_ADVERBS)


def _doubted(words: Sequence[Word], at: int) -> bool:
    """Return whether "I don't think" is before the subject."""
    before = [word.text for word in words[max(0, at - 3) : at]]
    return "not" in before and before[-1] in ("think", "believe", "that")


def _verbs(words: Sequence[Word], clause: Clause) -> Clause | None:
    """Read auxiliaries, adverbs and negations from the place of a clause; None when no verb follows."""
    at, end = clause.at, min(len(words), clause.at + _MANNERS)
    while at < end:
        word = words[at].text
        after = words[at + 1].text if at + 1 < len(words) else ""
        step = _step(replace(clause, at=at), word, after, words)
        if step is None:
            return replace(clause, at=at)
        clause, at = step, step.at
    return None


def _step(clause: Clause, word: str, after: str, words: Sequence[Word]) -> Clause | None:
    """Return the clause one step on, or None when `word` is the one that counts."""
    at = clause.at
    if word in _CHAINS and (chain := _chain(clause, word, after, words)):
        return chain
    if word in _AUX:
        return _auxiliary(replace(clause, at=at + 1), _AUX[word], word)
    if word in _FEELS and (after in ADJECTIVES or after in _ADVERBS or after.endswith("ly")):
        return replace(clause, at=at + 1, last="be")
    if word == "no" and after == "longer":
        return replace(clause, at=at + 2, gone=True)
    if word == "used" and after == "to" and clause.last != "be":
        return replace(clause, at=at + 2, gone=True, past=True)
    if word in _BEGINS and after.endswith("ing"):
        return replace(clause, at=at + 1, refused=word in _STOPS, last="be")
    if word == "rather" and clause.modal:
        return replace(clause, at=at + 1, chosen=True)
    if word in _ADVERBS or (word.endswith("ly") and word not in _NO_ADVERBS):
        return replace(clause, at=at + 1)
    return None


def _auxiliary(clause: Clause, kind: str, word: str) -> Clause:
    if kind == "not":
        return replace(clause, negated=not clause.negated)
    if kind == "only":
        return replace(clause, only=True)
    past = clause.past or word in ("was", "were", "did", "had")
    return replace(clause, last=kind, modal=clause.modal or kind == "modal", past=past)


def _chain(clause: Clause, word: str, after: str, words: Sequence[Word]) -> Clause | None:
    """Read "try to", "prefer not to", "need to"; None when no such words are there."""
    denied = after == "not" and clause.at + 2 < len(words) and words[clause.at + 2].text == "to"
    if not denied and after != "to":
        return None
    at = clause.at + (3 if denied else 2)
    return replace(
        clause,
        at=at,
        negated=clause.negated ^ denied,
        chosen=clause.chosen or word.startswith("prefer"),
        due=clause.due or word in _DUE,
        last="",
    )


def _continues(words: Sequence[Word], clause: Clause) -> bool:
    """Return whether words after "and" are a verb of the same subject, no noun."""
    word = words[clause.at].text
    if word == "like" and words[clause.border].text not in ("and", "but"):
        return False
    if clause.chosen and words[clause.border].text != "or":
        return True
    if clause.last in ("be", "have"):
        return words[clause.at - 1].text in ("am", "have", "was", "been")
    form = FORMS.get(word)
    if form is None or form[1] == "g":
        return False
    after = words[clause.at + 1].text if clause.at + 1 < len(words) else ""
    if (
        word in _ALSO_NOUNS
        and clause.at == clause.border + 1
        and not (after in _AFTER_VERBS or after.endswith(("s", "ing")))
    ):
        return False
    return after not in ("of", ",", ".", "and", "", "for") or form[0] in ("rely", "opt")
