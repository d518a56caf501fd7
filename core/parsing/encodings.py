"""Encodings of texts: labels as the web reads them, and a guess where a text states none."""

import codecs
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from muisti.core.parsing.detect import wide_encoding
from muisti.core.support.lazy import Lazy
from muisti.core.support.regex import regex

if TYPE_CHECKING:
    from muisti.core.parsing import encoding_guess
else:  # it brings tables of languages, which most texts do without
    encoding_guess = Lazy("muisti.core.parsing.encoding_guess")

SAMPLE = 16 << 10  # bytes that a guess is made from, so that it takes milliseconds
# Confidence below which usual letters are taken for Western ones: of a guess that is common, of one that is not.
UNSURE, SURE = 0.055, 0.2
FEW = 6  # letters; for more of them, a guess that is not common must be half as sure
PASTED = 8  # letters of UTF-8 for each byte that is none, in a text that is UTF-8 all the same
CERTAIN = 4  # sequences of UTF-8 that are none by accident
MISFITS = 0.01  # share of bytes that may not fit the encoding which a text states
MIXED = "muisti.windows-1252"
_COMMON = regex(r"cp125|iso8859|koi8|cp9[345]|euc|gb|big5|utf")
_WESTERN = frozenset("éèàêçüöäßñóíáåæøÉÜÖÄÅ°£§’‘“”–—…€«»úâîôûëï".encode("cp1252"))
_NOT_ASCII = regex(rb"[\x80-\xff]")
_SEQUENCE = regex(rb"[\xc2-\xf4][\x80-\xbf]{1,3}")
_STATEFUL = frozenset({"iso2022_jp", "iso2022_kr", "hz", "utf-7", "iso2022_jp_2", "iso2022_jp_ext"})
_ODD = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
_ESCAPED = regex(rb"\x1b\$(?:[@B]|(\)C))")
# Labels of the WHATWG's standard that Python does not know, or takes for a smaller encoding.
_LABELS = {
    label: codec
    for codec, labels in {
        "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 utf-8-unicode",
        "cp1252": "latin1 latin-1 l1 ascii us-ascii ansi_x3.4-1968 iso-8859-1 iso8859-1 iso88591 iso_8859-1 cp819"
        " ibm819 iso-ir-100 csisolatin1 iso_8859-1:1987 x-cp1252 ansi windows-1252",
        "cp1254": "iso-8859-9 iso8859-9 iso88599 iso_8859-9 latin5 l5 csisolatin5 iso-ir-148 iso_8859-9:1989 x-cp1254",
        "cp874": "tis-620 tis620 iso-8859-11 iso8859-11 iso885911 dos-874 windows-874",
        "cp932": "shift_jis shift-jis sjis x-sjis ms_kanji csshiftjis windows-31j ms932 cp943 x-ms-cp932",
        "euc_jp": "x-euc-jp cseucpkdfmtjapanese",
        "cp949": "euc-kr ks_c_5601-1987 ks_c_5601-1989 korean csksc56011987 iso-ir-149 ksc5601 ksc_5601 cseuckr"
        " windows-949 x-windows-949 ms949",
        "gb18030": "gb2312 gbk chinese csgb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk csiso58gb231280 x-euc-cn euc-cn"
        " cp936 ms936 windows-936",
        "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
        "cp866": "866 csibm866",
        "koi8_r": "koi koi8 koi8_r cskoi8r",
        "koi8_u": "koi8-ru",
        "mac_roman": "macintosh mac csmacintosh x-mac-roman",
        "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
        "mac_greek": "x-mac-greek", "mac_turkish": "x-mac-turkish", "mac_latin2": "x-mac-ce",
        "iso8859_8": "iso-8859-8-i iso-8859-8-e logical visual csiso88598i csiso88598e",
        "iso8859_6": "iso-8859-6-i iso-8859-6-e csiso88596i csiso88596e arabic",
        "iso8859_7": "sun_eu_greek",
        "utf-16-le": "unicode csunicode iso-10646-ucs-2 ucs-2 unicodefeff",
        "utf-16-be": "unicodefffe",
    }.items()
    for label in labels.split()
}  # fmt: skip
_COMPACT = regex(r"iso-?_?8859-?(\d{1,2})(?::\d{4})?|x-cp(\d{3,4})")


def _as_western(error: UnicodeError) -> tuple[str, int]:
    """Decode bytes that do not fit as Windows-1252, each for itself."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(_LETTERS[byte] for byte in error.object[error.start : error.end]), error.end


# Windows-1252 leaves five bytes undefined, which Latin-1 reads as control characters.
_LETTERS = tuple(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
codecs.register_error(MIXED, _as_western)


def codec_of(label: str | None) -> str | None:
    """Return Python's name of an encoding by its label, as the web reads it; None for an unknown one.

    >>> [codec_of(label) for label in (" Latin1 ", "x-sjis", "unicode-1-1-utf-8", "iso88592", "base64")]
    ['cp1252', 'cp932', 'utf-8', 'iso8859-2', None]
    """
    name = (label or "").strip().strip("\"'").lower()[:60]
    compact = _COMPACT.fullmatch(name)
    name = _LABELS.get(name) or (
        name if compact is None else f"iso8859-{compact[1]}" if compact[1] else f"cp{compact[2]}"
    )
    try:
        known = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    return known.name if known._is_text_encoding and known.name not in _ODD else None


class Guess(NamedTuple):
    """An encoding that a text seems to be in, by Python's name, and how sure that is, from 0 to 1."""

    encoding: str
    confidence: float

    @property
    def note(self) -> str:
        """Return the sentence for the notes of a document."""
        if self.encoding == MIXED:
            return "Some bytes are not UTF-8 and were read as Windows-1252. If that is wrong, state the encoding."
        name = "windows-" + self.encoding[2:] if self.encoding.startswith("cp125") else self.encoding
        return (
            f"The text states no encoding that fits and is not UTF-8. It was read as {name}, which is a guess of "
            f"confidence {self.confidence:.2f}. If that is wrong, state the encoding."
        )


def guess(data: bytes) -> Guess | None:
    """Return the encoding that bytes seem to be in which are not UTF-8; None where they are no text.

    A sample is looked at, around the first byte that is not ASCII.
    """
    first = _NOT_ASCII.search(data)
    start = max(first.start() - SAMPLE // 4, 0) if first is not None else 0
    sample = data[start : start + SAMPLE]
    if _is_mostly_utf8(sample):
        return Guess(MIXED, 1.0)
    codec, confidence = encoding_guess.detected(sample)
    high = _NOT_ASCII.findall(sample)
    known = codec is not None and _COMMON.match(codec) is not None
    doubtful = UNSURE if known else SURE if len(high) <= FEW else SURE / 2
    if confidence < doubtful and _WESTERN.issuperset(b"".join(high)):
        return Guess("cp1252", confidence)
    if codec is None:
        return None
    return Guess(MIXED if codec == "utf-8" else codec, confidence)


def _is_mostly_utf8(data: bytes) -> bool:
    """Return whether nearly all of what is not ASCII is UTF-8, so that the rest is damage or pasted."""
    text = codecs.utf_8_decode(data, "replace", False)[0]
    lost = text.count("\ufffd")
    good = sum(letter > "\x7f" for letter in text) - lost
    return good > 0 and good >= PASTED * lost


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are UTF-8, the last character of which may be cut off."""
    try:
        codecs.utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    return True


def fitting(label: str | None, head: bytes) -> str | None:
    """Return the encoding that a text states, where its start fits it; None otherwise.

    A text of several sequences of UTF-8 is UTF-8, whatever it states. A text whose letters are read as ASCII is not
    UTF-16, so that one which states that is UTF-8.
    """
    codec = codec_of(label)
    if codec is None or codec.startswith(("utf-16", "utf-32")):
        return None
    if is_utf8(head):
        several = _SEQUENCE.findall(head, 0)[:CERTAIN] if codec not in _STATEFUL else []
        return None if len(several) >= CERTAIN else codec
    misfits = codecs.getincrementaldecoder(codec)("replace").decode(head).count("\ufffd")
    return codec if misfits <= max(4, MISFITS * len(head)) else None


def escaped(head: bytes) -> str | None:
    """Return the encoding of a text of East Asia that is ASCII with escape sequences; None for another one.

    >>> escaped("日本".encode("iso2022_jp"))
    'iso2022_jp_2'
    """
    found = _ESCAPED.search(head)
    return None if found is None else "iso2022_kr" if found[1] else "iso2022_jp_2"


def text_of(data: bytes, label: str | None = None, note: Callable[[str], None] = lambda sentence: None) -> str:
    """Return bytes as text, in the encoding that they state, or else a guess, which `note` is called with.

    Nothing is refused: bytes that do not fit are read as Windows-1252, each for itself.

    >>> text_of(bytes([99, 97, 102, 233])), text_of("π".encode("utf-16")), text_of(b"x", "no-such-encoding")
    ('café', 'π', 'x')
    """
    wide = wide_encoding(data[:4096])
    start = data[:SAMPLE]
    codec = wide or (None if data.startswith(codecs.BOM_UTF8) else fitting(label, start) or escaped(start))
    if codec is None and not is_utf8(data):
        found = guess(data) or Guess("cp1252", 0.0)
        note(found.note)
        codec = found.encoding
    return decode(data, codec or "utf-8").removeprefix("\ufeff")


def decode(data: bytes, codec: str) -> str:
    """Return bytes as text; those that do not fit are read as Windows-1252."""
    try:
        return data.decode("utf-8" if codec == MIXED else codec, MIXED)
    except (UnicodeError, LookupError):
        return data.decode("utf-8", MIXED)
