"""A plain model of the life of memories: what the engine must show, with lists and dictionaries and no cleverness."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from muisti.core.model.values import Memory

Fields = dict[str, Any]  # what was said of a memory, and what superseded it
DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Stood:
    """A version: what was said, None for a deletion. `at` is the number of the change that made it."""

    at: int
    said: Fields | None
    actor: str


class Model:
    """A space in memory. Refuses by `KeyError` what is not there and by `ValueError` what stands in the way."""

    def __init__(self) -> None:
        self.seq = 0
        self.now = 0
        self.lives: dict[str, list[Stood]] = {}
        self.undone: set[int] = set()
        self.twins: dict[int, int] = {}
        self.times: dict[int, int] = {}

    def shown(self) -> dict[str, Fields]:
        """What default reads show."""
        return {id_: said for id_ in self.lives if (said := self._current(id_)) is not None}

    def shown_at(self, number: int) -> dict[str, Fields]:
        """What they showed after a change, when that was committed."""
        then = {id_: [stood.said for stood in life if stood.at <= number] for id_, life in self.lives.items()}
        now = self.times.get(number, 0)
        last = {id_: said[-1] for id_, said in then.items() if said}
        return {id_: said for id_, said in last.items() if said is not None and not _is_gone(said, now)}

    def versions(self, id_: str) -> list[Fields]:
        """What was said in each version."""
        return [stood.said for stood in self.lives[id_] if stood.said is not None]

    def add(self, id_: str, said: Fields, actor: str) -> None:
        self._free(said)
        self._write(id_, said, actor)

    def patch(self, id_: str, changes: Fields, actor: str) -> None:
        before = self.need(id_)
        after = {**before, **changes}
        self._free(after, id_)
        if after != before:
            self._write(id_, after, actor)

    def supersede(self, old: str, new: str, said: Fields, actor: str) -> None:
        before = self.need(old)
        said = said if said["category"] else {**said, "category": before["category"], "key": before["key"]}
        self._free(said, old)
        self._write(old, {**before, "superseded_by": new}, actor)
        self._write(new, {**said, "supersedes": old}, actor)
        self.twins |= {self.seq: self.seq - 1, self.seq - 1: self.seq}

    def delete(self, id_: str, actor: str) -> None:
        self.need(id_)
        self._write(id_, None, actor)

    def restore(self, id_: str, version: int, actor: str) -> None:
        wanted, last = self.versions(id_)[version - 1], self.lives[id_][-1].said
        if wanted["superseded_by"] is not None:
            raise ValueError
        expired = wanted["expires"] is not None and wanted["expires"] <= self.now
        after = {**wanted, "superseded_by": None} | ({"expires": None} if expired else {})
        if after != last:
            self._free(after, id_)
            self._write(id_, after, actor)

    def undo(self, last: int, actor: str) -> None:
        changes = {stood.at: id_ for id_, life in self.lives.items() for stood in life}
        of = {stood.at: stood.actor for life in self.lives.values() for stood in life}
        mine = sorted((at for at in changes if of[at] == actor and at not in self.undone), reverse=True)[:last]
        chosen = {*mine} | {self.twins[at] for at in mine if at in self.twins and self.twins[at] not in self.undone}
        if not chosen:
            raise KeyError
        first = {changes[at]: at for at in sorted(chosen, reverse=True)}
        later = {at for at, id_ in changes.items() if id_ in first and at > first[id_]}
        if later - chosen - self.undone:
            raise ValueError
        todo = {id_: self._before(id_, at) for id_, at in sorted(first.items(), key=lambda item: item[1])}
        todo = {id_: said for id_, said in todo.items() if said != self.lives[id_][-1].said}
        if not todo:
            raise KeyError
        _check_apart(todo.values())
        before, undone = self.seq, set(self.undone)
        kept = {id_: list(life) for id_, life in self.lives.items()}
        for id_ in todo:
            self.lives[id_].append(Stood(self.seq, None, actor))
        try:
            for id_, said in todo.items():
                if said is not None and said["superseded_by"] is None:
                    self._free(said, id_)
                self.lives[id_][-1] = replace(self.lives[id_][-1], said=said)
        except ValueError:
            self.lives, self.seq, self.undone = kept, before, undone
            raise
        for number, id_ in enumerate(todo, start=self.seq + 1):
            self.lives[id_][-1] = replace(self.lives[id_][-1], at=number)
            self.undone.add(number)
            self.times[number] = self.now
        self.seq += len(todo)
        self.undone |= chosen

    def roll_back(self, to: int, actor: str) -> None:
        if to > self.seq:
            raise LookupError
        then = {id_: self._before(id_, to + 1) for id_ in self.lives}
        _check_apart(then.values())  # within a step an address may be on its way
        self.become({id_: said for id_, said in then.items() if said != self.lives[id_][-1].said}, actor)

    def become(self, all_: Mapping[str, Fields | None], actor: str) -> None:
        """Many memories say something else, or end, in the order of their ids."""
        for id_ in sorted(all_):
            self._write(id_, all_[id_], actor)

    def need(self, id_: str) -> Fields:
        said = self._current(id_)
        if said is None:
            raise KeyError(id_)
        return said

    def _current(self, id_: str) -> Fields | None:
        said = self.lives[id_][-1].said if id_ in self.lives else None
        return None if _is_gone(said, self.now) else said

    def _before(self, id_: str, at: int) -> Fields | None:
        return next((stood.said for stood in reversed(self.lives[id_]) if stood.at < at), None)

    def _free(self, said: Fields, but: str = "") -> None:
        """Raise unless nobody else has the address; who has expired gives it up, which nobody can undo."""
        if said["key"] is None:
            return
        others = {id_: life[-1].said for id_, life in self.lives.items() if id_ != but}
        for id_, one in others.items():
            if one is None or one["superseded_by"]:
                continue
            if (one["category"], one["key"]) == (said["category"], said["key"]):
                if not _is_gone(one, self.now):
                    raise ValueError
                self._write(id_, None, "")
                self.undone.add(self.seq)

    def _write(self, id_: str, said: Fields | None, actor: str) -> None:
        self.seq += 1
        self.times[self.seq] = self.now
        self.lives.setdefault(id_, []).append(Stood(self.seq, said, actor))


def _check_apart(all_: Iterable[Fields | None]) -> None:
    """No two may stand at one address, expired or not."""
    current = [said for said in all_ if said is not None and not said["superseded_by"] and said["key"]]
    if len({(said["category"], said["key"]) for said in current}) < len(current):
        raise ValueError


def _is_gone(said: Fields | None, now: int) -> bool:
    return said is None or bool(said["superseded_by"]) or (said["expires"] is not None and said["expires"] <= now)


def said_of(memory: Memory, us: Callable[[Any], int]) -> Fields:
    """What the model says of a memory."""
    names = ("content", "category", "key", "importance", "supersedes", "superseded_by")
    times = {"expires": memory.expires_at, "starts": memory.valid_from, "stops": memory.valid_to}
    return {name: getattr(memory, name) for name in names} | {
        name: None if at is None else us(at) for name, at in times.items()
    }


def draft_fields(said: Mapping[str, Any], time: Callable[[int], Any]) -> Fields:
    """The same for a draft, or for a change of the fields that are named."""
    names = {name: name for name in ("content", "category", "key", "importance")}
    times = {"expires": "expires_at", "starts": "valid_from", "stops": "valid_to"}
    plain = {name: said[name] for name in names if name in said}
    return plain | {there: said[here] and time(said[here]) for here, there in times.items() if here in said}


def holding(shown: Mapping[str, Fields], at: int) -> dict[str, Fields]:
    """Those of which is said that they hold at a time."""
    return {
        id_: said
        for id_, said in shown.items()
        if (said["starts"] is None or said["starts"] <= at) and (said["stops"] is None or at < said["stops"])
    }
