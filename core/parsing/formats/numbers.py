"""Show the numbers of a workbook as their formats show them: percentages, currencies, fractions, durations, dates."""

import datetime
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

DIGITS = 15  # significant ones of a number, and decimals at most
LONGEST = 255  # characters of a format, as in Excel
SINCE_1900 = datetime.datetime.fromisoformat("1899-12-30")  # a workbook knows no time zone
LAST_DAY = 2_958_466  # the number of the day after 9999-12-31
_BUILT_IN: Mapping[int, str] = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0", 6: "$#,##0", 7: "$#,##0.00", 8: "$#,##0.00", 9: "0%",
    10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: "#,##0;-#,##0", 42: "$#,##0;-$#,##0",
    43: "#,##0.00;-#,##0.00", 44: "$#,##0.00;-$#,##0.00", 46: "[h]:mm:ss", 48: "##0.0E+0",
}  # fmt: skip
_DATES = frozenset([*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)])  # built-in formats of dates
_TOKEN = re.compile(
    r'"([^"]{0,255}+)"|\\(.)|_.|\*.|\[\$([^\]-]{0,99}+)[^\]]{0,99}+\]|\[([^\]]{0,99}+)\]|(General)|([#0?.,/%@]|E[+-])|(;)|(.)',
    re.I,
)
_UNITS = {3600: "h", 60: "m", 1: "s"}
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_PLACES = re.compile(r"[0#?]")
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)")
_TESTS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "=": operator.eq, "<=": operator.le, ">=": operator.ge, "<>": operator.ne,
}  # fmt: skip


@dataclass(slots=True)
class Section:
    """A part of a format, for some of the numbers: literals before and after the digits, and the pattern of these."""

    before: str = ""
    pattern: str = ""
    after: str = ""
    percent: int = 0
    condition: tuple[str, float] | None = None
    elapsed: str = ""
    date: bool = False
    mixed: bool = False  # with literals among the digits
    general: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A format of numbers."""

    sections: Sequence[Section] = field(default_factory=list[Section])

    def shown(self, number: float, epoch: datetime.datetime) -> str:
        """Return a number as it is shown; as it is where the format hides it."""
        section, value = self._section(number)
        if section is None:
            return plain(number)
        if section.elapsed and abs(number) < LAST_DAY:
            return _duration(number, section.elapsed)
        if section.date:
            return _date(number, epoch) if 0 <= number < LAST_DAY else plain(number)
        if section.general or section.mixed or abs(number) >= 10**DIGITS:
            return f"{section.before}{plain(number)}{section.after}".strip()
        if not section.pattern:
            return section.after.strip() or plain(number)
        shown = _digits(abs(value) * 100**section.percent, section.pattern)
        sign = "-" if value < 0 and any(letter in "123456789" for letter in shown) else ""
        return f"{sign}{section.before}{shown}{section.after}".strip()

    def _section(self, number: float) -> tuple[Section | None, float]:
        """Return the section for a number, and the number that it shows, which may be without its sign."""
        sections = self.sections
        for section in sections:
            if section.condition is not None and _TESTS[section.condition[0]](number, section.condition[1]):
                return section, number
        if not sections or any(section.condition is not None for section in sections):
            return next((one for one in sections[::-1] if one.condition is None), None), number
        if number < 0 and len(sections) > 1:
            return sections[1], -number
        return sections[2 if not number and len(sections) > 2 else 0], number


def form_of(number: int, code: str | None) -> Form:
    """Return a format by its number, or by its code where the workbook has its own.

    >>> show = lambda value, code: form_of(200, code).shown(value, datetime.datetime(1899, 12, 30))
    >>> show(0.256, "0.0%"), show(-1234.5, "[$€-407] #,##0.00"), show(1.5, "# ?/?"), show(1.26041667, "[h]:mm")
    ('25.6%', '-€ 1,234.50', '1 1/2', '30:15')
    """
    if code is None:
        if number in _DATES:
            return Form([Section(date=True)])
        code = _BUILT_IN.get(number, "")
    return Form([*_sections(code[:LONGEST])]) if code and code.lower() != "general" else Form()


def shown_number(raw: str, code: str | None) -> str:
    """Return a number as a format shows it, without which it is text.

    >>> shown_number("0.16400000000000001", "0.0%"), shown_number("0.164", "General"), shown_number("a", None)
    ('16.4%', '0.164', 'a')
    """
    try:
        number = float(raw) if code is not None else None
    except ValueError:
        number = None
    return raw if number is None else form_of(len(_BUILT_IN), code).shown(number, SINCE_1900)


def plain(number: float) -> str:
    """Return a number with as many digits as it has."""
    return str(int(number)) if number.is_integer() and abs(number) < 10**DIGITS else f"{number:.{DIGITS}g}"


def _sections(code: str) -> Iterator[Section]:
    section, literal = Section(), ""
    for found in _TOKEN.finditer(code):
        quoted, escaped, currency, bracket, general, mark, end, other = found.groups()
        if end:
            section.after = literal
            yield section
            section, literal = Section(), ""
        elif bracket is not None:
            _bracket(section, bracket)
        elif mark:
            literal = _mark(section, mark, literal)
        elif other and other.lower() in "dmyhs":
            section.date = True
            section.elapsed += other.lower() if section.elapsed else ""
        elif general:
            section.general, section.before, literal = True, literal, ""
        else:
            literal += quoted or escaped or currency or other or (" " if found[0][:1] == "_" else "")
    section.after = literal
    yield section


def _mark(section: Section, mark: str, literal: str) -> str:
    """Add a mark to the pattern of a section, and return the literal that is still open."""
    if mark == "%":
        section.percent += 1
        return literal + "%"
    if mark == "@":
        section.general = True
        return literal
    if not section.pattern:
        section.before = literal
    else:
        section.mixed = section.mixed or bool(literal.strip())
        section.pattern += literal
    section.pattern += mark
    return ""


def _bracket(section: Section, inner: str) -> None:
    """Note what a bracket says: a duration, or which numbers the section is for. Others name colours."""
    condition = _CONDITION.fullmatch(inner.strip())
    if condition is not None:
        section.condition = condition[1], float(condition[2])
    elif _ELAPSED.fullmatch(inner):
        section.elapsed, section.date = inner[0].lower(), True


def _digits(number: float, pattern: str) -> str:
    if "/" in pattern:
        return _fraction(number, pattern)
    if "E" in pattern.upper():
        decimals = len(_PLACES.findall(pattern.upper().split("E")[0].partition(".")[2]))
        return f"{number:.{min(decimals, DIGITS)}E}"
    return _decimal(number, pattern.replace(" ", ""))


def _decimal(number: float, pattern: str) -> str:
    whole, _, part = pattern.partition(".")
    thousands = whole.rstrip(",")
    number /= 1000 ** (len(whole) - len(thousands) if not part else len(part) - len(part.rstrip(",")))
    most, least = min(len(_PLACES.findall(part)), DIGITS), min(part.count("0"), DIGITS)
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
    before, _, after = f"{rounded:f}".partition(".")
    while len(after) > least and after.endswith("0"):
        after = after[:-1]
    before = before.lstrip("0").rjust(min(whole.count("0"), DIGITS), "0")
    if "," in thousands:
        before = f"{int(before or '0'):,}" if before else before
    return f"{before}.{after}" if after else before or "0"


def _fraction(number: float, pattern: str) -> str:
    """Return a number as a whole one and a fraction."""
    below = pattern.partition("/")[2].strip()
    whole = int(number)
    most = 10 ** min(len(_PLACES.findall(below)) or 1, 4) - 1
    found = Fraction(number - whole).limit_denominator(most)
    if found == 1:
        whole, found = whole + 1, Fraction(0)
    if not found:
        return str(whole)
    return f"{whole} {found}" if whole else str(found)


def _duration(days: float, units: str) -> str:
    """Return a duration in the units that it is shown in, the first of which is not bounded.

    >>> _duration(1.2604166666667, "hm"), _duration(-0.5, "hms"), _duration(0.0625, "ms"), _duration(0.0625, "m")
    ('30:15', '-12:00:00', '90:00', '90')
    """
    seconds = round(abs(days) * 86_400)
    sizes = [one for one in (3600, 60, 1) if _UNITS[one] in units]
    out: list[str] = []
    for size in sizes:
        count, seconds = divmod(seconds, size)
        out.append(f"{count:02}" if out else str(count))
    return ("-" if days < 0 else "") + ":".join(out)


def _date(number: float, epoch: datetime.datetime) -> str:
    """Return a day and a time by the days since the epoch; the time alone for less than a day."""
    moment = epoch + datetime.timedelta(seconds=round(number * 86_400))
    if number < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if number.is_integer() else moment.isoformat(" ")
