"""Encodings that detectors guess of translated programs' messages, long and short, in thirty languages.

    python -m loadtests.quality.encodings FOLDER

FOLDER has gettext catalogues in UTF-8 at `LANGUAGE/LC_MESSAGES/*.po`, such as `django/conf/locale` of Django's source
distribution. Their messages are written in each encoding of the language and cut to three lengths. A guess is right
when at most one character of 500 differs. Detectors that are not installed are left out.
"""

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

import click

from muisti.core.parsing.encodings import decode, guess

LANGUAGES = {
    "ru": "cp1251 koi8-r iso8859-5 mac-cyrillic cp866", "uk": "cp1251 koi8-u", "bg": "cp1251", "sr": "cp1251",
    "el": "cp1253 iso8859-7", "tr": "cp1254 iso8859-9", "he": "cp1255 iso8859-8", "ar": "cp1256 iso8859-6",
    "fa": "cp1256", "lt": "cp1257 iso8859-13", "lv": "cp1257", "et": "cp1257", "vi": "cp1258", "pl": "cp1250 iso8859-2",
    "cs": "cp1250 iso8859-2", "hu": "cp1250 iso8859-2", "ro": "cp1250 iso8859-2", "hr": "cp1250", "sk": "cp1250",
    "de": "cp1252 iso8859-15 mac-roman cp850", "fr": "cp1252 mac-roman cp850", "es": "cp1252 cp850", "pt": "cp1252",
    "fi": "cp1252", "sv": "cp1252", "da": "cp1252", "it": "cp1252", "ja": "shift_jis euc-jp iso2022-jp cp932",
    "ko": "cp949 euc-kr", "zh_Hans": "gb18030 gb2312 gbk", "zh_Hant": "big5 big5hkscs", "th": "tis-620 cp874",
}  # fmt: skip
SIZES = {60: 6, 300: 4, 3_000: 2}  # characters at least, and how many texts of that length
FEWEST = 40  # messages that an encoding must be able to write
_MESSAGE = re.compile(r'^msgstr(?:\[\d\])? ((?:".*"\n?)+)', re.MULTILINE)
_FIELD = re.compile(r"%\(\w+\)s|%[sd]|\{\w+\}")

Detector = Callable[[bytes], str | None]


def _ours(data: bytes) -> str | None:
    found = guess(data)
    return None if found is None else decode(data, found.encoding)


def _named(module: str, ask: Callable[[object, bytes], str | None]) -> Detector | None:
    """Return a detector of a package, as a function that decodes; None where it is not installed."""
    try:
        package = import_module(module)
    except ImportError:
        return None

    def read(data: bytes) -> str | None:
        try:
            return data.decode(ask(package, data) or "ascii")
        except (LookupError, UnicodeError):
            return None

    return read


def _best(package: object, data: bytes) -> str | None:
    found = getattr(package, "from_bytes")(data).best()  # noqa: B009  # known only once it is imported
    return None if found is None else found.encoding


def _detected(package: object, data: bytes) -> str | None:
    return getattr(package, "detect")(data)["encoding"]  # noqa: B009


def detectors() -> Mapping[str, Detector]:
    """Return the detectors that are installed, by name."""
    peers = {
        "charset-normalizer": _named("charset_normalizer", _best),
        "chardet": _named("chardet", _detected),
        "faust-cchardet": _named("cchardet", _detected),
    }
    return {"muisti": _ours, **{name: read for name, read in peers.items() if read is not None}}


def messages(folder: Path, language: str) -> list[str]:
    """Return the messages of a language, without what programs fill in."""
    found: list[str] = []
    for path in sorted((folder / language / "LC_MESSAGES").glob("*.po")):
        for message in _MESSAGE.finditer(path.read_text("utf-8")):
            text = "".join(re.findall(r'"(.*)"', message[1])).replace("\\n", "\n").replace('\\"', '"')
            if text and "Project-Id-Version" not in text:
                found.append(_FIELD.sub("", text))
    return found


def texts(folder: Path) -> Iterator[tuple[int, str, bytes]]:
    """Yield texts that an encoding can write and that are not ASCII: length, text and bytes."""
    chosen = random.Random(7)
    for language, encodings in LANGUAGES.items():
        known = messages(folder, language)
        for encoding in encodings.split():
            fitting = [one for one in known if one == one.encode(encoding, "ignore").decode(encoding, "ignore")]
            for size, count in SIZES.items() if len(fitting) >= FEWEST else ():
                for _ in range(count):
                    text = ""
                    for one in chosen.sample(fitting, len(fitting)):
                        text += one + "\n"
                        if len(text) >= size:
                            break
                    data = text.encode(encoding)
                    if not data.isascii() or b"\x1b" in data:
                        yield size, text, data


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def main(folder: Path) -> None:
    """Print a table of the detectors."""
    cases = [*texts(folder)]
    click.echo(f"{len(cases)} texts\n| detector | {' | '.join(map(str, SIZES))} | all | ms a text |")
    click.echo("| --- | " + "--- | " * (len(SIZES) + 2))
    for name, read in detectors().items():
        right: defaultdict[int, list[bool]] = defaultdict(list)
        began = time.process_time()
        for size, text, data in cases:
            found = read(data)
            right[size].append(
                found is not None
                and len(found) == len(text)
                and sum(a != b for a, b in zip(found, text, strict=True)) <= len(text) / 500
            )
        took = (time.process_time() - began) * 1_000 / max(len(cases), 1)
        shares = [sum(right[size]) / max(len(right[size]), 1) for size in SIZES]
        every = sum(map(sum, right.values())) / max(len(cases), 1)
        click.echo(f"| {name} | {' | '.join(f'{share:.3f}' for share in [*shares, every])} | {took:.1f} |")


if __name__ == "__main__":
    main()
