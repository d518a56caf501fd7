"""Answers the events of agent clients: recalls what applies, and keeps what a session says as candidates.

An event that cannot be read, a space that the key does not open, and a full space all get the same answer: nothing.
An agent never waits for a memory that is not there, and never fails by one.
"""

import logging
import re
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Any

import msgspec

from muisti.core.model.anchors import path_of, problems_of
from muisti.core.model.choices import Outcome
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import MuistiError
from muisti.core.model.spaces import DEFAULT
from muisti.core.model.values import Draft
from muisti.service.agents.formats import FOLDERS, FORMATS, NAMES, SESSIONS, Event, filled, first
from muisti.service.agents.outcomes import is_of_a_person, may_be_secret, outcomes, transcript
from muisti.service.agents.recalling import Session, at_file, at_prompt, at_start, places
from muisti.service.agents.sessions import Sessions
from muisti.service.auth.access import OWNER, Access, single_space
from muisti.service.runtime.admission import LANE
from muisti.service.runtime.workers import Backend
from muisti.service.terminal.project import choose
from muisti.service.tools.session import PERSONAL, has_beside

CATEGORY, TRANSCRIPT = "captured", "transcript_path"
CITED = 3  # files that one outcome cites
TEXT_MAX = 8_000  # characters of one text that is kept
DIGEST_BYTES = 16
# Gemini CLI puts what hooks show before the prompt, and sends both to the next hook.
_SHOWN = re.compile(  # up to the next beginning: the time is linear in the text
    r"<hook_context>(?:(?!<hook_context>).)*?</hook_context>"
    r"|<memory>\nRetrieved from memory\.(?:(?!<memory>).)*?</memory>",
    re.DOTALL,
)
_LOG = logging.getLogger("muisti.hooks")
Json = dict[str, Any]


class Hooked(msgspec.Struct, frozen=True):
    """An event as a client sent it. `project` and `folder` are what the command around it knows of the project."""

    client: str
    payload: Json
    event: str = ""
    project: str | None = None
    folder: str | None = None

    @classmethod
    def read(cls, client: str, body: bytes, **known: Any) -> "Hooked | None":
        """Return the event of a body; None when it cannot be read."""
        try:
            payload = decoder(Json).decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return cls(client, payload, **known)

    @property
    def name(self) -> str:
        return self.event or first(self.payload, NAMES)

    def meaning(self) -> Event | None:
        """Return what the event means; None for one that is not known."""
        format = FORMATS.get(self.client)
        return None if format is None else format.events.get(self.name)


class Agents:
    """The hooks of all agents of a process, and the sessions that they belong to."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._sessions = backend, Sessions()

    def turn(self, hooked: Hooked | None, access: Access, request: str | None) -> "Turn | None":
        """Return the work that an event asks for; None for one that means nothing, or a space that is not open."""
        event = None if hooked is None else hooked.meaning()
        spaces = [] if hooked is None else _spaces(hooked, access)
        if hooked is None or event is None or not spaces:
            return None
        key = (access.actor, hooked.client, first(hooked.payload, SESSIONS), spaces[0])
        LANE.set(LANE.get()._replace(space=spaces[0]))
        memories = self._backend.engine.seen_by(access.caller(request))
        return Turn(Session(self._backend, memories, self._sessions, key, spaces), access, event, hooked)


class Turn(msgspec.Struct, frozen=True):
    """An event of a session, and who may do what about it."""

    session: Session
    access: Access
    event: Event
    hooked: Hooked

    @property
    def said(self) -> str:
        """The text of the event, without what a hook put into it before."""
        return _SHOWN.sub("", first(self.hooked.payload, self.event.fields)).strip()

    @property
    def folder(self) -> str:
        """The folder in which the client works, as far as it is known."""
        return first(self.hooked.payload, FOLDERS) or self.hooked.folder or ""

    async def answer(self) -> bytes:
        """Return what the client reads, empty when there is nothing to say."""
        if self.event.forgets:
            self.session.sessions.forget(self.session.key)
        if self.event.shown is None or not self.access.may("read"):
            return b""
        try:
            text = await self._shown()
        except MuistiError as error:
            _LOG.info("hook", extra={"hook": self.hooked.name, "code": type(error).__name__})
            return b""
        answer = filled(self.event.shown, text, self.hooked.name) if text else ""
        return answer.encode() if isinstance(answer, str) else msgspec.json.encode(answer)

    async def _shown(self) -> str:
        match self.event.kind:
            case "start":
                return await at_start(self.session, self.session.backend.engine.now())
            case "prompt":
                return await at_prompt(self.session, self.said)
            case "file":
                self.session.sessions.open(self.session.key, self.said)
                return await at_file(self.session, self.said, self.folder)
            case "end":
                return ""

    async def keep(self) -> None:
        """Keep a prompt, or the outcomes of a turn, as candidates. What may be a secret is dropped."""
        if not self.access.may("append"):
            return
        project, *others = self.session.spaces
        if self.event.kind == "prompt":
            if self.said and not may_be_secret(self.said):
                space = others[-1] if others and is_of_a_person(self.said) else project
                await self._add(space, _draft(self.said[:TEXT_MAX].rstrip(), self.hooked))
        elif self.event.kind == "end":
            for kind, sentence in outcomes(await self._last_words()):
                await self._add(project, self._citing(_draft(sentence, self.hooked, kind)))

    def _citing(self, draft: Draft) -> Draft:
        """Return a draft that cites the files of its session that it names."""
        opened = self.session.sessions.opened(self.session.key)
        said = draft.content.casefold()
        named = [path for path in opened if (name := PurePath(path_of(path)).name) and name.casefold() in said]
        anchors = [{"path": place} for path in named[:CITED] for place in places(path, self.folder)[:1]]
        return draft if any(problems_of(anchors)) else msgspec.structs.replace(draft, anchors=tuple(anchors))

    async def _last_words(self) -> str:
        """Return what was said last. Only who may open the database may have a transcript read."""
        if TRANSCRIPT not in self.event.fields:
            return self.said
        path = Path(self.said)
        if self.access is not OWNER or path.suffix not in (".json", ".jsonl"):
            return ""
        return await self.session.backend.store(transcript, path)

    async def _add(self, space: str, draft: Draft) -> None:
        """Add a candidate, unless the same text was kept before or the space refuses it."""
        if not self.access.may("read"):  # such a key may not name what could be there already
            draft = msgspec.structs.replace(draft, key=None)
        try:
            await self.session.backend.add(self.session.memories, space, draft, "keep", None)
        except MuistiError as refusal:
            _LOG.debug("hook", extra={"kept": False, "code": type(refusal).__name__})


def _draft(text: str, hooked: Hooked, outcome: Outcome | None = None) -> Draft:
    """Return an unconfirmed observation or outcome. Its key is a digest, so that the space refuses a repeat."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return Draft(
        content=text,
        category=CATEGORY,
        key=digest,
        type=outcome or "observation",
        status="candidate",
        source=f"hook:{hooked.name}",
        metadata={"hook_event": hooked.name, "client": hooked.client},
    )


def _spaces(hooked: Hooked, access: Access) -> list[str]:
    """Return the project's space and the personal one, as far as the key opens them; none without the project's."""
    project = hooked.project or _of_folder(hooked, access) or single_space(access.grant) or DEFAULT
    if not access.grant.reaches(project):
        return []
    return [project, PERSONAL] if has_beside(access.grant, project) else [project]


def _of_folder(hooked: Hooked, access: Access) -> str | None:
    """Return the space of the folder that a client names. Only who may open the database may have folders read."""
    folder = first(hooked.payload, FOLDERS) or hooked.folder
    if access is not OWNER or not folder:
        return None
    try:
        return choose(None, {}, Path(folder)).space
    except (MuistiError, OSError, ValueError):
        return None
