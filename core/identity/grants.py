"""Grants: scopes, the spaces in which they apply, and an optional category."""

from collections.abc import Iterator
from datetime import datetime
from typing import get_args

import msgspec
from msgspec.structs import force_setattr

from muisti.core.model.choices import Scope, SourceClass
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.spaces import SPACE_NAME
from muisti.core.model.values import NAME_MAX
from muisti.core.text.terms import fold

SCOPES: tuple[Scope, ...] = get_args(Scope)
ANY = "*"  # at the end of a name: every space whose name begins so
SPACES_MAX = 100
NAMED_MAX = 100  # characters of the name of a key
NEEDS_READ = frozenset[Scope](("write", "delete"))


class Grant(msgspec.Struct, frozen=True):
    """Scopes in some spaces. `spaces` are names, or prefixes of names that end with `*`.

    With `category`, only memories of that category can be seen and written. `source_class` is the highest trust that
    texts written with the grant can have.

    >>> acme = Grant(frozenset(("read",)), ("acme.*", "shared"))
    >>> [acme.reaches(name) for name in ("acme.web", "shared", "acme", "shared.x")]
    [True, True, False, False]
    """

    scopes: frozenset[Scope]
    spaces: tuple[str, ...]
    category: str | None = None
    source_class: SourceClass | None = None
    _names: frozenset[str] = frozenset()
    _beginnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "_names", frozenset(self.spaces))
        force_setattr(self, "_beginnings", tuple(name[:-1] for name in self.spaces if name.endswith(ANY)))

    def reaches(self, space: str) -> bool:
        """Return whether the grant applies to a space of this name, which need not exist."""
        return space in self._names or space.startswith(self._beginnings)

    def covers(self, other: "Grant") -> bool:
        """Return whether this grant allows everything that the other one allows.

        >>> Grant(frozenset(("read",)), ("a*",)).covers(Grant(frozenset(("read",)), ("ab*", "ac")))
        True
        """
        same = self.category is None or (other.category is not None and fold(other.category) == fold(self.category))
        same = same and (self.source_class is None or self.source_class == other.source_class)
        return same and other.scopes <= self.scopes and all(self._reaches_all(name) for name in other.spaces)

    def _reaches_all(self, pattern: str) -> bool:
        return pattern in self._names or pattern.removesuffix(ANY).startswith(self._beginnings)


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key as it is stored: all but its secret. `parent_id` is the key that created this one."""

    id: str
    name: str
    grant: Grant
    parent_id: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    def alive(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


EVERYTHING = Grant(frozenset(SCOPES), (ANY,))
NOTHING = Grant(frozenset(), ())


def names_spaces(name: str) -> bool:
    """Return whether this is the name of a space, or a prefix of names that ends with `*`.

    >>> [names_spaces(name) for name in ("acme", "acme.*", "*", "a*b", "")]
    [True, True, True, False, False]
    """
    return name == ANY or SPACE_NAME.fullmatch(name.removesuffix(ANY)) is not None


def check_grant(grant: Grant) -> None:
    """Raise `InvalidInput` with every problem of a requested grant."""
    problems = list(_problems(grant))
    if problems:
        raise InvalidInput(problems)


def _problems(grant: Grant) -> Iterator[Problem]:
    if not grant.scopes:
        yield Problem("$.scopes", f"name at least one of {', '.join(SCOPES)}")
    for scope in sorted(grant.scopes - set(SCOPES)):
        yield Problem("$.scopes", f"{scope[:40]!r} is none of {', '.join(SCOPES)}")
    if grant.scopes & NEEDS_READ and "read" not in grant.scopes:
        yield Problem("$.scopes", "write and delete need read too, because the reply to a change contains the memory")
    if not 1 <= len(grant.spaces) <= SPACES_MAX:
        yield Problem("$.spaces", f"has {len(grant.spaces)} names; 1 to {SPACES_MAX} are allowed")
    for position, name in enumerate(grant.spaces):
        if not names_spaces(name):
            yield Problem(
                f"$.spaces[{position}]", f"{name[:80]!r} is no name of a space, nor a beginning of one with *"
            )
    if grant.source_class not in (None, *get_args(SourceClass)):
        yield Problem(
            "$.source_class", f"{str(grant.source_class)[:40]!r} is none of {', '.join(get_args(SourceClass))}"
        )
    yield from _category_problems(grant)


def _category_problems(grant: Grant) -> Iterator[Problem]:
    if grant.category is not None:
        if not grant.category.strip() or len(grant.category) > NAME_MAX or "\0" in grant.category:
            yield Problem("$.category", f"must have 1 to {NAME_MAX} characters")
        if "admin" in grant.scopes:
            yield Problem("$.category", "cannot be combined with admin, which acts on whole spaces")
