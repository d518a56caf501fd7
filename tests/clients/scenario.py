"""Scenarios that hold for every client: their steps and what these expect, as README.md beside them describes."""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Scenario:
    """A name, and the steps of one scenario."""

    name: str
    steps: list[Mapping[str, Any]]


@dataclass
class Course:
    """The course of one scenario: the results that later steps name."""

    results: dict[str, Any] = field(default_factory=dict[str, Any])

    def filled(self, value: Any) -> Any:
        """Return a value of a step with the results, times and long texts in their places."""
        match value:
            case str() if re.fullmatch(r"\$[\w.]+", value):
                return self._named(value[1:])
            case str():
                return re.sub(r"\{\$([\w.]+)\}", lambda found: str(self._named(found[1])), value)
            case {"now": seconds}:
                return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
            case {"repeat": text, "times": times}:
                return text * times
            case Mapping():
                return {name: self.filled(one) for name, one in value.items()}
            case list():
                return [self.filled(one) for one in value]
            case _:
                return value

    def _named(self, path: str) -> Any:
        name, _, rest = path.partition(".")
        return at(self.results[name], rest)

    def took(self, step: Mapping[str, Any], result: Any) -> None:
        """Keep the result of a step, and compare it with what the step expects."""
        found = msgspec.to_builtins(result)
        if "as" in step:
            self.results[step["as"]] = found
        for path, expected in step.get("expect", {}).items():
            self._compare(path, at(found, path), expected)

    def _compare(self, path: str, value: Any, expected: Any) -> None:
        match expected:
            case {"length": n}:
                assert len(value) == n, (path, value)
            case {"one_of": choices}:
                assert value in self.filled(choices), (path, value)
            case {"not": other}:
                assert value != self.filled(other), (path, value)
            case {"contains": part}:
                assert self.filled(part) in value, (path, value)
            case {"least": bound}:
                assert value >= bound, (path, value)
            case {"most": bound}:
                assert value <= bound, (path, value)
            case _:
                assert value == self.filled(expected), (path, value)


def at(value: Any, path: str) -> Any:
    """Return what is at a path; None where there is nothing.

    >>> at({"hits": [{"score": 1}]}, "hits.0.score"), at([], "0"), at([1], "")
    (1, None, [1])
    """
    for part in filter(None, path.split(".")):
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        elif value is not None:
            value = value.get(part)
    return value


def scenarios() -> Iterator[Scenario]:
    """Yield the scenarios of all files."""
    for path in sorted(FOLDER.glob("*.json")):
        for one in json.loads(path.read_text("utf-8")):
            yield Scenario(f"{path.stem}: {one['name']}", one["steps"])


def main() -> None:
    """Print how many scenarios and calls each file has."""
    found = [*scenarios()]
    files = Counter(one.name.partition(":")[0] for one in found)
    calls = Counter(one.name.partition(":")[0] for one in found for step in one.steps if "call" in step)
    lines = [f"{name:<12}{files[name]:>4} scenarios{calls[name]:>5} calls" for name in files]
    sys.stdout.write("\n".join([*lines, f"{'all':<12}{files.total():>4} scenarios{calls.total():>5} calls", ""]))


if __name__ == "__main__":
    main()
