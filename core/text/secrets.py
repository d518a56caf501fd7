"""Recognise credentials by their form, so that they are not stored by accident.

A find must look like a secret that works. Not recognised are placeholders (`<token>`, `${TOKEN}`, `****`, `your-key`),
code that fetches a secret, and prose about one.

Sentences state secrets, too: "my password is hunter2-XY99!", "Tr0ub4dor&3 is the passphrase". A statement names a kind
of secret, may say what it is for, and gives a value. Whether that is a secret depends on its form: "the password is
required" gives none, "the PIN is 4821" does. The names are English, German, French, Spanish and Finnish. What may also
be an ordinary word is found as unsure. Stems of the names are looked for first, and patterns only run around them.
"""

import re
from collections.abc import Iterator, Sequence

from muisti.core.support.regex import regex
from muisti.core.text.literals import Literals
from muisti.core.text.recognise import SURE, UNSURE, Found, found_by, parted, rule

NOTHING = 0.0  # certainty

# Chosen by people; numbers of people, and of doors and accounts; issued by machines.
_CHOSEN = (
    r"pass(?:word|phrase|wd)|pass phrase|pwd|wi-?fi key|network key|master key|pass(?=:)"
    r"|[\w-]{0,20}(?:passwort|kennwort|salasana(?:ni|si|mme)?)|passphrase|wlan-?schlüssel"
    r"|mot de passe|mdp|phrase (?:secrète|de passe)|clé wi-?fi|contraseña|clave|frase (?:secreta|de contraseña)"
    r"|tunnuslause"
)
_PIN = (
    r"pin(?:[ -]?(?:code|number|nummer))?|pin-?koodi(?:ni)?|pass ?code|[\w-]{0,20}tunnusluku|geheimzahl|code pin"
    r"|code secret|código pin"
)
_CODE_OF = (
    r"(?:security|access|door|gate|alarm|entry|unlock|lock|safe|garage|backup|recovery|verification|2fa|otp|login)"
    r"[ -]?code|one-time code|türcode|zugangscode|sicherheitscode|code d['’]accès|código de acceso|ovikoodi|turvakoodi"
)
_ISSUED = (
    r"(?:api|access|secret|private|auth|signing|encryption|license|licence|account|client)[ _-]?(?:key|token|secret)"
    r"|token|secret|(?:api-?|zugriffs-?|geheim|geheime[nr]? )(?:schlüssel|token)|clé (?:d['’]api|api|secrète)|jeton"
    r"|clave (?:de )?(?:api|secreta)|secreto|(?:api-?|salainen )avain"
)
_NAME = rf"(?<![\w@/.-])(?:(?P<pin>{_PIN})|(?P<code>{_CODE_OF})|(?P<issued>{_ISSUED})|(?P<chosen>{_CHOSEN}))(?![\w@/-])"
_PURPOSE = (
    r"(?:\s\([^()\n]{1,40}\)|\s(?:wi-?fi|root|admin|ahora|actual|actuel|maître|maestra)|\s(?:for|to|of|on|at|in|für|zu[mr]?|vo[nm]|des?|der|du|pour|para|del?|sur|en)\s"
    r"[^\n.!?:=→]{1,40}?|\sd['’][^\n.!?:=→]{1,40}?)"
)
_VERB = (
    r"(?:(?:is|was|has been|got)\s)?(?:now\s)?(?:set|changed|reset|updated|rotated)\s(?:back\s)?to"
    r"|is|was|will be|should be|must be|ist|lautet|heißt|war|est|sera|était|es|era|será"
    r"|(?<=salasana\s)on|(?<=salasanani\s)on|(?<=koodi\s)on|(?<=koodini\s)on|(?<=avain\s)on|(?<=luku\s)on"
    r"|(?<=lause\s)on|oli"
)
_STILL = r"now|still|currently|just|simply|again|jetzt|noch|weiterhin|maintenant|toujours|ahora|todavía|nyt|yhä"
_LINK = (
    rf"(?:[ \t]{{0,4}}(?P<sign>:=|=>|->|[:=→])(?![:=])\s{{0,4}}"
    rf"|(?P<verb>['’]s|\s(?:{_VERB}))(?:\s(?:{_STILL}))?:?\s{{1,4}}|(?P<beside>\s)(?=\S{{0,60}}?\d))"
)
_MARKS = "\"'`“”„«»‚‘’"
_VALUE = (
    rf"(?:\*{{1,2}})?(?P<quote>[{_MARKS}]?)(?:(?<=«)\s)?"
    rf"(?P<value>(?<=[{_MARKS}])[^{_MARKS}\n]{{4,80}}(?=[{_MARKS}])|[^\s{_MARKS}]{{3,200}})"
)
_USER = r"[\w.@+-]{1,40}\s?[:/]\s?"
_OWNER = r"(?:my|the|our|his|her|your|their|mein|das|unser|mon|le|notre|mi|la|nuestra)"

PLACEHOLDER = regex(
    r"(?i)^(?:[<\[{%*#]|\$[A-Za-z_{(]|required|undefined|none\b|null\b)"
    r"|your|my[-_](?:api|key|password|secret|token)|[xyz]{4}|\*{3}|\.{3}|…"
    r"|example|placeholder|change[-_]?me|redacted|dummy|insert[-_]|replace[-_]?(?:me|with)"
)
# Samples of manuals and tests: mysecretpassword, some_token, Password123.
SAMPLE = regex(r"(?i)[a-z_-]{0,60}?(?:passw|secret|token)[a-z_-]*(?:[_-]?\d{1,4})?[;,.)&]*")
# Links, paths, calls, members, constants, files, addresses.
_CODE = regex(
    r"://|^[/~.\\]|[()\[\]{}<>|=;]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^[A-Z0-9]+(?:_[A-Z0-9]+)+$|^[a-z]+(?:_[a-z]+\d?)+$"
    r"|^--?[a-z]|\w\.[a-z]{2,4}$|^[\w.+-]+@[\w-]+\.\w+$|\w/\w+$"
)
# Standards, products, measures, dates, versions.
_KNOWN = regex(
    r"(?ix)^(?: (?:sha|hmac|hs|rs|es|ps|aes|md|base|utf|oauth|argon|pbkdf|ed|rsa|bcrypt|scrypt|v|ver|version|rfc|http"
    r"|tls|ssl|ipv|web|wpa|python|node|gpt|llama|iso|cve|step|part|page|day|week|phase|level|h|ec|x|p|b|s)"
    r"[-_.#]?\d+(?:[-.:_]\d+)*[a-z]{0,4}(?:-\w+)?"
    r"| [~<>≥≤]?\d+(?:[-–+.,/x:]\d*+)*+[-– ]?"
    r"(?:characters?|chars?|digits?|letters?|words?|bits?|bytes?|days?|hours?|hrs?|h|minutes?|mins?|m|s|secs?|seconds?|ms|weeks?|months?|years?|k|kb|mb|gb|st|nd|rd|th|am|pm|x|d|zeichen|stellig|tage)?"
    r"(?:-\w+)* | 1password | \d{4}-\d\d-\d\d.*"
    r" | [a-z]+\d?(?:-based|-only|-like|-protected|-encoded|-hashed|-signed) )$"
)
_JOINED = regex(r"[a-z]{3,12}(?:-[a-z]{3,12}){3,7}")
_YEAR = regex(r"(?:19|20)\d\d")


# Stems of the names, by a part that each of them has: a text without the part is searched for none of them.
_STEMS = {
    "pass": ("passw", "pass:", "pass code", "passcode", "mot de passe"),
    "rase": ("phrase", "frase"),
    **{stem: (stem,) for stem in (
        "lause", "pwd", "pin", "secre", "token", "kennwort", "salasana", "mdp", "contras", "clave", "key", "schl",
        "tunnusl", "geheimzahl", "code", "koodi", "jeton", "avain", "cred", "clé",
        "código",
    )},
}  # fmt: skip
_PARTS = Literals([*_STEMS])
_PART_STEMS = [(_PARTS.mask([part]), stems) for part, stems in _STEMS.items()]
_BEFORE, _AFTER = 32, 48  # characters around a stem within which its name lies
_NEAR = 70  # characters before a name within which its verb lies
_REACH = 210  # characters of a value and its marks
_NAMED = regex(rf"(?i){_NAME}")
_GIVEN = regex(rf"(?i){_PURPOSE}??{_LINK}{_VALUE}")
_GIVEN_TO = regex(rf"(?i)\sto:?\s{_VALUE}")
_SET = regex(r"(?i)\b(?:set|change[ds]?|reset|updated?|rotated?)\s(?:[\w'’-]{1,20}\s){0,3}$")
_IS = rf"\s(?:is|was|as|ist|als|est|comme|es|como|on)\s(?:{_OWNER}\s)?(?:[\w-]{{1,20}}\s){{0,2}}$"
_COMES = regex(rf"(?i){_IS}")
_FIRST = regex(rf"(?i)(?<![^\s{_MARKS}])(?P<value>[^\s{_MARKS}]{{6,200}})[{_MARKS}]?,?{_IS}")
_WORDS = regex(
    r"(?P<name>(?i:phrase|phrase de passe|phrase secrète|frase de contraseña|frase secreta|tunnuslause))\s?:\s?"
    r"(?P<value>[^\W\d_]{3,12}(?: [^\W\d_]{3,12}){3,7})(?=[.!]?[ \t]{0,8}(?:\n|$))"
)
_PAIR = regex(rf"(?i)\bcred(?:ential)?s(?:\s(?:are|is)|:)\s{_USER}{_VALUE}")


def stated_in(text: str) -> list[Found]:
    """Return the secrets that the sentences of a text state; they may overlap."""
    windows = _windows(text)
    if not windows:
        return []
    return [
        Found("stated-secret", match.start("value"), _end(match), certainty >= SURE)
        for match, certainty in _candidates(text, windows)
        if certainty
    ]


def _end(match: re.Match[str]) -> int:
    """Return where the value ends, without the sign that ends the sentence."""
    return match.end("value") - (match["value"][-1] in ".,;:")


def _candidates(text: str, windows: Sequence[tuple[int, int]]) -> Iterator[tuple[re.Match[str], float]]:
    for start, stop in windows:
        for name in _NAMED.finditer(text, start, stop):
            kind = str(name.lastgroup)
            if given := _GIVEN.match(text, name.end()):
                yield given, _certainty(given, name, kind)
            near = max(0, name.start() - _NEAR)
            if _COMES.search(text, near, name.start()) and (
                first := _FIRST.search(text, max(0, near - _REACH), name.start())
            ):
                yield first, _certainty(first, name, kind)
            if (given := _GIVEN_TO.match(text, name.end())) and _SET.search(text, near, name.start()):
                yield given, _certainty(given, name, kind)
        for given in _WORDS.finditer(text, start, min(len(text), stop + _REACH)):
            yield given, UNSURE
        for given in _PAIR.finditer(text, start, min(len(text), stop + _REACH)):
            yield given, _certainty(given, given, "chosen")


def _windows(text: str) -> Sequence[tuple[int, int]]:
    """Return the stretches around the stems of names, in order and apart."""
    parts = _PARTS.present(text)
    if not parts:
        return ()
    present = [stem for bits, stems in _PART_STEMS if parts & bits for stem in stems]
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals have small forms of two characters
        lowered = "".join(char if len(char.lower()) != 1 else char.lower() for char in text)
    found: list[tuple[int, int]] = []
    start = stop = 0
    for place in sorted(place for stem in present for place in _places(lowered, stem)):
        if place - _BEFORE > stop:
            if stop:
                found.append((start, stop))
            start = place - _BEFORE
        start, stop = max(0, start), min(len(text), place + _AFTER)
    if stop:
        found.append((start, stop))
    return found


def _places(lowered: str, stem: str) -> Iterator[int]:
    at = lowered.find(stem)
    while at >= 0:
        yield at
        at = lowered.find(stem, at + len(stem))


def _certainty(match: re.Match[str], name: re.Match[str], kind: str) -> float:
    """Return how sure it is that a statement gives a secret; `kind` is that of the name."""
    value = match["value"].rstrip(".,;:!?*_")
    groups = match.re.groupindex
    beside = "beside" in groups and match["beside"] is not None
    if kind in ("pin", "code") and (number := value.strip("#*")).isdecimal():
        assigned = "sign" in groups and match["sign"] not in (None, ":")
        sure = kind == "pin" and not beside and not assigned and not _YEAR.fullmatch(number)
        return (SURE if sure else UNSURE) if 4 <= len(number) <= 8 else NOTHING
    if PLACEHOLDER.search(value) or SAMPLE.fullmatch(value) or _CODE.search(value) or len(set(value)) < 4:
        return NOTHING
    if kind == "chosen" and value.isdecimal():
        return SURE if len(value) >= 6 and not beside else NOTHING
    if _KNOWN.match(value) or (kind == "pin" and name[0].lower().startswith("pin")):
        return NOTHING
    quoted = "quote" in groups and bool(match["quote"])
    return _of_form(value, kind, beside=beside, quoted=quoted)


def _of_form(value: str, kind: str, *, beside: bool, quoted: bool) -> float:
    """Return the certainty by the kinds of characters that a value has."""
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdecimal, value))
    signs = any(not char.isalnum() and char not in "-_.,/' " for char in value[1:-1])
    if " " in value:
        return UNSURE if kind == "chosen" and len(value.split()) >= 3 else NOTHING
    if kind == "issued":
        if not (letters and digits) or len(value) < 8:
            return NOTHING
        return SURE if len(value) >= 16 and not beside else UNSURE if len(value) >= 12 or not beside else NOTHING
    if letters and digits and len(value) >= 5:
        mixed = signs or (len(value) >= 8 and value.lower() != value and value[1:].lower() != value[1:])
        return SURE if not beside or mixed else UNSURE if len(value) >= 7 else NOTHING
    if (letters and signs and len(value) >= 6) or (kind == "chosen" and _JOINED.fullmatch(value)):
        return UNSURE
    return UNSURE if quoted and not beside and kind == "chosen" and len(value) >= 6 else NOTHING


# Code that names or fetches a secret: get_token(), os.environ[...], settings.token, client_secret.
_EXPRESSION = regex(
    r"[A-Za-z_][A-Za-z0-9_.]*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+[;,)]*$|[A-Za-z_]*(?:passw|secret|token|key)[A-Za-z_]*[;,)]*$"
    r"|/[\^\[(]"
)
_MEMBER = regex(r"[A-Za-z_]++(?:\.[A-Za-z_]\w{0,40}+)++[)\]},;]*+")  # lexer.token2, as code assigns it
_TYPE_PATH = regex(r"\w::\w{0,60}$")  # before a name that is the last of a path of types
# A value without quotes that code computes: a name, `(self.user`, `current.token})`. `NAMED` also fits a word of prose.
_COMPUTED = regex(
    r"[(\[]{1,3}[A-Za-z_?]|(?=[A-Za-z]*[._])[A-Za-z_]++(?:\.[A-Za-z_]++)*+[)\]},;:]++$|[A-Za-z_][\w.]*+\)[.):]"
)
_NAME_IN_CODE = regex(r"[A-Za-z_]++(?:\.[A-Za-z_]++)*+[)\]},;:]*+")
# The name of a credential as a literal: 'aws_access_key_id', "NextToken".
_NAME_OF_ONE = regex(r"[A-Za-z_-]*(?:access|api|secret|private)_?-?key|[A-Za-z_-]*token", re.IGNORECASE)
_LINES_OF_CODE = regex(
    r"^[ \t]{0,40}(?:(?:async )?def \w|class \w|import [\w{*]|from [\w.]+ import|function \w|const \w|let \w|var \w"
    r"|func \w|fn \w|use \w+::|package \w|#include"
    r"|(?:public|private|protected|static) \w|self\.\w+ = |if \w[^\n]{0,80}:$)",
    re.MULTILINE,
)
_AROUND = 4_000  # characters before and after a find, in which lines of code are looked for
_KEY_BODY = regex(r"[A-Za-z0-9+/]{40}")
SHORT = 8  # characters; a shorter value needs a letter and a digit
SHORTEST = 8  # characters of what may hold a secret, such as "PIN 4821"
# Passwords of databases on one's own machine, as every manual has them.
_LOCAL = frozenset({
    "admin", "guest", "mysql", "pass", "passwd", "password", "postgres", "pwd", "root", "secret", "test", "token",
    "user",
})  # fmt: skip


def _works(match: re.Match[str]) -> bool:
    value = match["value"] if "value" in match.re.groupindex else match[0]
    return not PLACEHOLDER.search(value) and len(set(value)) > 2


def _is_assigned(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 70) : match.start()]
    if not _works(match) or SAMPLE.fullmatch(match["value"]) or _TYPE_PATH.search(before):
        return False
    value = match["value"].rstrip(";,.)&")
    if len(value) < SHORT and not (any(map(str.isdecimal, value)) and any(map(str.isalpha, value))):
        return False
    if match["quote"]:
        return any(map(str.isdigit, value)) or not _NAME_OF_ONE.match(value)
    if _COMPUTED.match(match["value"]) or _is_name_in_code(match):
        return False
    if match["sign"] == "=" and _is_spaced(match) and _MEMBER.fullmatch(match["value"]):
        return False
    if match["open"]:
        return not _EXPRESSION.match(match["value"])
    # Without quotes it may be code, and after a colon it may be prose.
    prose = match["sign"] == ":" and not any(char.isdigit() for char in match["value"])
    return not prose and not _EXPRESSION.match(match["value"])


def _is_name_in_code(match: re.Match[str]) -> bool:
    """Tell whether the value is a variable: written as code writes one, near lines of code or in a dictionary of it."""
    value = match["value"]
    if not _NAME_IN_CODE.fullmatch(value):
        return False
    if match["open"] and value[-1] in ")]},":
        return True
    near = max(0, match.start() - _AROUND)
    return (_is_spaced(match) or value[-1] in ")]},") and _LINES_OF_CODE.search(
        match.string, near, match.end() + _AROUND
    ) is not None


def _is_spaced(match: re.Match[str]) -> bool:
    return match.string[match.start("sign") - 1] == " " and match.string[match.end("sign")] == " "


def _is_key(match: re.Match[str]) -> bool:
    """Tell whether a private key follows its first line, which in code may be a constant."""
    behind = match[0].partition("KEY")[2].partition("-----")[2] or match.string[match.end() : match.end() + 1]
    return _works(match) and (behind[:1] not in ('"', "'", "`") or _KEY_BODY.search(match[0]) is not None)


def _opens_a_url(match: re.Match[str]) -> bool:
    value = match["value"]
    return _works(match) and value.lower() not in _LOCAL and value != match["user"] and not match[0].startswith(value)


RULES = (
    rule(
        "private-key",
        "private key",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,20000}+-----END [A-Z0-9 ]{1,80}-----|(?:\s{1,4}[A-Za-z0-9+/=]{16,100}+)*)",
        _is_key,
    ),
    rule("aws-access-key", "akia|asia", r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])", _works),
    rule(
        "github-token",
        "gho_|ghp_|ghr_|ghs_|ghu_|github_pat_",
        r"(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
        _works,
    ),
    rule("gitlab-token", "glpat-|gldt-|glrt-|glptt-", r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt)-[\w-]{20,255}", _works),
    rule("slack-token", "xox", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,255}", _works),
    rule("stripe-key", "k_live_|k_test_", r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}", _works),
    rule("google-api-key", "aiza", r"(?<![\w-])AIza[\w-]{35}(?![\w-])", _works),
    rule(
        "model-api-key",
        "sk-",
        r"(?<![\w-])sk-(?:(?:ant|proj|svcacct|admin|or)-[\w-]{20,255}|[A-Za-z0-9]{20,255})",
        _works,
    ),
    rule("muisti-key", "mk_", r"(?<![\w-])mk_[0-9a-f]{12}_[\w-]{43}(?![\w-])", _works),
    rule("jwt", "eyj", r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}+", _works),
    rule(
        "bearer-token",
        "bearer",
        r"(?i:\bbearer)[ \t]{1,8}(?P<value>(?=[A-Za-z._~+/-]{0,200}[0-9])[\w.~+/=-]{20,2000})",
        _works,
    ),
    rule(
        "url-password",
        "://",
        r"(?<![\w+.-])[A-Za-z][\w+.-]{1,20}://(?P<user>[^\s:/@?#]{0,100}):(?P<value>[^\s/@?#]{3,200})@",
        _opens_a_url,
    ),
    rule(
        "password-assignment",
        "passw|passphrase|_pass|pwd|secret|api|access|token",
        r"(?i:password|passwd|passphrase|pwd|secret(?:[_-]?access)?(?:[_-]?key)?|api[_-]?key|access[_-]?key|token|(?<=_)pass)"
        r"""(?P<open>["']?)[ \t]{0,8}(?P<sign>:?=>?(?!=)|:(?!:))[ \t]{0,8}(?P<quote>["'`]?)"""
        r"""(?P<value>[^\s"'`]{6,200})""",
        _is_assigned,
    ),
)

_HINTS = Literals([hint for one in RULES for hint in one.hints])
_HINTED = [(one, _HINTS.mask(one.hints)) for one in RULES]


def secrets_in(text: str) -> list[Found]:
    """Return what looks like a working secret, in order."""
    if len(text) < SHORTEST:  # most names of metadata, and many tags
        return []
    hints = _HINTS.present(text)
    found = found_by(text, [one for one, bits in _HINTED if hints & bits]) if hints else []
    stated = stated_in(text)
    return parted([*found, *stated]) if stated else found


def find_secret(text: str) -> str | None:
    """Return the kind of the first secret in a text, or None when there is none.

    >>> find_secret("export DB_PASSWORD=correct-horse"), find_secret("password: <your password>")
    ('password-assignment', None)
    """
    found = secrets_in(text)
    return found[0].kind if found else None
