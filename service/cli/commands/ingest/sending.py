"""Send files to the service: one small file in a request of its own, many in groups that become tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from muisti.client import Call, calls
from muisti.core.parsing.detect import HEAD, Format, detect
from muisti.service.app.client import ApiError
from muisti.service.cli.following import ended, failed_items
from muisti.service.folders.files import Found

if TYPE_CHECKING:
    from muisti.service.cli.commands.ingest.shape import How
    from muisti.service.cli.opening import Session

GROUP_FILES, GROUP_BYTES = 200, 16_000_000  # of a task
AHEAD = 2  # tasks whose files are sent before the first of them has ended
BLOCK = 1 << 20
BINARY = "application/octet-stream"
OF_THE_FILE = frozenset({413, 415, 422})  # statuses of refusals that are about one file

OnProgress = Callable[[int], None]


class Failed(Struct, frozen=True):
    """A file that could not be stored."""

    path: str
    code: str
    detail: str


class Sent(Struct):
    """Outcome of sending files. `outcomes` counts documents by what became of them; `notes` say what was left out."""

    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    failed: list[Failed] = field(default_factory=list[Failed])
    notes: list[str] = field(default_factory=list[str])

    def count(self, outcome: str, more: int = 1) -> None:
        if more:
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + more


def unreadable(place: Path) -> str | None:
    """Return why a file of a folder is left out: it is empty, or of no format that can be read."""
    try:
        with place.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not head:
        return "is empty"
    return "is binary" if detect(head, place.name) is Format.UNKNOWN else None


def send(opened: Session, files: Sequence[tuple[str, Found]], how: How, progress: OnProgress) -> Sent:
    """Store files at their paths, and return what became of them. A file that fails keeps no other from being stored.

    Raises:
        ApiError: the service refuses all files, such as for want of a scope.
        Unreachable: the service does not answer.
    """
    sent = Sent()
    if len(files) <= AHEAD:
        for number, (path, file) in enumerate(files):
            send_one(opened, path, file.place, how, sent, file.mtime)
            progress(number + 1)
        return sent
    finished = 0
    running: deque[tuple[dict[str, Any], int]] = deque()
    groups = iter(_groups(files))
    while True:
        while len(running) < AHEAD and (group := next(groups, None)) is not None:
            request = _form(opened.space, group, how)
            running.append((opened.write(lambda request=request: opened.client.send(request())).data, len(group)))
        if not running:
            return sent
        task, count = running.popleft()
        before = finished
        task = ended(opened.client, opened.space, task, lambda done, _, before=before: progress(before + done))
        finished += count
        progress(finished)
        _count(sent, opened, task)


def send_one(opened: Session, path: str, source: Path | bytes, how: How, sent: Sent, mtime: int | None = None) -> None:
    """Store one file, or its bytes, at a path. A large file or an archive becomes a task, which is waited for."""
    request = calls.add_documents(opened.space, {}, path=path, mtime=time_of(mtime), **how.parameters())
    content = (lambda: source) if isinstance(source, bytes) else (lambda: _blocks(source))
    try:
        reply = opened.write(lambda: opened.client.send(_with_content(request, content(), BINARY)))
    except ApiError as error:
        if error.status not in OF_THE_FILE:
            raise
        sent.failed.append(Failed(path, error.code, str(error)))
        return
    if "outcome" in reply.data:
        sent.count(reply.data["outcome"])
        sent.notes += [f"{path}: {note}" for note in reply.data["notes"]]
        return
    task = ended(opened.client, opened.space, reply.data, lambda done, total: None)
    _count(sent, opened, task)


def _count(sent: Sent, opened: Session, task: dict[str, Any]) -> None:
    """Add the items of a task that has ended."""
    sent.count("stored", task["done"])
    sent.count("unchanged", task["skipped"])
    sent.failed += [_failed(one) for one in failed_items(opened, task)]
    if task["state"] == "failed" and "error" in task:
        sent.failed.append(Failed(task["id"], task["error"]["code"], task["error"]["detail"]))


def _with_content(request: Call, content: Any, media_type: str) -> Call:
    return replace(
        request, body=None, content=content, headers={**request.headers, "Content-Type": media_type}, long=True
    )


def _groups(files: Iterable[tuple[str, Found]]) -> Iterator[list[tuple[str, Found]]]:
    """Yield files in groups of bounded size."""
    group: list[tuple[str, Found]] = []
    size = 0
    for path, file in files:
        if group and (len(group) >= GROUP_FILES or size + file.size > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append((path, file))
        size += file.size
    if group:
        yield group


def _form(space: str, group: Sequence[tuple[str, Found]], how: How) -> Callable[[], Call]:
    """Return a function that makes a request with the files of a group; each of its requests reads them again."""
    boundary = token_hex(16)
    request = calls.add_documents(space, {}, wait=False, **how.parameters())
    return lambda: _with_content(request, _parts(group, boundary), f"multipart/form-data; boundary={boundary}")


def _parts(group: Sequence[tuple[str, Found]], boundary: str) -> Iterator[bytes]:
    for path, file in group:
        name = path.replace("\\", "\\\\").replace('"', '\\"')
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            f"Content-Type: {BINARY}\r\nMuisti-Modified: {time_of(file.mtime)}\r\n\r\n"
        )
        yield head.encode()
        yield from _blocks(file.place)
        yield b"\r\n"
    yield f"--{boundary}--\r\n".encode()


def _blocks(place: Path) -> Iterator[bytes]:
    """Yield the bytes of a file; none when it has just been deleted, which then is the failure of an empty file."""
    try:
        with place.open("rb") as file:
            yield from iter(lambda: file.read(BLOCK), b"")
    except OSError:
        return


def time_of(mtime: int | None) -> str | None:
    """Return a time in microseconds as the API writes it."""
    return (
        None
        if mtime is None
        else datetime.fromtimestamp(mtime // 1_000_000, UTC).isoformat()[:19] + (f".{mtime % 1_000_000:06d}Z")
    )


def _failed(item: dict[str, Any]) -> Failed:
    return Failed(item["name"], item["error"]["code"], item["error"]["detail"])
