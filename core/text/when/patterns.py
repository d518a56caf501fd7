"""Words that name periods, as patterns. `period_names.py` and `relative.py` read the named groups of `period`."""

import re
from collections.abc import Mapping

from muisti.core.support.regex import regex
from muisti.core.text.when.periods import SEASONS, Unit, Which

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNITS: tuple[Unit, ...] = ("minute", "hour", "day", "week", "weekend", "month", "quarter", "year", "decade")
SHORT_UNITS: Mapping[str, Unit] = {
    **{"min": "minute", "m": "minute", "hr": "hour", "h": "hour", "d": "day", "wk": "week", "w": "week"},
    **{"mo": "month", "yr": "year", "y": "year"},
}
WEEKDAY = "|".join(WEEKDAYS)
UNIT = "|".join(UNITS)
_ANY_WEEKDAY = rf"(?:{WEEKDAY}|(?:mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)\b\.?)"
_ANY_UNIT = rf"(?:(?:{UNIT}|fortnight|min|hr|wk|yr)s?|mos?)"

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
    *("sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS: Mapping[str, tuple[int, int]] = {
    **{word: (count, count) for count, word in enumerate((*_ONES, *_TEENS), 1)},
    **{word: (count, count) for count, word in zip(range(20, 100, 10), _TENS, strict=True)},
    **{
        f"{ten}{sign}{one}": (10 * tens + ones, 10 * tens + ones)
        for tens, ten in enumerate(_TENS, 2)
        for ones, one in enumerate(_ONES, 1)
        for sign in "- "
    },
    **{"a": (1, 1), "an": (1, 1), "dozen": (12, 12), "hundred": (100, 100)},
    **{"couple": (2, 2), "few": (2, 5), "several": (3, 8)},
}
"""From and to how many."""
_SMALL = rf"(?:{'|'.join(_TENS)})(?:[-\s](?:{'|'.join(_ONES)}))?|{'|'.join(sorted((*_ONES, *_TEENS), key=len)[::-1])}"
NUMBER = rf"(?:an?\s+)?(?:couple(?:\s+of)?|few|dozen|hundred)|\d{{1,3}}|several|{_SMALL}|an?"

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    *("twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth"),
    *("twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
)
ORDINALS = {name: place for place, name in enumerate(_ORDINALS, 1)}
_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
DECADES: Mapping[str, int] = {name: 10 * place for place, name in enumerate(_DECADES, 2)}
HOLIDAYS: Mapping[str, tuple[int, int]] = {
    **{"christmas": (12, 25), "christmas day": (12, 25), "christmas eve": (12, 24), "boxing day": (12, 26)},
    **{"new year's eve": (12, 31), "new year's day": (1, 1), "new year's": (1, 1), "halloween": (10, 31)},
    **{"valentine's day": (2, 14), "easter": (0, 0), "easter sunday": (0, 0), "thanksgiving": (0, 4)},
}
"""Month and day; Easter and the fourth Thursday of November have days of their own each year."""

_MONTH = "|".join(MONTHS)
_SHORT_MONTH = rf"(?:{_MONTH}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_YEAR = r"(?:1[5-9]|20)\d\d"
_ENDS = r"(?![\w%/–—-]|[.,:]\d|['’]\d)"  # of a number that is no part of another
_DAY_NUMBER = r"(?:[12]\d|3[01]|0?[1-9])"
_NTH = rf"{_DAY_NUMBER}(?:st|nd|rd|th)"
_DAY = rf"{_DAY_NUMBER}(?:st|nd|rd|th)?"
_LATE_ORDINAL = "|".join(sorted(_ORDINALS[2:], key=len)[::-1])
_ORDINAL = rf"(?:first|second|{_LATE_ORDINAL})"
_THIS_YEAR = r"(?:last|this|next)\s+year\b"
_COUNTED = "words|tokens|times|users|people|customers|dollars|euros|items|rows|lines|pages|steps|points|files|requests"
_NOT_MINE = "".join(
    rf"(?<!\b{word}\s)" for word in ("my", "our", "his", "her", "your", "their", "every", "each")
)  # "my last fall", "every last Friday"


def _in_year(group: str) -> str:
    """Return the pattern of an optional year: 2023, '23, last year."""
    return rf"(?:,?\s+(?:(?:of|in)\s+)?(?P<{group}>{_YEAR}|['’]\d\d|{_THIS_YEAR})(?!\w))?"


def _day_of_week(group: str) -> str:
    return rf"(?:(?P<{group}>{_ANY_WEEKDAY}),?\s+(?:the\s+)?)?"


_FISCAL = r"(?:fy|fiscal(?:\s+year)?)\s*['’]?"
_DIGITS_FIRST = rf"""
    (?P<iso_week>(?<![./-])(?P<iw_year>{_YEAR})-?w(?P<iw_number>\d\d)(?![\w-]))
    |(?P<iso>{_day_of_week("iso_weekday")}(?<![./-])(?P<iso_year>{_YEAR})(?P<sep>[-/])(?P<iso_month>\d\d?)
        (?:(?P=sep)(?P<iso_day>\d\d?))?(?:T[\d:.]+Z?)?(?![\w/-]|\.\d))
    |(?P<digits>{_day_of_week("digits_weekday")}(?<![./-])(?P<one>\d\d?)(?P<mark>[./])(?P<two>\d\d?)(?P=mark)
        (?P<digits_year>{_YEAR})(?![\w/-]|\.\d))
    |(?P<month_year>(?<![\w./-])(?P<my_month>0?[1-9]|1[0-2])/(?P<my_year>{_YEAR})(?![\w/-]|\.\d))
    |(?P<day_month>{_day_of_week("dm_weekday")}(?:(?P<dm_from>{_DAY})(?:\s*[-–—]\s*|\s+(?:to|and|through)\s+))?
        (?:(?P<dm_day>{_DAY})\s+(?:of\s+)?|(?P<dm_word>{_ORDINAL})\s+of\s+)(?P<dm_month>{_SHORT_MONTH}){_in_year("dm_year")}
        (?![\w]|\s*['’]\d))
    |(?P<decade>(?P<d_year>{_YEAR})(?<=0)s\b)
    |(?P<year_quarter>(?P<yq_year>{_YEAR})[\s,-]+(?:q(?P<yq_number>[1-4])|h(?P<yh_number>[12]))(?!\w))
    |(?P<years>(?<![.,/$€£#-])(?P<ys_first>{_YEAR})\s*[-–—]\s*(?P<ys_last>{_YEAR}){_ENDS})
    |(?P<year>(?<![.,/$€£#–—-])(?:year\s+)?(?P<y_year>{_YEAR}){_ENDS}(?!\s*(?:(?:{_COUNTED}|bce?)\b|b\.c)|\s*[-–—]\s*\d))
    |(?P<nth>{_day_of_week("n_weekday")}(?P<n_day>{_NTH})
        (?:\s+of\s+(?:(?P<n_which>last|this|next)\s+month|the\s+month)\b
        |(?=\s*(?:[?!.,;:)]|$)|\s+(?:and|or|to|until|till|through|at|in|with|for|by|from|about|did|was|were|we|i)\b)))"""
_NAMES_FIRST = rf"""
    (?P<month_day>{_day_of_week("md_weekday")}(?P<md_month>{_SHORT_MONTH})\s+
        (?:(?:the\s+)?(?P<md_day>{_DAY})|(?P<md_word>the\s+{_ORDINAL}|{_LATE_ORDINAL}))(?![\w:%]|\.\d)
        (?:\s*[-–—]\s*(?P<md_to>{_DAY})(?![\w:%]|\.\d))?{_in_year("md_year")}(?!\s*['’]\d))
    |(?P<month>(?:{_NOT_MINE}(?P<m_which>last|this|next)\s+)?(?P<m_month>{_MONTH}|{_SHORT_MONTH}){_in_year("m_year")}
        (?!\w|['’]s\b|\s*['’]\d))
    |(?P<season>(?:{_NOT_MINE}(?P<s_which>last|this|next)\s+)?
        (?P<s_name>{"|".join(SEASONS)}){_in_year("s_year")}(?!\w|\s*['’]\d))
    |(?P<holiday>(?:{_NOT_MINE}(?P<h_which>last|this|next)\s+)?
        (?P<h_name>christmas(?:\s+(?:day|eve))?|boxing\s+day|new\s+year['’]?s(?:\s+(?:day|eve))?|halloween
        |valentine['’]?s\s+day|easter(?:\s+sunday)?|thanksgiving)\b{_in_year("h_year")})
    |(?P<quarter>(?:q(?P<q_number>[1-4])|h(?P<q_half>[12]))
        (?:[\s,-]+(?:of\s+)?(?:(?P<q_year>{_YEAR}|['’]\d\d|{_THIS_YEAR})|{_FISCAL}(?P<q_fiscal>{_YEAR}|\d\d)))?
        (?!\w|[\s,-]+(?:of\s+)?(?:fy|['’]?\d\d\b)))
    |(?P<fiscal>{_FISCAL}(?P<f_year>{_YEAR}|\d\d)(?![\w/%–—-]|[.,]\d))
    |(?P<short_decade>(?:['’](?P<sd_mark>[2-9]0)s|(?P<sd_bare>[2-9]0)s|(?P<sd_word>{"|".join(DECADES)}))\b)
    |(?P<calendar_week>(?:calendar\s+|iso\s+)?week\s+(?P<cw_number>\d\d?)
        (?:,?\s+(?:of\s+)?(?P<cw_year>{_YEAR}|{_THIS_YEAR})|(?!,?\s+(?:of|day)\b))(?![\w%/–—-]|[.:]\d))
    |(?P<weekday>(?P<wd_name>{_ANY_WEEKDAY})(?!\w)(?:,?\s+(?:of\s+)?(?P<wd_week>last|this|next)\s+week\b)?
        (?!\s+(?:before\s+last|after\s+next)\b|,?\s+(?:the\s+)?(?:{_NTH}|{_DAY_NUMBER}\s+(?:of\s+)?{_SHORT_MONTH}|{_SHORT_MONTH}\s+\d)))"""
_RELATIVE = rf"""
    (?P<around_today>day\s+(?P<side>before\s+yesterday|after\s+tomorrow)\b)
    |(?P<named_day>(?:today|tonight|yesterday|tomorrow|last\s+night|this\s+(?:morning|afternoon|evening))\b)
    |(?P<second>(?:(?P<second_unit>week|weekend|month|quarter|year)|(?P<second_weekday>{_ANY_WEEKDAY}))
        \s+(?P<second_side>before\s+last|after\s+next)\b)
    |(?P<week_day>{_NOT_MINE}(?P<wk_which>last|this|next)\s+week(?:['’]s)?,?\s+(?:on\s+)?(?P<wk_day>{_ANY_WEEKDAY})(?!\w))
    |(?P<relative>{_NOT_MINE}(?P<which>last|past|previous|this|current|next|coming|upcoming)\s+
        (?:(?P<unit>hour|week|weekend|fortnight|month|quarter|year|decade)
        |(?P<r_weekday>{WEEKDAY}|(?:mon|tues?|weds?|thu(?:rs?)?|fri|(?<!this\s)(?:sat|sun))\b\.?))(?!\w|\s+of\b))
    |(?P<rolling>{_NOT_MINE}(?P<rolling_which>last|past|previous|next|coming)\s+
        (?:(?P<rolling_number>{NUMBER})\s+(?P<rolling_unit>{_ANY_UNIT})|(?P<rolling_digits>\d{{1,3}})(?P<rolling_short>[dhwmy]|mo))
        (?!\w|\s+(?:of|before|after)\b))
    |(?P<weekend>(?<=the\s)weekend\b)"""
_COUNT_FIRST = rf"""
    (?P<weekdays_ago>(?P<wa_number>{NUMBER})\s+(?P<wa_weekday>{_ANY_WEEKDAY})s?\s+ago\b)
    |(?P<ago>(?P<ago_least>(?:{NUMBER})\s+(?:or|to)\s+|\d{{1,3}}\s*[-–—]\s*)?(?:(?P<ago_number>{NUMBER})\s+(?P<ago_unit>{_ANY_UNIT})
        |(?P<ago_digits>\d{{1,3}})\s?(?P<ago_short>mins?|hrs?|wks?|mos?|yrs?|days?|[dhwmy]))
        \s+ago\b(?P<ago_day>\s+(?:on\s+)?(?:{WEEKDAY}|today|yesterday)\b)?)
    |(?P<ahead>(?P<ahead_number>{NUMBER})\s+(?P<ahead_unit>{_ANY_UNIT})
        (?:\s+(?:from\s+(?:now|today)|hence)\b|(?:['’]s|['’]?)\s+time\b))"""
_PERIOD = rf"(?:(?<!\w)|(?<=\w)(?=['’]))(?:{_COUNT_FIRST}|{_DIGITS_FIRST}|{_NAMES_FIRST}|{_RELATIVE})"

WORD = re.compile(r"[a-z]+|['’]?\d+", re.IGNORECASE)
FIRST = frozenset({
    "q", "h", "fy", "fiscal", "iso", "calendar", "day", "today", "tonight", "yesterday", "tomorrow", "week", "weekend",
    "month", "quarter", "year", "last", "past", "previous", "this", "current", "next", "coming", "upcoming",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "new", "boxing", "valentine",
    "mon", "tue", "tues", "wed", "weds", "thu", "thur", "thurs", "fri", "sat", "sun", "christmas", "easter",
    "halloween", "thanksgiving",
}).union(MONTHS, SEASONS, WEEKDAYS, NUMBERS, DECADES, (word.split("-")[0] for word in ORDINALS))  # fmt: skip
"""The words with which a period begins, if not with digits."""
THIS: dict[str, Which] = {
    **{"last": "last", "past": "last", "previous": "last", "this": "this", "current": "this"},
    **{"next": "next", "coming": "next", "upcoming": "next"},
}


PERIOD = regex(_PERIOD, re.IGNORECASE | re.VERBOSE)
