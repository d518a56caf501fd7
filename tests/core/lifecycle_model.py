"""A plain model of a space and the lifecycle of its memories in lists and dictionaries, to test the engine against."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from muisti.core.model.values import Memory

Fields = dict[str, Any]  # of a version of a memory, with its links
DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Version:
    """A version of a memory. `fields` is None for a tombstone; `at` is the seq of the change that made it."""

    at: int
    fields: Fields | None
    actor: str


class Model:
    """A space. Raises `KeyError` for a memory that is missing, and `ValueError` for a conflict."""

    def __init__(self) -> None:
        self.seq = 0
        self.now = 0
        self.histories: dict[str, list[Version]] = {}
        self.undone: set[int] = set()
        self.paired: dict[int, int] = {}
        self.times: dict[int, int] = {}

    def shown(self) -> dict[str, Fields]:
        """Return the fields of each memory that default reads show, by id."""
        return {id_: fields for id_ in self.histories if (fields := self._current(id_)) is not None}

    def shown_at(self, number: int) -> dict[str, Fields]:
        """Return the fields that default reads showed when a change was committed, by id."""
        then = {
            id_: [version.fields for version in history if version.at <= number]
            for id_, history in self.histories.items()
        }
        now = self.times.get(number, 0)
        last = {id_: fields[-1] for id_, fields in then.items() if fields}
        return {id_: fields for id_, fields in last.items() if fields is not None and not _is_gone(fields, now)}

    def versions(self, id_: str) -> list[Fields]:
        """Return the fields of each version of a memory, without tombstones."""
        return [version.fields for version in self.histories[id_] if version.fields is not None]

    def add(self, id_: str, fields: Fields, actor: str) -> None:
        self._free(fields)
        self._write(id_, fields, actor)

    def patch(self, id_: str, changes: Fields, actor: str) -> None:
        before = self.need(id_)
        after = {**before, **changes}
        self._free(after, id_)
        if after != before:
            self._write(id_, after, actor)

    def supersede(self, old: str, new: str, fields: Fields, actor: str) -> None:
        before = self.need(old)
        fields = fields if fields["category"] else {**fields, "category": before["category"], "key": before["key"]}
        self._free(fields, old)
        self._write(old, {**before, "superseded_by": new}, actor)
        self._write(new, {**fields, "supersedes": old}, actor)
        self.paired |= {self.seq: self.seq - 1, self.seq - 1: self.seq}

    def delete(self, id_: str, actor: str) -> None:
        self.need(id_)
        self._write(id_, None, actor)

    def restore(self, id_: str, version: int, actor: str) -> None:
        wanted, last = self.versions(id_)[version - 1], self.histories[id_][-1].fields
        if wanted["superseded_by"] is not None:
            raise ValueError
        expired = wanted["expires"] is not None and wanted["expires"] <= self.now
        after = {**wanted, "superseded_by": None} | ({"expires": None} if expired else {})
        if after != last:
            self._free(after, id_)
            self._write(id_, after, actor)

    def undo(self, last: int, actor: str) -> None:
        changes = {version.at: id_ for id_, history in self.histories.items() for version in history}
        of = {version.at: version.actor for history in self.histories.values() for version in history}
        mine = sorted((at for at in changes if of[at] == actor and at not in self.undone), reverse=True)[:last]
        chosen = {*mine} | {self.paired[at] for at in mine if at in self.paired and self.paired[at] not in self.undone}
        if not chosen:
            raise KeyError
        first = {changes[at]: at for at in sorted(chosen, reverse=True)}
        later = {at for at, id_ in changes.items() if id_ in first and at > first[id_]}
        if later - chosen - self.undone:
            raise ValueError
        todo = {id_: self._before(id_, at) for id_, at in sorted(first.items(), key=lambda item: item[1])}
        todo = {id_: fields for id_, fields in todo.items() if fields != self.histories[id_][-1].fields}
        if not todo:
            raise KeyError
        _check_apart(todo.values())
        before, undone = self.seq, set(self.undone)
        kept = {id_: list(history) for id_, history in self.histories.items()}
        for id_ in todo:
            self.histories[id_].append(Version(self.seq, None, actor))
        try:
            for id_, fields in todo.items():
                if fields is not None and fields["superseded_by"] is None:
                    self._free(fields, id_)
                self.histories[id_][-1] = replace(self.histories[id_][-1], fields=fields)
        except ValueError:
            self.histories, self.seq, self.undone = kept, before, undone
            raise
        for number, id_ in enumerate(todo, start=self.seq + 1):
            self.histories[id_][-1] = replace(self.histories[id_][-1], at=number)
            self.undone.add(number)
            self.times[number] = self.now
        self.seq += len(todo)
        self.undone |= chosen

    def roll_back(self, to: int, actor: str) -> None:
        if to > self.seq:
            raise LookupError
        then = {id_: self._before(id_, to + 1) for id_ in self.histories}
        _check_apart(then.values())  # within a rollback an address may move between memories
        self.apply({id_: fields for id_, fields in then.items() if fields != self.histories[id_][-1].fields}, actor)

    def apply(self, all_: Mapping[str, Fields | None], actor: str) -> None:
        """Change or delete many memories, in the order of their ids; None deletes."""
        for id_ in sorted(all_):
            self._write(id_, all_[id_], actor)

    def need(self, id_: str) -> Fields:
        fields = self._current(id_)
        if fields is None:
            raise KeyError(id_)
        return fields

    def _current(self, id_: str) -> Fields | None:
        fields = self.histories[id_][-1].fields if id_ in self.histories else None
        return None if _is_gone(fields, self.now) else fields

    def _before(self, id_: str, at: int) -> Fields | None:
        return next((version.fields for version in reversed(self.histories[id_]) if version.at < at), None)

    def _free(self, fields: Fields, but: str = "") -> None:
        """Raise `ValueError` when another memory has the address.

        An expired memory loses its address: it is deleted by a change that cannot be undone.
        """
        if fields["key"] is None:
            return
        others = {id_: history[-1].fields for id_, history in self.histories.items() if id_ != but}
        for id_, one in others.items():
            if one is None or one["superseded_by"]:
                continue
            if (one["category"], one["key"]) == (fields["category"], fields["key"]):
                if not _is_gone(one, self.now):
                    raise ValueError
                self._write(id_, None, "")
                self.undone.add(self.seq)

    def _write(self, id_: str, fields: Fields | None, actor: str) -> None:
        self.seq += 1
        self.times[self.seq] = self.now
        self.histories.setdefault(id_, []).append(Version(self.seq, fields, actor))


def _check_apart(all_: Iterable[Fields | None]) -> None:
    """Raise `ValueError` when two memories have one address, expired or not."""
    current = [fields for fields in all_ if fields is not None and not fields["superseded_by"] and fields["key"]]
    if len({(fields["category"], fields["key"]) for fields in current}) < len(current):
        raise ValueError


def _is_gone(fields: Fields | None, now: int) -> bool:
    return (
        fields is None or bool(fields["superseded_by"]) or (fields["expires"] is not None and fields["expires"] <= now)
    )


def fields_of(memory: Memory, us: Callable[[Any], int]) -> Fields:
    """Convert a memory of the engine to the model's fields; `us` converts times to microseconds."""
    names = ("content", "category", "key", "importance", "supersedes", "superseded_by")
    times = {"expires": memory.expires_at, "starts": memory.valid_from, "stops": memory.valid_to}
    return {name: getattr(memory, name) for name in names} | {
        name: None if at is None else us(at) for name, at in times.items()
    }


def draft_fields(fields: Mapping[str, Any], time: Callable[[int], Any]) -> Fields:
    """Convert the model's fields to those of a draft or a change; `time` converts from microseconds."""
    names = {name: name for name in ("content", "category", "key", "importance")}
    times = {"expires": "expires_at", "starts": "valid_from", "stops": "valid_to"}
    plain = {name: fields[name] for name in names if name in fields}
    return plain | {there: fields[here] and time(fields[here]) for here, there in times.items() if here in fields}


def holding(shown: Mapping[str, Fields], at: int) -> dict[str, Fields]:
    """Return the memories that are valid at a time, by id."""
    return {
        id_: fields
        for id_, fields in shown.items()
        if (fields["starts"] is None or fields["starts"] <= at) and (fields["stops"] is None or at < fields["stops"])
    }
