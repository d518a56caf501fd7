"""Small operations on English text that several stages need."""

import re

WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")
SPACES = re.compile(r"\s+")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")

LITTLE = """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can cannot could did do does doing done down during each either else even ever every few for from further get gets
    got had has have having he her here hers herself him himself his how however i if in into is isn't it it's its
    itself i'm i've just let like may me might mine more most much must my myself neither no nor not now of off on
    once one only or other our ours ourselves out over own per quite rather really same shall she should since so some
    such than that that's the their theirs them themselves then there these they this those though through thus to too
    under until up upon us very was we well were what when where whether which while who whom whose why will with
    within without would yes yet you your yours yourself yeah okay ok don't didn't doesn't can't won't i'll you're
    they're hey hi hello lol haha oh um uh yep nope
"""
STOP = frozenset(LITTLE.split())


def one_line(text: str) -> str:
    return SPACES.sub(" ", text).strip()


def sentences(text: str) -> list[str]:
    """Split where a sentence seems to end; abbreviations before a capital split too, which does no harm here."""
    return [part for part in SENTENCE_END.split(one_line(text)) if part]


def content_words(text: str) -> list[str]:
    return [word for word in WORD.findall(text) if len(word) > 2 and word.lower() not in STOP]


def name_words(identifier: str) -> str:
    """The words of an identifier: `parseHTTPHeader_fast` gives `parse http header fast`."""
    return " ".join(part.lower() for part in CAMEL.split(identifier) if part)


def is_english(text: str) -> bool:
    """Mostly ASCII, with enough letters to be prose rather than a table or a formula."""
    letters = sum(character.isascii() and (character.isalpha() or character == " ") for character in text)
    return letters >= 0.7 * len(text) > 0
