"""Find stretches of a text by their form: tables of rules, each of hints, a pattern, and a judge of what matches.

Personal data are recognised so: e-mail addresses, telephone numbers, credit cards and bank accounts. Cards and accounts
have check digits, which are checked. Nothing here knows names or streets: those have no form.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from muisti.core.support.regex import regex

SURE, UNSURE = 1.0, 0.5  # certainty that a stretch is what it looks like


class Found(NamedTuple):
    """A stretch of a text, in characters, and what it looks like; not `sure` where it may also be ordinary text."""

    kind: str
    start: int
    stop: int
    sure: bool = True


Judge = Callable[[re.Match[str]], float]
"""Returns the certainty of a candidate: `SURE`, `UNSURE`, or 0 for none. A truth value will do."""


class Rule(NamedTuple):
    """A rule: `pattern` finds candidates, and `judge` decides. The group `value`, or else the whole match, is the find.

    Every candidate contains one of the `hints` (lower case), so most texts never run the pattern. Each pattern starts
    at the start of a word or has a bounded length, so that the time is linear in the text.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Judge


def rule(kind: str, hints: str, pattern: str, judge: Judge) -> Rule:
    """Return a rule. `hints` are separated by `|`."""
    return Rule(kind, tuple(hints.split("|")), regex(pattern), judge)


def found_in(text: str, rules: Sequence[Rule]) -> list[Found]:
    """Return all finds of a table, in the order of the text. Of overlapping finds, the first or longest is kept."""
    lowered = text.lower()
    return found_by(text, [rule for rule in rules if any(hint in lowered for hint in rule.hints)])


def found_by(text: str, hinted: Sequence[Rule]) -> list[Found]:
    """Return what `found_in` returns. `hinted` are the rules with a hint that the text has."""
    found: list[Found] = []
    for kind, _, pattern, judge in hinted:
        for match in pattern.finditer(text):
            if certainty := judge(match):
                found.append(Found(kind, *_value(match), certainty >= SURE))
    return parted(found) if len(found) > 1 else found


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span("value") if "value" in match.re.groupindex else match.span()


def parted(found: list[Found]) -> list[Found]:
    """Drop overlapping finds; sure ones are kept before unsure ones."""
    kept = _apart([one for one in found if one.sure])
    unsure = [one for one in found if not one.sure]
    if not unsure:
        return kept
    return sorted([*kept, *(one for one in _apart(unsure) if not _meets(one, kept))], key=lambda one: one.start)


def _apart(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.stop)):
        if not kept or one.start >= kept[-1].stop:
            kept.append(one)
    return kept


def _meets(one: Found, others: Sequence[Found]) -> bool:
    """Return whether a find overlaps one of some that are sorted and do not overlap."""
    after = bisect_left(others, one.stop, key=lambda other: other.start)
    return after > 0 and others[after - 1].stop > one.start


_WORDS = {
    "email": "an e-mail address (email)",
    "phone": "a telephone number (phone)",
    "card": "the number of a credit card (card)",
    "iban": "the number of a bank account (iban)",
}


def advice(kind: str) -> str:
    """Return what is wrong with a text that holds something of a kind, in words for whoever sent it.

    >>> advice("card")
    'holds what looks like the number of a credit card (card), which this space does not store; take it out'
    """
    return (
        f"holds what looks like {_WORDS.get(kind, f'a secret ({kind})')}, which this space does not store; take it out"
    )


# Addresses that belong to nobody (RFC 2606, RFC 6761), and the user of Git over SSH.
_NOBODY = regex(r"(?i)@(?:[\w-]+\.)*(?:example(?:\.(?:com|net|org))?|invalid|localhost|test)$|^git@|^no-?reply@")
# The length of an account number and the countries that have it, as the registry of SWIFT says.
_LENGTHS = """
15 NO; 16 BE; 18 DK FO FI GL NL SD; 19 MK SI; 20 AT BA EE KZ LT LU MN XK; 21 CH HR LI LV
22 BG BH CR DE GB GE IE ME RS VA; 23 AE GI IL IQ OM SO TL; 24 AD CZ ES MD PK RO SA SE SK TN VG; 25 LY PT ST; 26 IS TR
27 BI DJ FR GR IT MC MR SM; 28 AL AZ BY CY DO GT HU LB NI PL SV; 29 BR EG PS QA UA; 30 JO KW MU YE; 31 MT SC; 32 LC
33 RU
"""
_IBAN = {
    country: int(length)
    for length, *countries in map(str.split, _LENGTHS.replace("\n", ";").strip(";").split(";"))
    for country in countries
}


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def _is_phone(match: re.Match[str]) -> bool:
    digits = _digits(match[0])
    return 8 <= len(digits) <= 15 and len(set(digits)) > 2


def _is_card(match: re.Match[str]) -> bool:
    digits = _digits(match[0])
    return _CARD_LENGTHS.fullmatch(digits) is not None and luhn(digits)


def _is_account(match: re.Match[str]) -> bool:
    text = match[0].replace(" ", "")
    return _IBAN.get(text[:2]) == len(text) and mod_97(text)


def luhn(digits: str) -> bool:
    """Return whether the last digit is the check digit of a card.

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def mod_97(account: str) -> bool:
    """Return whether the two digits after the country are the check digits of an account number (ISO 7064).

    >>> mod_97("GB82WEST12345698765432"), mod_97("GB83WEST12345698765432")
    (True, False)
    """
    return int("".join(str(int(char, 36)) for char in account[4:] + account[:4])) % 97 == 1


# By the first digits that issuers have: Visa, Mastercard, American Express, Discover, JCB, Diners.
_CARD_LENGTHS = regex(
    r"4\d{12}(?:\d{3})?|(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720))\d{12,14}|3[47]\d{13}|6(?:011|4[4-9]|5)\d{12,14}"
    r"|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}"
)
RULES = (
    rule(
        "email",
        "@",
        r"(?<![\w.%+-])[\w%+-]{1,64}(?:\.[\w%+-]{1,64}){0,8}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w@-]|:\w)",
        lambda match: not _NOBODY.search(match[0]),
    ),
    rule(
        "iban",
        "0|1|2|3|4|5|6|7|8|9",
        r"(?<![\w-])[A-Z]{2}\d{2}(?:[A-Z0-9]{11,29}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?![\w-])",
        _is_account,
    ),
    rule(
        "card",
        "2|3|4|5|6",
        r"(?<![\w.+/-])(?:\d{13,16}|\d{4}(?:([ -])\d{4}\1\d{4}\1\d{4}|([ -])\d{6}\2\d{4,5}))(?![\w-]|\.\d)",
        _is_card,
    ),
    rule(
        "phone",
        "0|1|2|3|4|5|6|7|8|9",
        r"(?<![\w+.,/-])(?:\+\d{1,3}(?:[ .()-]{0,2}\d){6,14}"
        r"|(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[.-])\d{3}[.-]\d{4})(?![\w-]|\.\d)",
        _is_phone,
    ),
)


def personal_in(text: str) -> list[Found]:
    """Return what looks like personal data, in order.

    >>> personal_in("write to ann@firma.fi")
    [Found(kind='email', start=9, stop=21, sure=True)]
    """
    return found_in(text, RULES)
