"""Recognise credentials by their form, so that they are not stored by accident.

A find must look like a secret that works. Not recognised are placeholders (`<token>`, `${TOKEN}`, `****`, `your-key`),
code that fetches a secret, and prose about one.
"""

import re

from muisti.core.text.recognise import Found, found_by, parted, rule
from muisti.core.text.stated_secrets import PLACEHOLDER, SAMPLE, Literals, stated_in

# Code that names or fetches a secret: get_token(), os.environ[...], settings.token, client_secret.
_EXPRESSION = re.compile(
    r"[A-Za-z_][A-Za-z0-9_.]*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+[;,)]*$|[A-Za-z_]*(?:passw|secret|token|key)[A-Za-z_]*[;,)]*$"
)
# A value without quotes that code computes: a name, `(self.user`, `current.token})`. `NAMED` also fits a word of prose.
_COMPUTED = re.compile(
    r"[(\[]{1,3}[A-Za-z_?]|(?=[A-Za-z]*[._])[A-Za-z_]++(?:\.[A-Za-z_]++)*+[)\]},;:]++$|[A-Za-z_][\w.]*+\)[.):]"
)
_NAMED = re.compile(r"[A-Za-z_]++(?:\.[A-Za-z_]++)*+[)\]},;:]*+")
# The name of a credential as a literal: 'aws_access_key_id', "NextToken".
_NAME_OF_ONE = re.compile(r"[A-Za-z_-]*(?:access|api|secret|private)_?-?key|[A-Za-z_-]*token", re.IGNORECASE)
_CODE = re.compile(
    r"^[ \t]{0,40}(?:(?:async )?def \w|class \w|import [\w{*]|from [\w.]+ import|function \w|const \w|let \w|var \w"
    r"|func \w|fn \w|use \w+::|package \w|#include"
    r"|(?:public|private|protected|static) \w|self\.\w+ = |if \w[^\n]{0,80}:$)",
    re.MULTILINE,
)
_NEAR = 4_000  # characters before and after a find, in which lines of code are looked for
_KEY_BODY = re.compile(r"[A-Za-z0-9+/]{40}")
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
    if not _works(match) or SAMPLE.fullmatch(match["value"]):
        return False
    value = match["value"].rstrip(";,.)&")
    if len(value) < SHORT and not (any(map(str.isdecimal, value)) and any(map(str.isalpha, value))):
        return False
    if match["quote"]:
        return any(map(str.isdigit, value)) or not _NAME_OF_ONE.match(value)
    if _COMPUTED.match(match["value"]) or _is_name_in_code(match):
        return False
    if match["open"]:
        return not _EXPRESSION.match(match["value"])
    # Without quotes it may be code, and after a colon it may be prose.
    prose = match["sign"] == ":" and not any(char.isdigit() for char in match["value"])
    return not prose and not _EXPRESSION.match(match["value"])


def _is_name_in_code(match: re.Match[str]) -> bool:
    """Tell whether the value is a variable: written as code writes one, near lines of code or in a dictionary of it."""
    value = match["value"]
    if not _NAMED.fullmatch(value):
        return False
    if match["open"] and value[-1] in ")]},":
        return True
    spaced = match.string[match.start("sign") - 1] == " " and match.string[match.end("sign")] == " "
    near = max(0, match.start() - _NEAR)
    return (spaced or value[-1] in ")]},") and _CODE.search(match.string, near, match.end() + _NEAR) is not None


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
