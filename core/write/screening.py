"""Apply the policy of a space to text before it is stored: refuse or redact secrets and personal data."""

from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import attrgetter
from types import MappingProxyType
from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model import fields
from muisti.core.model.choices import Screening
from muisti.core.model.errors import Problem, SensitiveContent
from muisti.core.model.messages import REPLY_GAP, reply_at
from muisti.core.model.outcomes import Flag
from muisti.core.model.spaces import Policy
from muisti.core.model.values import Draft, Json
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.recognise import Found, advice, personal_in
from muisti.core.text.secrets import secrets_in
from muisti.core.write.calls import Call
from muisti.core.write.validate import check_draft

# Refused and never changed, as two addresses could become one.
ADDRESS = ("category", "key", "session", "conversation", "topic", "document")
TEXTS = tuple(name for name in fields.TEXTS if name not in ADDRESS)
_SCREENED = (*TEXTS, *ADDRESS, "tags", "metadata", "structure", "anchors")
_VALUES = attrgetter(*_SCREENED)
POLICIES = 256  # of spaces, whose meaning is remembered
LONG = 10**11  # from here on a number in metadata may be that of a card

Find = Callable[[str], list[Found]]

# By kind of an object: the fields of the draft that have other names in the request.
_TITLED = {"content": "title", "structure": ""}
SENT: Mapping[str, Mapping[str, str]] = {
    "session": {**_TITLED, "session": "name"},
    "conversation": {**_TITLED, "conversation": "name"},
    "topic": {**_TITLED, "topic": "name"},
    "entity": {"content": "name", "structure": ""},
    "relation": {"structure": ""},
    "document": {"document": "path"},
    "chunk": {"document": "path"},
}


class Screener(msgspec.Struct, frozen=True):
    """Screen drafts before they are stored. `default` is the policy of spaces without their own."""

    default: Policy

    def screened(
        self, space: SpaceRow, draft: Draft, call: Call, path: str = "$", before: Draft | None = None
    ) -> tuple[Draft, tuple[Flag, ...]]:
        """Return the draft to store, and flags for redacted text. `path` locates the draft in the request.

        Text of `before`, the version before, is stored already and passes.

        Raises:
            InvalidInput: the draft is not valid.
            SensitiveContent: the policy refuses some of the text.
        """
        check_draft(draft, call.now, path)
        return self.cleaned(space, draft, call, path, before, sent=SENT.get(draft.kind, {}))

    def cleaned(
        self,
        space: SpaceRow,
        draft: Draft,
        call: Call,
        path: str,
        before: Draft | None,
        *,
        sent: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[Draft, tuple[Flag, ...]]:
        """Return a valid draft as the policy accepts it, and flags for redacted text.

        `sent` has the fields that have other names in the request.

        Raises:
            InvalidInput: the words in place of a secret are too long for its field.
            SensitiveContent: the policy refuses some of the text.
        """
        looking = _chosen(space.space.policy, self.default, call.caller.allows)
        if not looking:
            return draft, ()
        work = _Screening(looking, path, sent=sent)
        changes = work.changes(draft, before)
        if work.problems:
            raise SensitiveContent(work.problems)
        if not changes:
            return draft, tuple(dict.fromkeys(work.flags))
        clean = replace(draft, **changes)
        check_draft(replace(clean, expires_at=None, status="active"), call.now, path)  # the text may be longer now
        return clean, tuple(dict.fromkeys(work.flags))

    def text(self, space: SpaceRow, text: str, call: Call, path: str) -> str:
        """Return a text that is no part of a memory, as the policy accepts it. `path` locates it in the request.

        Raises:
            SensitiveContent: the policy refuses some of it.
        """
        return _text(self._looking(space, call), text, path)

    def name(self, space: SpaceRow, name: str, call: Call, path: str) -> None:
        """Check a name that is no part of a memory: it can be refused but not redacted.

        Raises:
            SensitiveContent: the policy allows some of it in no text, or only redacted.
        """
        _check_name(self._looking(space, call), name, path)

    def described(self, text: str, caller: Caller, path: str) -> str:
        """Return a text about no space yet, as the server's own policy accepts it.

        Raises:
            SensitiveContent: the policy refuses some of it.
        """
        return _text(_chosen(self.default, self.default, caller.allows), text, path)

    def labelled(self, name: str, caller: Caller, path: str) -> None:
        """Check a name that belongs to no space by the server's own policy.

        Raises:
            SensitiveContent: the policy allows some of it in no text, or only redacted.
        """
        _check_name(_chosen(self.default, self.default, caller.allows), name, path)

    def asks_nothing(self, space: SpaceRow, call: Call) -> bool:
        """Return whether the policy allows all secrets and personal data."""
        return not self._looking(space, call)

    def _looking(self, space: SpaceRow, call: Call) -> tuple[tuple[Find, Screening], ...]:
        return _chosen(space.space.policy, self.default, call.caller.allows)


@lru_cache(POLICIES)
def _chosen(own: Policy, default: Policy, allows: frozenset[str]) -> tuple[tuple[Find, Screening], ...]:
    """Return what is sought in texts, and what happens to it, for callers whom some of the policy does not bind."""
    policy = own.over(default)
    chosen: Sequence[tuple[str, Find, Screening | None]] = (
        ("secrets", secrets_in, policy.secrets),
        ("personal_data", personal_in, policy.personal_data),
    )
    return tuple(
        (find, what) for name, find, what in chosen if what is not None and what != "allow" and name not in allows
    )


def _text(looking: Sequence[tuple[Find, Screening]], text: str, path: str) -> str:
    place, _, name = path.rpartition(".")
    work = _Screening(looking, place)
    clean = work.text(text, name)
    if work.problems:
        raise SensitiveContent(work.problems)
    return clean


def _check_name(looking: Sequence[tuple[Find, Screening]], name: str, path: str) -> None:
    work = _Screening(looking, path)
    work.name(name, path)
    if work.problems:
        raise SensitiveContent(work.problems)


class _Screening:
    """Screening of one draft. Collects problems and flags."""

    def __init__(
        self,
        looking: Sequence[tuple[Find, Screening]],
        path: str,
        *,
        sparing: bool = True,
        sent: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """With `sparing`, uncertain finds are only flagged. `sent` has the fields of other names in the request."""
        self._sent = sent
        self._looking = looking
        self._sparing = sparing
        self._path = path
        self.problems: list[Problem] = []
        self.flags: list[Flag] = []
        self.named: list[str] = []

    def changes(self, draft: Draft, before: Draft | None) -> dict[str, object]:
        """Return the fields that must be stored with other values than those sent."""
        clean: dict[str, object] = {}
        new = set(compress(_SCREENED, _VALUES(draft)))
        if before is not None:
            new = {name for name in new if getattr(draft, name) != getattr(before, name)}
        at = reply_at(draft.kind, draft.content, draft.structure)
        for name in TEXTS:
            if name == "content" and at is not None and name in new:
                clean[name], at = self._both(draft.content, at)
            elif name in new:
                clean[name] = self.text(getattr(draft, name), name)
        self._names(draft, new)
        if "tags" in new:
            clean["tags"] = tuple(self.text(tag, f"tags[{place}]") for place, tag in enumerate(draft.tags))
        for name in sorted(new & {"metadata", "structure"}):
            clean[name] = self._metadata(getattr(draft, name), name)
        if at is not None and at != draft.structure["reply_at"]:
            clean["structure"] = {**cast(Mapping[str, Json], clean.get("structure", draft.structure)), "reply_at": at}
        return {name: value for name, value in clean.items() if value != getattr(draft, name)}

    def _names(self, draft: Draft, new: Container[str]) -> None:
        """Screen the address, and what anchors name; the hashes of these look like secrets, and are none."""
        for name in ADDRESS:
            if name in new:
                self.name(getattr(draft, name), f"{self._path}.{self._sent.get(name, name)}")
        for place, anchor in enumerate(draft.anchors if "anchors" in new else ()):
            for name in sorted(anchor.keys() & {"path", "symbol"}):
                self.name(anchor[name], f"{self._path}.anchors[{place}].{name}")

    def text(self, text: str, where: str, name: str = "") -> str:
        """Return the text with finds redacted. `name` is the key of this value, which may reveal a secret."""
        for find, chosen in self._looking:
            found = find(text) or (_behind(find, name, text) if name else [])
            if found and (redacted := self._judged(found, chosen, where)):
                text = without(text, redacted)
        return text

    def _both(self, text: str, at: int) -> tuple[str, int]:
        """Return the two messages of a turn with finds redacted, also those across both, and where the reply begins."""
        for find, chosen in self._looking:
            if found := self._judged(find(text), chosen, "content"):
                gap = at - len(REPLY_GAP)
                first = without(text[:gap], [one._replace(stop=min(one.stop, gap)) for one in found if one.start < gap])
                reply = [Found(one.kind, max(one.start, at) - at, one.stop - at) for one in found if one.stop > at]
                text, at = f"{first}{REPLY_GAP}{without(text[at:], reply)}", len(first) + len(REPLY_GAP)
        return text, at

    def _judged(self, found: Sequence[Found], chosen: Screening, where: str) -> Sequence[Found]:
        """Note finds as flags or problems, and return those to redact."""
        path = self._at(where)
        if self._sparing:
            self.flags += [Flag(code="suspected", path=path, kind=one.kind) for one in found if not one.sure]
            found = [one for one in found if one.sure]
        if chosen == "refuse":
            self._refuse(found, path)
            return ()
        self.flags += [Flag(code="redacted", path=path, kind=one.kind) for one in found]
        return found

    def name(self, text: str, path: str) -> None:
        """Screen a name, which can be refused but not redacted, because two names could become equal."""
        for find, _ in self._looking:
            found = [one for one in find(text) if one.sure]
            self.named += [one.kind for one in found]
            self._refuse(found, path)

    def _metadata(self, value: Json | Mapping[str, Json], where: str, name: str = "") -> Json:
        if isinstance(value, Mapping):
            for inner in value:
                self.name(inner, self._at(where))
            return {inner: self._metadata(part, f"{where}.{inner}", inner) for inner, part in value.items()}
        if isinstance(value, list):
            return [self._metadata(part, f"{where}[{place}]", name) for place, part in enumerate(value)]
        if isinstance(value, str):
            return self.text(value, where, name)
        if isinstance(value, int) and value >= LONG:
            clean = self.text(str(value), where, name)
            return value if clean == str(value) else clean
        return value

    def _at(self, where: str) -> str:
        """Return the path of a value in the request."""
        for field, sent in self._sent.items():
            if where == field or where.startswith(f"{field}."):
                return f"{self._path}.{f'{sent}{where.removeprefix(field)}'.removeprefix('.')}"
        return f"{self._path}.{where}"

    def _refuse(self, found: Sequence[Found], path: str) -> None:
        self.problems += [Problem(path, advice(one.kind)) for one in found[:1]]


def redacted(draft: Draft, finds: Sequence[Find]) -> tuple[dict[str, object], list[str], list[str]]:
    """Return the redacted fields of a draft, the kinds of its finds, and the kinds found in names."""
    work = _Screening([(find, "redact") for find in finds], "$", sparing=False)
    changes = work.changes(draft, None)
    return changes, [str(flag.kind) for flag in work.flags], work.named


def without(text: str, found: Sequence[Found]) -> str:
    """Return the text with a placeholder for each find.

    >>> without("write to ann@firma.fi!", [Found("email", 9, 21)])
    'write to [redacted: email]!'
    """
    pieces, at = list[str](), 0
    for one in found:
        pieces += (text[at : one.start], f"[redacted: {one.kind}]")
        at = one.stop
    return "".join([*pieces, text[at:]])


def _behind(find: Find, name: str, text: str) -> list[Found]:
    """Return finds in a value that its key reveals: `{"password": ...}`."""
    gap = len(name) + 1
    return [Found(one.kind, one.start - gap, one.stop - gap) for one in find(f"{name}={text}") if one.start >= gap]
