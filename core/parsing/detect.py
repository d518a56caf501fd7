"""Detect the format of a file by its content. Its name decides between formats of text, and tells code's language."""

import codecs
import re
import unicodedata
from collections import Counter
from enum import StrEnum
from pathlib import PurePosixPath

from muisti.core.support.regex import regex

# The languages of source code, each with its extensions. Names are those of tree-sitter's grammars.
_LANGUAGES = {
    "bash": "sh bash zsh ksh", "bat": "bat cmd", "c": "c h", "clojure": "clj cljs cljc edn",
    "cmake": "cmake", "cpp": "cc cpp cxx hh hpp hxx ipp inl", "csharp": "cs", "css": "css scss sass less",
    "cuda": "cu cuh", "d": "d", "dart": "dart", "elixir": "ex exs", "elm": "elm", "erlang": "erl hrl",
    "fortran": "f f90 f95 f03", "fsharp": "fs fsx fsi", "glsl": "glsl vert frag", "go": "go", "graphql": "graphql gql",
    "groovy": "groovy gradle", "haskell": "hs", "hcl": "tf hcl tfvars", "ini": "ini cfg conf properties",
    "java": "java", "javascript": "js mjs cjs jsx", "json": "json jsonl ndjson geojson json5 jsonc",
    "julia": "jl", "kotlin": "kt kts", "lisp": "lisp lsp el", "lua": "lua", "make": "mk mak", "matlab": "m",
    "nim": "nim", "nix": "nix", "objc": "mm", "ocaml": "ml mli", "pascal": "pas pp", "perl": "pl pm",
    "php": "php", "powershell": "ps1 psm1", "proto": "proto", "python": "py pyi pyw", "r": "r", "ruby": "rb rake",
    "rust": "rs", "scala": "scala sc", "scheme": "scm ss", "solidity": "sol", "sql": "sql", "svelte": "svelte",
    "swift": "swift", "toml": "toml", "tsx": "tsx", "typescript": "ts mts cts", "verilog": "v sv",
    "vim": "vim", "vue": "vue", "xml": "xml xsd xsl xslt svg plist", "yaml": "yaml yml", "zig": "zig",
}  # fmt: skip
LANGUAGES = {extension: language for language, extensions in _LANGUAGES.items() for extension in extensions.split()}
# Files that have a name instead of an extension.
_NAMED = {
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "make", "gnumakefile": "make",
    "rakefile": "ruby", "gemfile": "ruby", "cmakelists.txt": "cmake", "jenkinsfile": "groovy",
    "build": "python", "workspace": "python", ".bashrc": "bash", ".zshrc": "bash", ".profile": "bash",
    ".gitconfig": "ini", ".editorconfig": "ini", "go.mod": "gomod", "go.sum": "gosum",
}  # fmt: skip
_PROGRAMMING = frozenset((*_LANGUAGES, *_NAMED.values()))
_SHEBANG = regex(r"#!.*?[/ ](?:env +(?:-\S+ +)*)?([a-zA-Z]+)[\d.]*(?:\s|$)")
_INTERPRETERS = {
    "bash": "bash", "sh": "bash", "zsh": "bash", "dash": "bash", "ksh": "bash", "node": "javascript",
    "deno": "typescript", "bun": "typescript", "perl": "perl", "php": "php", "python": "python", "pypy": "python",
    "ruby": "ruby", "lua": "lua", "Rscript": "r", "groovy": "groovy", "make": "make", "awk": "awk", "gawk": "awk",
}  # fmt: skip


def extension(name: str) -> str:
    """Return the extension of a file name, lower case and without its dot; empty where it has none.

    >>> extension("docs/Read.ME"), extension("Makefile"), extension("a.tar.gz")
    ('me', '', 'gz')
    """
    return PurePosixPath(name.replace("\\", "/")).suffix[1:].lower()


def programming_language(name: str, start: str = "") -> str | None:
    """Return the programming language of a file by its name, or by the interpreter in its first line.

    >>> programming_language("src/app.tsx"), programming_language("run", "#!/usr/bin/env python3")
    ('tsx', 'python')
    """
    base = PurePosixPath(name.replace("\\", "/")).name.lower()
    found = _NAMED.get(base) or LANGUAGES.get(extension(name))
    if found or not start.startswith("#!"):
        return found
    interpreter = _SHEBANG.match(start.split("\n", 1)[0])
    return _INTERPRETERS.get(interpreter[1]) if interpreter else None


def is_programming_language(language: str) -> bool:
    """Return whether a language is one of source code, markup or data, and not of people.

    >>> is_programming_language("xml"), is_programming_language("en")
    (True, False)
    """
    return language in _PROGRAMMING


CONTROLS, MOST_CONTROLS = 8, 0.05  # control characters of a text at most: a number, or a share of it
MOST_ODD = 0.02  # share of control characters and unassigned ones in a text of a wide encoding
MOST_PAIRS = (
    0.6  # share of the other characters that would be two letters of ASCII, as in a program; of Chinese a third
)
_CONTROL = regex(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_NO_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})
HEAD = 64 << 10  # bytes at the start of a file that are looked at


class Format(StrEnum):
    """The formats of files. `ZIP` and what follows are archives; `UNKNOWN` is not read."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CODE = "code"
    CSV = "csv"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    RTF = "rtf"
    DOC = "doc"
    XLS = "xls"
    PPT = "ppt"
    MSG = "msg"
    XML = "xml"
    EPUB = "epub"
    NOTEBOOK = "ipynb"
    EMAIL = "eml"
    MAILBOX = "mbox"
    CALENDAR = "ics"
    CONTACTS = "vcf"
    PNG = "png"
    JPEG = "jpeg"
    TIFF = "tiff"
    ZIP = "zip"
    TAR = "tar"
    COMPRESSED = "compressed"
    UNKNOWN = "unknown"


ARCHIVES = frozenset({Format.ZIP, Format.TAR, Format.COMPRESSED})
STREAMED = frozenset({Format.TEXT, Format.MARKDOWN, Format.CODE, Format.CSV})
_OFFICE = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES = {
    Format.TEXT: "text/plain",
    Format.MARKDOWN: "text/markdown",
    Format.CODE: "text/plain",
    Format.CSV: "text/csv",
    Format.HTML: "text/html",
    Format.PDF: "application/pdf",
    Format.DOCX: _OFFICE + "wordprocessingml.document",
    Format.PPTX: _OFFICE + "presentationml.presentation",
    Format.XLSX: _OFFICE + "spreadsheetml.sheet",
    Format.ODT: "application/vnd.oasis.opendocument.text",
    Format.ODS: "application/vnd.oasis.opendocument.spreadsheet",
    Format.ODP: "application/vnd.oasis.opendocument.presentation",
    Format.RTF: "application/rtf",
    Format.DOC: "application/msword",
    Format.XLS: "application/vnd.ms-excel",
    Format.PPT: "application/vnd.ms-powerpoint",
    Format.MSG: "application/vnd.ms-outlook",
    Format.XML: "application/xml",
    Format.EPUB: "application/epub+zip",
    Format.NOTEBOOK: "application/x-ipynb+json",
    Format.EMAIL: "message/rfc822",
    Format.MAILBOX: "application/mbox",
    Format.CALENDAR: "text/calendar",
    Format.CONTACTS: "text/vcard",
    Format.PNG: "image/png",
    Format.JPEG: "image/jpeg",
    Format.TIFF: "image/tiff",
    Format.ZIP: "application/zip",
    Format.TAR: "application/x-tar",
    Format.COMPRESSED: "application/octet-stream",
    Format.UNKNOWN: "application/octet-stream",
}
_OPEN = "application/vnd.oasis.opendocument."
OPEN_DOCUMENTS = {
    _OPEN + kind + more: form
    for kind, form in (
        ("text", Format.ODT), ("spreadsheet", Format.ODS), ("presentation", Format.ODP), ("graphics", Format.ODP),
    )
    for more in ("", "-template", "-master", "-flat-xml")
}  # fmt: skip
# Formats with a signature that are known and not read: the message can then say what the file is.
_SIGNATURES = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office before 2007, or an encrypted one"),
    (b"\x89PNG\r\n", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"), (b"II*\0", "a TIFF image"), (b"MM\0*", "a TIFF image"), (b"BM", "a BMP image"),
    (b"\xdb\xa5\x2d\0", "a document of Word before 1997"), (b"1\xbe\0\0\0", "a document of Write"),
    (b"\x78\x9f\x3e\x22", "a message of Outlook in TNEF, such as winmail.dat"),
    (b"!BDN", "a store of Outlook (PST)"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"SQLite format 3\0", "an SQLite database"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"), (b"Rar!", "a RAR archive"), (b"OggS", "an Ogg recording"),
    (b"ID3", "an MP3 recording"), (b"\0asm", "a WebAssembly program"), (b"wOFF", "a font"), (b"wOF2", "a font"),
    (b"\0\1\0\0", "a font"), (b"RIFF", "a recording, a film or a WebP image"), (b"\xca\xfe\xba\xbe", "a program"),
    (b"bplist00", "a binary list of properties"), (b"PAR1", "a table of Parquet"), (b"AT&TFORM", "a DjVu document"),
    (b"\xe4R\\{", "a section of OneNote"), (b"\xffWPC", "a document of WordPerfect"), (b"ITSF", "a help file (CHM)"),
    (b"MSCF", "a Cabinet archive"), (b"\x04\x22\x4d\x18", "a file compressed by LZ4"), (b"\x80\x04\x95", "a pickle"),
    (b"\x93NUMPY", "an array of numbers"), (b"\x89HDF\r\n", "a store of numbers (HDF5)"),
    (b"\x1f\x9d", "a file compressed by compress"), (b"L\0\0\0\1\x14\2\0", "a shortcut of Windows"),
)  # fmt: skip
# What is written in letters and is no text: programs that draw pages, and bytes as letters.
_ENCODED = tuple(
    (re.compile(rb"\A" + pattern), what)
    for pattern, what in (
        (rb"(?:\x1b%-12345X[^%]*)?%!PS", "a PostScript program; make it a PDF, and send that"),
        (rb"-----BEGIN PGP MESSAGE-----", "a message that is encrypted by PGP"),
        (rb"-----BEGIN (?:PKCS7|CMS)-----", "a message that is sealed by S/MIME"),
        (rb"\(This file must be converted with BinHex", "written as letters (BinHex); decode it, and send that"),
        (rb"=ybegin line=\d", "written as letters (yEnc); decode it, and send that"),
        (rb"begin(?:-base64)? [0-7]{3,4} [^\n]+\n(?:[!-`][ -`]{0,62}\r?\n?){20}",
         "written as letters (uuencode); decode it, and send that"),
        (rb"(?=[^\n]*[a-z])(?=[^\n]*[A-Z])(?=[^\n]*\d)(?:[A-Za-z\d+/]{60,76}\r?\n){6}"
         rb"(?:[A-Za-z\d+/]{1,76}={0,2}\s*+)*+\Z", "written as letters (base64); decode it, and send that"),
    )
)  # fmt: skip
_LATER = ((4, b"ftyp", "a film, or an image of its kind (MP4, HEIC)"), (60, b"BOOKMOBI", "a book of Kindle (MOBI)"))
COMPRESSIONS = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))
RECOGNISED = {"a PNG image": Format.PNG, "a JPEG image": Format.JPEG, "a TIFF image": Format.TIFF}
IMAGES = frozenset({*RECOGNISED, "a GIF image", "a BMP image"})
_HTML = regex(
    rb"(?:<\?xml[^>]*+>\s*+)?+(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s++html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
# An OpenDocument file of one part states what it is among the attributes of its root.
_FLAT = regex(
    rb"(?:\xef\xbb\xbf)?+\s*+(?:<\?xml[^>]*+>\s*+)?+(?:(?><!--.*?-->)\s*+)*+"
    rb"<office:document\s[^>]*?\boffice:mimetype\s*+=\s*+[\"']([a-z.+/-]++)",
    re.DOTALL,
)
# Documents that are one file of XML. Word and Excel share names of elements with others, so their namespaces count.
_ONE_FILE = regex(
    rb"(?:\xef\xbb\xbf)?+\s*+(?:(?><\?[^>]*+>|<!--.*?-->|<!DOCTYPE[^>\[]*+>)\s*+)*+<(?:FictionBook\b|en-export\b|"
    rb"w:wordDocument\b|(?:\w+:)?Workbook\b[^>]*urn:schemas-microsoft-com:office:spreadsheet|"
    rb"pkg:package\b[^>]*schemas.microsoft.com/office/2006/xmlPackage)",
    re.DOTALL,
)
_OBJECT = regex(rb"\d \d+ obj\b")  # of a PDF that begins after other bytes
_NOTEBOOK = regex(rb'"nbformat"\s*+:\s*+\d')
_HEADERS = regex(rb"(?:[A-Za-z][A-Za-z0-9-]*+:[^\n]*+\n(?:[ \t][^\n]*+\n)*+){2}")
_MAIL = regex(rb"^(?:from|received|message-id|mime-version|return-path|delivered-to|subject):", re.I | re.M)
_ENTRIES = regex(rb"(?:[\w-]{1,99}\.)?BEGIN:V(CALENDAR|CARD)\s", re.IGNORECASE)
_MAILBOX = regex(rb"From \S+ +\S.*\r?\n(?:[A-Za-z][A-Za-z0-9-]*:)")
_BY_NAME = {
    "md": Format.MARKDOWN, "markdown": Format.MARKDOWN, "mdx": Format.MARKDOWN, "mdown": Format.MARKDOWN,
    "qmd": Format.MARKDOWN, "rmd": Format.MARKDOWN, "csv": Format.CSV, "tsv": Format.CSV, "tab": Format.CSV,
    "psv": Format.CSV, "html": Format.HTML, "htm": Format.HTML, "xhtml": Format.HTML, "eml": Format.EMAIL,
    "mbox": Format.MAILBOX, "txt": Format.TEXT, "text": Format.TEXT, "rst": Format.TEXT, "log": Format.TEXT,
}  # fmt: skip
_BY_MEDIA_TYPE = {
    "text/markdown": Format.MARKDOWN, "text/x-markdown": Format.MARKDOWN, "text/csv": Format.CSV,
    "text/tab-separated-values": Format.CSV, "text/html": Format.HTML, "application/xhtml+xml": Format.HTML,
    "message/rfc822": Format.EMAIL, "application/mbox": Format.MAILBOX,
}  # fmt: skip


def detect(head: bytes, name: str = "", media_type: str | None = None) -> Format:
    """Return the format of a file by its first `HEAD` bytes. `ZIP` stands for every format that is a ZIP file.

    >>> detect(b"%PDF-1.7"), detect(b"# Title", "README.md"), detect(b"print(1)", "a.py")
    (<Format.PDF: 'pdf'>, <Format.MARKDOWN: 'markdown'>, <Format.CODE: 'code'>)
    """
    if head.startswith(b"%PDF-") or (b"%PDF-" in head[:1024] and _OBJECT.search(head) and not _is_mail(head)):
        return Format.PDF
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return Format.ZIP
    if any(head.startswith(signature) for signature, _ in COMPRESSIONS):
        return Format.COMPRESSED
    if head.startswith(b"{\\rtf"):
        return Format.RTF
    if head[257:262] == b"ustar":
        return Format.TAR
    if signature_of(head) or (is_binary(head) and not _is_mail(head)):
        return Format.UNKNOWN
    if (flat := _FLAT.match(head)) is not None:
        return OPEN_DOCUMENTS.get(flat[1].decode("ascii"), Format.UNKNOWN)
    if _ONE_FILE.match(head) is not None:
        return Format.XML
    return _text_format(head, name, media_type)


def signature_of(head: bytes) -> str | None:
    """Return what a file is that has a known signature and is not read, such as "a PNG image"."""
    for signature, what in _SIGNATURES:
        if head.startswith(signature) and (not signature.isascii() or is_binary(head)):
            return what
    later = (what for at, signature, what in _LATER if head[at:].startswith(signature) and is_binary(head))
    return next(later, None) or next((what for form, what in _ENCODED if form.match(head)), None)


def is_binary(head: bytes) -> bool:
    """Return whether the bytes are no text: they contain NUL or many control characters, and are no wide encoding."""
    shifts = b"\x0e\x0f" if b"\x1b$)C" in head[:1024] else b""  # of ISO-2022-KR
    controls = len(_CONTROL.findall(head.translate(None, shifts)))
    return (b"\0" in head or controls > max(CONTROLS, MOST_CONTROLS * len(head))) and wide_encoding(head) is None


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of a text in UTF-16 or UTF-32, by its mark or by what its first characters would be."""
    for mark, encoding in ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32")):
        if head.startswith(mark):
            return encoding
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    start = head[:4096]
    if b"\0" not in start:
        return None
    return next((encoding for encoding in _WIDE if _is_text(start, encoding)), None)


def _is_text(start: bytes, encoding: str) -> bool:
    """Return whether bytes are characters in an encoding, some of them ASCII, hardly one a control or unassigned."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeError:
        return False
    odd = sum(unicodedata.category(letter) in _NO_TEXT and letter not in "\t\n\r\f\ufeff" for letter in text)
    plain = sum(letter in "\n\t" or " " <= letter <= "~" for letter in text)
    pairs = sum(" " <= chr(ord(letter) >> 8) <= "~" and " " <= chr(ord(letter) & 255) <= "~" for letter in text)
    if not plain or odd > MOST_ODD * len(text) or pairs > MOST_PAIRS * (len(text) - plain):
        return False
    alphabets = Counter(ord(letter) >> 8 for letter in text).most_common(2)
    of_one = " " in text and sum(count for _, count in alphabets) > 0.9 * len(text)
    return not start.isascii() or plain > 0.7 * len(text) or of_one


def _is_mail(start: bytes) -> bool:
    return _HEADERS.match(start) is not None and _MAIL.search(start[:8192]) is not None


def _text_format(head: bytes, name: str, media_type: str | None) -> Format:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    named = _BY_NAME.get(extension(name))
    if start.startswith(b"{") and (extension(name) == "ipynb" or (_NOTEBOOK.search(head) and b'"cells"' in head)):
        return Format.NOTEBOOK
    if named is not None and named in (Format.MARKDOWN, Format.CSV, Format.TEXT):
        return named
    if (entries := _ENTRIES.match(start)) is not None:
        return Format.CALENDAR if entries[1].lower() == b"calendar" else Format.CONTACTS
    language = programming_language(name, head[:200].decode("latin-1"))
    if language and not (language == "xml" and _HTML.match(start)):
        return Format.CODE
    if _MAILBOX.match(start):
        return Format.MAILBOX
    if _is_mail(start) or (extension(name) == "emlx" and start[:1].isdigit()):
        return Format.EMAIL
    if _HTML.match(start):
        return Format.HTML
    return named or _BY_MEDIA_TYPE.get((media_type or "").split(";")[0].strip().lower(), Format.TEXT)
