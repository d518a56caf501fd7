"""The words of a text, and those that state a fact: verbs with their forms, adjectives and nouns with prepositions."""

from collections.abc import Sequence
from typing import NamedTuple

from muisti.core.model.choices import RelationKind
from muisti.core.support.regex import regex

_WORD = regex(r"[^\W_]++(?:['’\-.&/+][^\W_]++)*+|[^\w\s]")
_SPELT = {
    "i'm": ("i", "am"), "im": ("i", "am"), "i've": ("i", "have"), "ive": ("i", "have"), "i'd": ("i", "would"),
    "i'll": ("i", "will"), "we're": ("we", "are"), "we've": ("we", "have"), "we'd": ("we", "would"),
    "we'll": ("we", "will"), "you're": ("you", "are"), "you've": ("you", "have"), "you'd": ("you", "would"),
    "you'll": ("you", "will"), "cannot": ("can", "not"), "can't": ("can", "not"), "cant": ("can", "not"),
    "won't": ("will", "not"), "wont": ("will", "not"), "don't": ("do", "not"), "dont": ("do", "not"),
    "doesn't": ("does", "not"), "doesnt": ("does", "not"), "didn't": ("did", "not"), "didnt": ("did", "not"),
    "isn't": ("is", "not"), "aren't": ("are", "not"), "wasn't": ("was", "not"), "weren't": ("were", "not"),
    "haven't": ("have", "not"), "hasn't": ("has", "not"), "hadn't": ("had", "not"), "couldn't": ("could", "not"),
    "wouldn't": ("would", "not"), "shouldn't": ("should", "not"), "gonna": ("going", "to"), "wanna": ("want", "to"),
}  # fmt: skip

_ENDINGS = {"re": "are", "ve": "have", "ll": "will", "d": "would"}


def listed(text: str) -> frozenset[str]:
    """Return the words of a list that is written as one text."""
    return frozenset(text.split())


class Word(NamedTuple):
    """A word or a mark; `start` and `stop` are its place in the text, in characters."""

    text: str
    start: int
    stop: int
    capital: bool


def words(text: str, start: int, stop: int) -> list[Word]:
    """Return the words of a stretch of a text. The parts of a contraction share its place.

    >>> [word.text for word in words("I don’t like Ann's tea.", 0, 23)]
    ['i', 'do', 'not', 'like', 'ann', "'s", 'tea', '.']
    """
    found: list[Word] = []
    for match in _WORD.finditer(text, start, stop):
        first, last = match.span()
        written = match[0]
        word = written.lower() if written.isascii() else written.replace("’", "'").lower()
        capital = written[0].isupper()
        if "'" in word or word in _SPELT:
            found += _parts(word, first, last, capital)
        else:
            found.append(Word(word, first, last, capital))
    return found


def _parts(word: str, first: int, last: int, capital: bool) -> Sequence[Word]:
    if parts := _SPELT.get(word):
        return [Word(part, first, last, capital) for part in parts]
    stem, _, end = word.rpartition("'")
    if end in _ENDINGS and stem.isalpha():
        return [Word(stem, first, last, capital), Word(_ENDINGS[end], first, last, False)]
    if word.endswith("'s"):
        return [Word(word[:-2], first, last - 2, capital), Word("'s", last - 2, last, False)]
    return [Word(word, first, last, capital)]


class Cue(NamedTuple):
    """A way to state a fact: what a verb, adjective or noun says, when these words follow it.

    `denied` is the kind that its negation states; with None the negation denies `kind`, and with "" it says nothing.
    `needs` names a condition on the object (`objects.CONDITIONS`). `tenses` are the forms of a verb that state it:
    b(ase), s, g(erund after "be"), p(ast), n (participle after "have").
    """

    kind: RelationKind
    follows: tuple[str, ...] = ()
    denied: RelationKind | str | None = None
    needs: str = "any"
    tenses: str = "bsgpn"


def _cues(kind: RelationKind, follows: str, **options: str) -> list[Cue]:
    return [Cue(kind, tuple(after.split()), **options) for after in follows.split("|")]


_PAST = {
    "bought": "buy", "wrote": "write", "written": "write", "built": "build", "made": "make", "went": "go",
    "gone": "go", "drew": "draw", "flew": "fly", "got": "get", "took": "take", "stuck": "stick", "left": "leave",
    "ate": "eat", "found": "find", "kept": "keep", "gave": "give", "sang": "sing", "chose": "choose",
    "came": "come", "grew": "grow", "drove": "drive", "met": "meet", "wore": "wear", "shot": "shoot",
}  # fmt: skip
_DOUBLED = listed("plan opt skip travel refer stop knit quit occur shop get run")


def forms(lemma: str) -> dict[str, tuple[str, str]]:
    """Return the regular forms of a verb, each with the verb and a letter for the form.

    >>> sorted(forms("plan"))
    ['plan', 'planned', 'planning', 'plans']
    """
    stem = lemma + lemma[-1] if lemma in _DOUBLED else lemma[:-1] if lemma[-1] == "e" else lemma
    past = lemma[:-1] + "ied" if lemma[-1] == "y" and lemma[-2] not in "aeo" else stem + "ed"
    plural = lemma[:-1] + "ies" if past.endswith("ied") else lemma + ("es" if lemma[-1] in "hxos" else "s")
    return {lemma: (lemma, "b"), plural: (lemma, "s"), stem + "ing": (lemma, "g"), past: (lemma, "p")}


EATS = listed(
    "eat consume drink use watch play read wear buy take ride drive do smoke touch visit support rent follow hunt"
    " purchase order attend own"
)
_LIKED = listed("like love enjoy adore cherish")
_DISLIKED = listed("hate dislike detest despise loathe abhor resent oppose")
_MADE = listed("make paint write build create design bake cook draw compose knit craft sew")

VERBS: dict[str, list[Cue]] = {
    **{verb: [Cue("likes", denied="dislikes", needs="liked")] for verb in _LIKED},
    **{verb: [Cue("dislikes", needs="liked")] for verb in _DISLIKED},
    "value": [Cue("likes", needs="liked", tenses="bs")],
    "prioritize": [Cue("prefers", tenses="bsg")],
    "prefer": [Cue("prefers", denied="dislikes")],
    "favor": [Cue("prefers", denied="dislikes", tenses="bs")],
    "favour": [Cue("prefers", denied="dislikes", tenses="bs")],
    "opt": _cues("prefers", "for", tenses="bs"),
    "choose": [Cue("prefers", tenses="bs", denied="")],
    "gravitate": _cues("prefers", "towards|toward|to"),
    "lean": _cues("prefers", "towards|toward", tenses="bsg"),
    "stick": _cues("prefers", "to|with", tenses="bs", denied=""),
    "insist": _cues("prefers", "on|upon", denied=""),
    "rely": _cues("prefers", "on|upon|solely on|only on|entirely on|exclusively on|heavily on", tenses="bs", denied=""),
    "thrive": _cues("prefers", "in|on", tenses="bs", denied="dislikes"),
    "adhere": _cues("prefers", "to", tenses="bs", denied=""),
    "seek": _cues("prefers", "out", tenses="bs", denied="avoids"),
    "avoid": [Cue("avoids", needs="liked")],
    "refuse": [*_cues("avoids", "to", denied=""), Cue("avoids", denied="", tenses="bs", needs="liked")],
    "reject": [Cue("avoids", denied="", tenses="bs")],
    "boycott": [Cue("avoids", denied="")],
    "skip": [Cue("avoids", denied="", tenses="b", needs="liked")],
    "steer": _cues("avoids", "clear of|away from", denied=""),
    "stay": _cues("avoids", "away from", denied=""),
    "keep": _cues("avoids", "away from", denied=""),
    "shy": _cues("avoids", "away from", denied=""),
    "abstain": _cues("avoids", "from", denied=""),
    "refrain": _cues("avoids", "from", denied=""),
    "object": _cues("dislikes", "to", tenses="bs"),
    "use": [Cue("uses", needs="thing", tenses="bsgn")],
    "drive": [Cue("uses", needs="owned", tenses="b")],
    "switch": _cues("uses", "to", needs="thing", tenses="pn", denied=""),
    "own": [Cue("owns", needs="thing", tenses="bsn")],
    "buy": [Cue("owns", needs="owned", tenses="pn", denied="")],
    "purchase": [Cue("owns", needs="owned", tenses="pn", denied="")],
    "adopt": [Cue("owns", needs="possession", tenses="pn", denied="")],
    "get": [Cue("owns", needs="possession", tenses="pn", denied="")],
    **{verb: [Cue("made", needs="work", tenses="pgn", denied="")] for verb in _MADE},
    **{verb: [Cue("made", needs="started", tenses="pn", denied="")] for verb in listed("open launch start found")},
    "sign": _cues("attended", "up for", needs="owned", tenses="pn", denied=""),
    "plan": [
        *_cues("plans", "to|on|for", needs="verb", tenses="bsg", denied=""),
        Cue("plans", needs="possessed", tenses="g", denied=""),
    ],
    "intend": _cues("plans", "to", needs="verb", tenses="bsg", denied=""),
    "aim": _cues("plans", "to", needs="verb", tenses="g", denied=""),
    "hope": _cues("plans", "to", needs="verb", tenses="bg", denied=""),
    "attend": [Cue("attended", needs="thing", tenses="pn", denied="")],
    "join": [Cue("attended", needs="owned", tenses="pn", denied="")],
    "participate": _cues("attended", "in", needs="owned", tenses="pn", denied=""),
    "compete": _cues("attended", "in", needs="owned", tenses="pn", denied=""),
    "go": [*_cues("plans", "to", needs="verb", tenses="g", denied=""),
           *_cues("attended", "to|on", needs="event", tenses="pn", denied=""),
           *_cues("visited", "to", needs="place", tenses="pn", denied="")],
    "take": _cues("attended", "part in", needs="owned", tenses="p", denied=""),
    "visit": [Cue("visited", needs="place", tenses="pn", denied="")],
    "travel": _cues("visited", "to", needs="place", tenses="pn", denied=""),
    "fly": _cues("visited", "to", needs="place", tenses="p", denied=""),
    "live": _cues("lives_in", "in|near|just outside", needs="name", tenses="bsg"),
    "reside": _cues("lives_in", "in", needs="name", tenses="bsg"),
    "move": _cues("lives_in", "to|back to|out to|here to", needs="name", tenses="pn", denied=""),
    "relocate": _cues("lives_in", "to", needs="name", tenses="pn", denied=""),
    "work": _cues("works_at", "at|for", needs="employer", tenses="bsg"),
    "intern": _cues("works_at", "at", needs="employer", tenses="g"),
    "follow": [Cue("prefers", needs="diet", tenses="bsg", denied="")],
    "maintain": [Cue("prefers", needs="diet", tenses="bs", denied="")],
    "marry": [Cue("spouse", needs="name", tenses="p", denied="")],
}  # fmt: skip

DENIED: dict[str, list[Cue]] = {
    **{verb: [Cue("avoids", denied="avoids", needs="liked", tenses="bs")] for verb in EATS - {"own"}},
    **{verb: [Cue("dislikes", denied="dislikes", needs="liked", tenses="bs")] for verb in listed(
        "stand bear tolerate handle"
    )},
    "trust": [Cue("dislikes", denied="dislikes", needs="liked", tenses="bs")],
    "appreciate": [Cue("dislikes", denied="dislikes", needs="thing", tenses="bs")],
    "care": _cues("dislikes", "for|about", denied="dislikes", tenses="bs"),
    "listen": _cues("avoids", "to", denied="avoids", tenses="bs"),
    "participate": _cues("avoids", "in", denied="avoids", tenses="bs"),
    "engage": _cues("avoids", "in|with", denied="avoids", tenses="bs"),
    "go": _cues("avoids", "to", denied="avoids", needs="liked", tenses="bs"),
    "stay": _cues("avoids", "at|in", denied="avoids", tenses="bs"),
    "dine": _cues("avoids", "at|in|out at", denied="avoids", tenses="bs"),
    "want": [Cue("dislikes", denied="dislikes", needs="thing", tenses="bs")],
    "believe": _cues("dislikes", "in", denied="dislikes", tenses="bs"),
}  # fmt: skip
"""Kinds that verbs state in the present and with a negation: "I don't eat meat"."""

ONLY: dict[str, list[Cue]] = {
    **{
        verb: [Cue("prefers", needs="liked", tenses="bs")]
        for verb in EATS | listed("choose adopt accept like love enjoy")
    },
    "eat": [*_cues("prefers", "at|in", tenses="bs"), Cue("prefers", needs="liked", tenses="bs")],
    "listen": _cues("prefers", "to", tenses="bs"),
    "participate": _cues("prefers", "in", tenses="bs"),
    "engage": _cues("prefers", "in|with", tenses="bs"),
    "stay": _cues("prefers", "at|in", tenses="bs"),
    "shop": _cues("prefers", "at|in|for", tenses="bs"),
    "dine": _cues("prefers", "at|in", tenses="bs"),
    "go": _cues("prefers", "to|for", tenses="bs"),
    "travel": _cues("prefers", "by|with|in", tenses="bs"),
    "fly": [Cue("prefers", needs="liked", tenses="bs")],
    "buy": [Cue("prefers", needs="liked", tenses="bs")],
}
"""Kinds that verbs state in the present after "only": "I only use natural soap"."""

ADJECTIVES: dict[str, list[Cue]] = {
    "allergic": _cues("allergic_to", "to"),
    "intolerant": _cues("allergic_to", "to|of"),
    "sensitive": _cues("dislikes", "to"),
    "fond": _cues("likes", "of", denied="dislikes"),
    "keen": _cues("likes", "on", denied="dislikes"),
    "passionate": _cues("likes", "about"),
    "crazy": _cues("likes", "about", denied="dislikes"),
    "drawn": _cues("likes", "to|towards|toward", denied="dislikes"),
    "obsessed": _cues("likes", "with"),
    "fascinated": _cues("likes", "by|with"),
    "partial": _cues("likes", "to"),
    "into": [Cue("likes", denied="dislikes", needs="liked")],
    "interested": _cues("likes", "in", denied="dislikes", needs="liked"),
    "comfortable": _cues("likes", "with|in|around|using", denied="dislikes"),
    "fan": _cues("likes", "of", denied="dislikes", needs="liked"),
    "lover": _cues("likes", "of"),
    "from": [Cue("comes_from", needs="name", denied="")],
    **{word: [*_cues("dislikes", "to|of|with|in|about|by|around|at|when", needs="liked"),
              Cue("dislikes", needs="gerund")] for word in
       listed(
           "opposed averse uncomfortable afraid scared terrified wary skeptical sceptical tired sick bored"
           " uninterested annoyed bothered disgusted repulsed turned phobic intimidated disinterested"
       )},
    "against": [Cue("dislikes", needs="liked", denied="")],
    "on": [Cue("prefers", needs="diet", denied="")],
    "based": _cues("lives_in", "in|out of|near", needs="name"),
    "married": _cues("spouse", "to", needs="name"),
    "employed": _cues("works_at", "at|by", needs="employer"),
}  # fmt: skip

NOUNS: dict[str, list[Cue]] = {
    **{word: _cues("dislikes", "to|for|of|towards|toward|against|in|about|with", needs="liked") for word in
       listed(
           "aversion dislike distaste hatred phobia fear objection opposition stance disdain objections disinterest"
           " contempt discomfort repulsion hate sensitivity sensitivities"
       )},
    **{word: _cues("allergic_to", "to") for word in listed("allergy allergies intolerance")},
    **{word: _cues("prefers", "for|towards|toward", denied="") for word in listed("preference inclination penchant")},
    **{word: _cues("likes", "for|of|in", denied="dislikes", needs="liked") for word in
       listed("fondness love passion interest taste appreciation appetite obsession affinity tolerance desire")},
}  # fmt: skip
"""Kinds that nouns after "have" state: "I have an aversion to flying"."""

BEFORE: dict[str, RelationKind] = {
    "allergy": "allergic_to", "allergies": "allergic_to", "intolerance": "allergic_to", "intolerant": "allergic_to",
    "phobia": "dislikes", "fan": "likes", "lover": "likes", "person": "likes", "enthusiast": "likes", "buff": "likes",
}  # fmt: skip
"""Nouns whose object stands before them: "a peanut allergy", "a dog person"."""

ROLES = listed(
    "vegan vegetarian pescatarian flexitarian christian muslim buddhist jew hindu atheist engineer developer"
    " programmer nurse doctor teacher student writer author artist musician designer architect lawyer accountant"
    " manager chef cook baker scientist researcher professor analyst consultant journalist photographer dancer actor"
    " actress painter plumber electrician carpenter mechanic pilot veteran volunteer coach therapist counselor"
    " psychologist dentist pharmacist librarian farmer gardener entrepreneur freelancer contractor director producer"
    " editor translator paramedic firefighter barista waiter waitress receptionist salesperson marketer recruiter"
    " administrator biologist chemist physicist mathematician economist historian beginner diabetic celiac introvert"
    " extrovert veterinarian surgeon singer guitarist pianist drummer runner swimmer cyclist gamer streamer"
    " influencer intern"
)
PETS = listed(
    "dog dogs cat cats puppy puppies pup pups kitten kittens turtle turtles rabbit rabbits horse horses hamster"
    " hamsters parrot parrots bird birds fish snake snakes lizard gecko guinea ferret chickens goat goats pet pets"
)
THINGS = PETS | listed(
    "car bike bicycle motorcycle scooter truck van boat house apartment flat condo piano guitar violin keyboard drum"
    " camera laptop computer phone tablet console tent kayak telescope greenhouse garden tattoo necklace ring"
    " bracelet restaurant shop store studio farm cabin"
)
EVENTS = listed(
    "concert concerts conference festival workshop workshops class classes meeting parade party wedding game match"
    " tournament show event events exhibit exhibition group retreat convention fair camp lecture webinar ceremony"
    " race meetup seminar funeral graduation reunion gala fundraiser play opera premiere marathon expo hike tour"
    " cruise roadtrip rally protest screening audition recital auction hackathon"
)
VENTURES = listed(
    "business company store shop startup studio blog podcast channel campaign project restaurant cafe café bakery"
    " website site charity club group fund firm agency newsletter brand app line program"
)
PLACES = listed(
    "beach museum museums park zoo mountains mountain lake forest aquarium island castle temple library gallery"
    " waterfall canyon desert coast theater theatre cinema gym café cafe restaurant market farm shelter vineyard"
    " winery falls"
)
ROLES_OF_PEOPLE: dict[str, RelationKind] = {
    **dict.fromkeys(listed("wife husband spouse"), "spouse"),
    **dict.fromkeys(listed(
        "sister brother mother mom mum father dad son daughter kid child cousin aunt uncle grandmother grandma"
        " grandfather grandpa niece nephew granddaughter grandson stepson stepdaughter stepmother stepfather twin"
        " sister-in-law brother-in-law mother-in-law father-in-law kids sons daughters sisters brothers"
    ), "kin"),
    **dict.fromkeys(listed(
        "friend colleague coworker co-worker boss manager mentor roommate neighbor neighbour teacher coach partner"
        " girlfriend boyfriend fiance fiancé fiancee fiancée friends buddy classmate teammate supervisor therapist"
        " doctor landlord"
    ), "knows"),
    **dict.fromkeys(PETS, "owns"),
}  # fmt: skip

AGAINST = listed(
    "boring annoying ineffective uncomfortable distracting off-putting unpleasant overwhelming stressful tedious"
    " confusing unappealing uninteresting unbearable irritating disgusting frustrating unhelpful exhausting"
    " monotonous dull repulsive intolerable tiresome draining nauseating offensive unethical wasteful cruel"
    " unnecessary impersonal too overly repetitive disturbing depressing childish restrictive impractical"
    " claustrophobic overrated unenjoyable distasteful unsettling tacky cheesy difficult hard unsatisfying"
    " inconvenient unattractive"
)
IN_FAVOUR = listed(
    "relaxing calming fun enjoyable interesting fascinating soothing therapeutic inspiring rewarding comforting"
    " peaceful fulfilling engaging effective"
)

FORMS: dict[str, tuple[str, str]] = {
    form: of
    for lemma in [*VERBS, *DENIED, *ONLY, *listed("find learn sleep study think")]
    for form, of in forms(lemma).items()
} | {past: (lemma, "p") for past, lemma in _PAST.items()}
"""The forms of every verb above. A form that two verbs share belongs to the last."""
