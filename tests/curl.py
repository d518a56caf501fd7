"""Reads curl command lines of documents, and sends their requests with httpx, on machines with and without curl."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

FLAGS = {"-s", "-sS", "-N", "-o", "-G"}  # do not change what is sent, but for -G


@dataclass
class Request:
    """A request as curl would send it. `path` has the query; `output` is the file that takes the answer."""

    method: str = "GET"
    path: str = ""
    content: str | bytes | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    output: str | None = None

    def send(self, client: httpx.Client) -> httpx.Response:
        return client.request(self.method, self.path, content=self.content, headers=self.headers)


def lines(block: str) -> list[str]:
    """Return the commands of a block, of which some take several lines."""
    return [one.strip() for one in re.split(r"^(?=\S)(?![\])}])", block, flags=re.MULTILINE) if one.strip()]


def read(line: str, folder: Path, variables: Mapping[str, str] = {}) -> Request:
    """Return the request of a command line. Files are those of `folder`, `$NAME` is replaced from `variables`."""
    for name, value in variables.items():
        line = line.replace(f"${name}", value)
    words = shlex.split(line.replace("\\\n", " "))
    assert words[0] == "curl", line
    request = Request()
    if ">" in words:
        request.output = words[words.index(">") + 1]
        words = words[: words.index(">")]
    _options(iter(words[1:]), request, folder, get="-G" in words)
    return request


def _options(words: Iterator[str], request: Request, folder: Path, *, get: bool) -> None:
    given = ""
    for word in words:
        match word:
            case "-X":
                given = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                request.headers[name.title()] = value
            case "--json" | "-d" | "--data-binary":
                body = next(words)
                request.content = (folder / body[1:]).read_bytes() if body.startswith("@") else body
                default = "application/json" if word == "--json" else "application/x-www-form-urlencoded"
                request.headers.setdefault("Content-Type", default)
                request.method = "POST"
            case "--data-urlencode" if get:
                name, _, value = next(words).partition("=")
                request.path += f"{'&' if '?' in request.path else '?'}{name}={quote(value)}"
            case _ if word in FLAGS:
                pass
            case _:
                assert not word.startswith("-"), f"the tests know no option {word} of curl"
                parts = urlsplit(word if "://" in word else f"http://{word}")
                request.path = parts.path + (f"?{parts.query}" if parts.query else "")
    request.method = given or request.method


def check(shown: Any, found: Any) -> None:
    """Compare a printed answer with a real one: it may leave fields out, … is anything, scores have three places."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            check(value, found[name])
    elif isinstance(shown, list):
        assert len(shown) == len(found), json.dumps(found)
        for one, other in zip(shown, found, strict=True):
            check(one, other)
    elif isinstance(shown, float):
        assert round(found, 3) == round(shown, 3)
    elif shown != "…":
        assert shown == found
