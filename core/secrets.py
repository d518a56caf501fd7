"""Recognise credentials by their form, so that they are not stored by accident."""

import re
from typing import NamedTuple


class _Rule(NamedTuple):
    """`pattern` finds candidates; its group `value`, or else all that it matches, is what would be secret.

    `hints`, in lower case: one of them is in every candidate. They spare most texts the pattern.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(name: str, hints: str, pattern: str) -> _Rule:
    return _Rule(name, tuple(hints.split("|")), re.compile(pattern))


# Each pattern starts where a word starts or has a bounded length, so that the time is linear in the text.
_RULES = (
    _rule("private-key", "private key", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    _rule("aws-access-key", "akia|asia", r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _rule(
        "github-token",
        "gho_|ghp_|ghr_|ghs_|ghu_|github_pat_",
        r"(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})",
    ),
    _rule("gitlab-token", "glpat-|gldt-|glrt-|glptt-", r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt)-[\w-]{20}"),
    _rule("slack-token", "xox", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10}"),
    _rule("stripe-key", "k_live_|k_test_", r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16}"),
    _rule("google-api-key", "aiza", r"(?<![\w-])AIza[\w-]{35}(?![\w-])"),
    _rule("model-api-key", "sk-", r"(?<![\w-])sk-(?:(?:ant|proj|svcacct|admin|or)-[\w-]{20}|[A-Za-z0-9]{20})"),
    _rule("jwt", "eyj", r"(?<![\w-])eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8}"),
    _rule(
        "bearer-token",
        "bearer",
        r"(?i:\bbearer)[ \t]{1,8}(?P<value>(?=[A-Za-z._~+/-]{0,200}[0-9])[\w.~+/=-]{20,200})",
    ),
    _rule(
        "password-assignment",
        "passw|passphrase|pwd|secret|api|access|token",
        r"(?i:password|passwd|passphrase|pwd|secret(?:[_-]?access)?(?:[_-]?key)?|api[_-]?key|access[_-]?key|token)"
        r"""(?P<open>["']?)[ \t]{0,8}(?P<sign>:?=>?(?!=)|:(?!:))[ \t]{0,8}(?P<quote>["'`]?)"""
        r"""(?P<value>[^\s"'`]{8,200})""",
    ),
)

_PLACEHOLDER = re.compile(
    r"(?i)^(?:[<\[{%*]|\$[A-Za-z_{(]|required|undefined|none\b|null\b)"
    r"|your|my[-_](?:api|key|password|secret|token)|x{4}|\*{3}|\.{3}|…"
    r"|example|placeholder|change[-_]?me|redacted|dummy|insert[-_]|replace[-_]?(?:me|with)"
)
# Code that names or fetches a secret: get_token(), os.environ[...], settings.token, client_secret.
_EXPRESSION = re.compile(
    r"[A-Za-z_][A-Za-z_.]*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+[;,)]*$|[A-Za-z_]*(?:passw|secret|token|key)[A-Za-z_]*[;,)]*$"
)


def find_secret(text: str) -> str | None:
    """Return the name of the first rule that the text breaks, None when it looks harmless.

    Placeholders such as `<token>`, `${TOKEN}`, `****` and `your-key` are harmless.

    >>> find_secret("export DB_PASSWORD=correct-horse"), find_secret("password: <your password>")
    ('password-assignment', None)
    """
    lowered = text.lower()
    for rule in _RULES:
        if any(hint in lowered for hint in rule.hints) and any(map(_is_secret, rule.pattern.finditer(text))):
            return rule.name
    return None


def _is_secret(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    value = groups.get("value") or match[0]
    if _PLACEHOLDER.search(value) or len(set(value)) <= 2:
        return False
    if "sign" not in groups or groups["open"] or groups["quote"]:
        return True
    # Without quotes it may be code, and after a colon it may be prose.
    prose = groups["sign"] == ":" and not any(char.isdigit() for char in value)
    return not prose and not _EXPRESSION.match(value)
