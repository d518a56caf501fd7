"""One request: who calls, in which space, with which groups of tools; a call of a tool, and its outcome."""

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from secrets import token_hex
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.identity.grants import Grant
from muisti.core.model.errors import InvalidInput
from muisti.core.model.spaces import DEFAULT
from muisti.core.model.tasks import Task
from muisti.core.model.values import Name, RequestKey
from muisti.core.views.memories import Memories
from muisti.service.auth.access import Access, Need, check, single_space
from muisti.service.observability.read_log import Operation, Reading
from muisti.service.runtime.admission import LANE, Lane
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from muisti.service.settings.tool_groups import USUAL, Group, groups_in
from muisti.service.tools.arguments import OneMemory

P = ParamSpec("P")
R = TypeVar("R")

PERSONAL = "personal"  # the space of what is said of the person, beside those of projects
CONSOLE = "/console/spaces/{space}/memories/{id}"  # the page of a memory
RESOURCE = "memory://{space}/{id}"
TASKS = "io.modelcontextprotocol/tasks"  # the extension of clients that take a task in place of a result


def citation_of(settings: Settings) -> str:
    """Return the form of a memory's URL, with {space} and {id}.

    It is that of the settings, else the page of the console behind the public URL, else the MCP resource.
    """
    if settings.mcp_citations is not None:
        return settings.mcp_citations
    if settings.public_url is not None and settings.console:
        return settings.public_url.rstrip("/") + CONSOLE
    return RESOURCE


def url_of(citation: str, space: str, memory_id: str) -> str:
    """Return the URL of a memory.

    >>> url_of("https://notes.example/{space}?at={id}", "a.b", "0190")
    'https://notes.example/a.b?at=0190'
    """
    return citation.replace("{space}", quote(space, safe="")).replace("{id}", quote(memory_id, safe=""))


def has_beside(grant: Grant, project: str) -> bool:
    """Tell whether a grant opens the personal space beside that of a project."""
    return project != PERSONAL and grant.reaches(PERSONAL)


class Confirmed(msgspec.Struct, frozen=True):
    """The answer of a person to the question of an earlier round: `about` is what it was about, None before any."""

    about: str | None = None
    accepted: bool = False


class Session(msgspec.Struct, frozen=True):
    """A caller, the engine, and the groups of tools that the caller is offered. `citation` is the form of URLs.

    `request_id` is recorded with each change, so that an undo takes back a whole call of a tool. It is that of the HTTP
    request. Stdio has none, so each call is `numbered`. `project` is the space that the connection names as its own.
    `personal` is the access to the personal space, where that is another one.

    `tasks` says that the client takes a task in place of the result of long work. `confirmed` has what a person has
    answered; None when the client cannot ask one.
    """

    backend: Backend
    access: Access
    groups: frozenset[Group] = groups_in(USUAL)
    request_id: str | None = None
    citation: str = RESOURCE
    project: str | None = None
    personal: Access | None = None
    tasks: bool = False
    confirmed: Confirmed | None = None

    def reading(self, operation: Operation) -> Reading:
        """Begin a read for the log."""
        return Reading(self.backend.reads, operation, self.access.actor, self.request_id)

    def numbered(self) -> "Session":
        """Return the session of one call of a tool: with an id of its own when the transport gave none."""
        return self if self.request_id is not None else replace(self, request_id=token_hex(8))

    def caller(self) -> Caller:
        """Return the caller for the core."""
        return self.access.caller(self.request_id)

    def memories(self, *, dry_run: bool = False) -> Memories:
        """Return the memories as the caller sees them. `dry_run`: writes are planned and nothing is stored."""
        return self.backend.engine.seen_by(self.caller(), dry_run=dry_run)

    def usual_space(self) -> str | None:
        """Return the space of a call that names none: the project's, the key's only one, the default; else None."""
        grant = self.access.grant
        if self.project is not None and grant.reaches(self.project):
            return self.project
        return single_space(grant) or (DEFAULT if grant.reaches(DEFAULT) else None)

    def beside(self, named: str | None) -> "Session | None":
        """Return the session in the personal space, beside that of a project.

        None when the call names a space, the connection names no project, or the key does not open that space.
        """
        if named is not None or self.project is None or self.usual_space() != self.project:
            return None
        access = self.personal or self.access
        return replace(self, access=access, project=PERSONAL) if has_beside(access.grant, self.project) else None

    def space(self, named: str | None, need: Need) -> str:
        """Return the space of a call.

        Raises:
            InvalidInput: none is named, and there is no usual one.
            NotFound, HttpError: the caller may not do this in that space.
        """
        space = named or self.usual_space()
        if space is None:
            names = "; list_spaces names them" if self.access.may("read") else ""
            raise InvalidInput.at("$.space", f"name a space: this key has several{names}")
        check(self.access, need, space)
        LANE.set(Lane(False, space, self.access.lane_key))
        return space

    async def spaces(self) -> dict[str, str | None]:
        """Map the names of the existing spaces that the caller may use to their descriptions."""
        found = await self.backend.store(self.backend.engines.spaces)
        return {space.name: space.settings.description for space, _ in found if self.access.grant.reaches(space.name)}


Json = dict[str, Any]
KEY_MAX = 255  # characters


class Call(msgspec.Struct, frozen=True):
    """A tool that is called: by whom, in which space, on which memories, with which arguments.

    `space` is empty for a tool that belongs to none.
    """

    session: Session
    space: str
    memories: Memories
    raw: bytes

    @property
    def backend(self) -> Backend:
        return self.session.backend

    @property
    def access(self) -> Access:
        return self.session.access

    def ask(self, view: Callable[Concatenate[str, P], R], *args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
        """Call a function of a view on the space of the call."""
        return self.backend.store(view, self.space, *args, **kwargs)

    def name(self, given: OneMemory) -> Name:
        """Return the name of the memory that is meant.

        Raises:
            InvalidInput: none is named.
        """
        return given.name(self.access.grant.category)

    async def refused(self, question: str, about: str | None = None) -> "Outcome | None":
        """Return None when a person has confirmed the question; else the question, or a refusal.

        The answer counts for what it is `about`: without a name the space, as it is now.
        """
        about = f"{self.space} {about or (await self.ask(self.backend.engine.spaces.get)).at}"
        asked = self.session.confirmed or Confirmed()
        if asked.about != about:  # not asked yet, or changed since
            return Outcome({}, question, question=Question(question, about))
        if asked.accepted:
            return None
        return Outcome({"code": "declined"}, "The person declined. Nothing was done.", is_error=True)

    def once(self, tool: str, key: str | None, part: int | None = None) -> RequestKey | None:
        """Return the key that makes a repeated call the same call: in MCP a retry has another id.

        `part` is the number of one of several writes of the call, from 0.
        """
        if key is None:
            return None
        if not 1 <= len(key) <= KEY_MAX or not key.isascii() or not key.isprintable():
            raise InvalidInput.at("$.idempotency_key", f"must have 1 to {KEY_MAX} visible ASCII characters")
        scope = f"mcp {self.space} {self.access.actor}" + (f" {part}" if part else "")
        return RequestKey(scope, key, blake2b(tool.encode() + b"\0" + self.raw, digest_size=32).digest())


class Question(msgspec.Struct, frozen=True):
    """Question that a person must confirm before a tool does its work. `about` changes with what would be done."""

    text: str
    about: str


class Outcome(msgspec.Struct, frozen=True):
    """The answer of a tool: for programs and for models. `task` is the one that goes on with the work.

    With a `question` nothing is done yet.
    """

    structured: Json
    text: str
    is_error: bool = False
    task: Task | None = None
    question: Question | None = None


def told_in(outcome: Outcome, space: str) -> Outcome:
    """Return an outcome that names its space, which the caller did not."""
    return replace(outcome, structured={**outcome.structured, "space": space}, text=f"{outcome.text} Space: {space}.")
