"""Families of adversarial texts: runs of one character class, near misses, nesting, long words, many small matches."""

from collections.abc import Callable, Mapping

Family = Callable[[int], str]
"""A text of about so many characters; a family of a text and an end keeps its end."""


def repeated(unit: str, end: str = "") -> Family:
    """A family that repeats one unit, with an end that a pattern may stumble over."""
    return lambda length: unit * max(1, (length - len(end)) // len(unit)) + end


def words(length: int) -> str:
    """Numbered words, no two of them the same, so that no memo helps."""
    return " ".join(f"Word{place}" for place in range(length // 10))


# Runs of one class of characters, each ended by a character of another one.
RUNS: Mapping[str, Family] = {
    "dots": repeated(".", "x"),
    "marks and quotes": repeated(".!?\"')]", "x"),
    "closing quotes": repeated('."', "x"),
    "wide stops": repeated("。！？", "x"),
    "ellipses": repeated("…", "x"),
    "blanks": repeated(" ", "x"),
    "tabs": repeated("\t", "x"),
    "line ends": repeated("\n", "x"),
    "blank lines": repeated("\n \t", "x"),
    "carriage returns": repeated("\r\n", "x"),
    "no-break spaces": repeated("\u00a0", "x"),
    "line separators": repeated("\u2028", "x"),
    "letters": repeated("a", "!"),
    "capitals": repeated("A", "!"),
    "humps": repeated("aB", "!"),
    "digits": repeated("1", "x"),
    "underscores": repeated("_", "-"),
    "hyphens": repeated("-", "x"),
    "slashes": repeated("/", "x"),
    "equals signs": repeated("=", "x"),
    "combining marks": repeated("\u0301", "x"),
    "marks of two classes": repeated("\u0327\u0301", "x"),
    "voicing marks": repeated("\uff9e", "x"),
    "Hangul jamo": repeated("\u1100\u1161\u11a8"),
    "Han": repeated("\u7248"),
    "Thai": repeated("\u0e01\u0e33"),
    "Arabic": repeated("\u0633\u0644\u0627\u0645 "),
    "emoji joined": repeated("\U0001f468\u200d"),
    "soft hyphens": repeated("a\u00ad", "!"),
    "nulls of width": repeated("\u200b"),
}
# Units that begin a match of something and do not finish it, or match many times over.
NEAR: Mapping[str, Family] = {
    "words": words,
    "sentences": repeated("Ann deploys on Fridays. "),
    "one-letter words": repeated("a "),
    "joined by dots": repeated("a.", "!"),
    "joined by every sign": repeated("a-b.c/d:e+f#"),
    "identifiers": repeated("getUserName_v2 "),
    "prices": repeated("1,000.50"),
    "dates": repeated("2024-01-02 "),
    "dates joined": repeated("2024-01-02"),
    "time words": repeated("last week of the first half of May "),
    "numbers of units": repeated("a couple of days ago "),
    "addresses": repeated("a@a"),
    "addresses with dots": repeated("a.b@c.d.", "@"),
    "phone numbers": repeated("+1 ("),
    "phone digits": repeated("+1 2 3 4 5"),
    "cards": repeated("4111 "),
    "accounts": repeated("AB12 ABCD "),
    "tokens": repeated("eyJaaaaaaaa."),
    "token starts": repeated("eyJ"),
    "keys": repeated("sk-proj-"),
    "key blocks": repeated("-----BEGIN A "),
    "private keys": repeated("-----BEGIN PRIVATE KEY-----"),
    "private key without end": lambda length: "-----BEGIN PRIVATE KEY-----\n" + "A" * length,
    "bearers": repeated("bearer a"),
    "URLs": repeated("a://b:"),
    "assignments": repeated("password="),
    "assignments of quotes": repeated('password="'),
    "prose of secrets": repeated("my password for the "),
    "prose of keys": repeated("the secret api key token is "),
    "prose of pins": repeated("pin pin: "),
    "quotes": repeated('"'),
    "quoted words": repeated('"tea" '),
    "quoted once": repeated("a", '"'),
    "apostrophes": repeated("n't's "),
    "brackets": repeated("["),
    "links": repeated("[["),
    "links unfinished": repeated("[[a|"),
    "parentheses": repeated("("),
    "parentheses in a line": repeated("- [a] ("),
    "observations": repeated("- [cat] text #tag (context)\n"),
    "relations": repeated('- "a" [[b]] ('),
    "list marks": repeated("- "),
    "headings": repeated("# Relations\n"),
    "bold lines": repeated("**a** "),
    "asterisks": repeated("*"),
    "fences": repeated("```\n~~~"),
    "fences and ticks": repeated("```"),
    "ticks": repeated("`a"),
    "comments": repeated("%%a"),
    "tags": repeated("#a"),
    "front matter": repeated("---\n"),
    "front matter unfinished": repeated("--- \n---x\n"),
    "coding and blanks": lambda length: "gzip" + " " * length + "x",
    "coding, weight and blanks": lambda length: "gzip;q" + " " * length + "x",
    "tags and blanks": lambda length: '"a"' + " " * length + "x",
    "a word and signs": lambda length: "a" + "!" * length,
    "commas": repeated(",", "x"),
    "comma values": repeated("a, "),
    "braces": repeated("{"),
    "JSON": repeated('{"a":['),
    "backslashes": repeated("\\"),
    "error places": repeated(" - at `$"),
    "requests": repeated("can you "),
    "names with a possessive": repeated("Ann's "),
    "fullwidth": repeated("Ｄｅ "),
    "ligatures": repeated("ﬁ"),
    "sharp s": repeated("ß"),
    "dotted capitals": repeated("İ"),
}
FAMILIES: Mapping[str, Family] = {**RUNS, **NEAR}
