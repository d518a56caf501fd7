"""State that the parts of an application share, as `app.state`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from muisti.service.auth.challenge import Resource
from muisti.service.auth.keyring import Keyring
from muisti.service.auth.middleware import AuthMiddleware
from muisti.service.metrics.scrape import Scrape
from muisti.service.runtime.admission import Admission
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings

if TYPE_CHECKING:
    from muisti.service.agents.answering import Agents
    from muisti.service.feed.stream import SeqWatcher


class State:
    """Settings, and what follows from them. The start sets `backend`, `scrape`, `keyring` and `tasks`.

    `tasks` are cancelled at the end. The last three are there when the routes are.
    """

    backend: Backend
    scrape: Scrape
    keyring: Keyring
    tasks: TaskGroup
    agents: "Agents"
    seq_watcher: "SeqWatcher"
    openapi: Callable[[], bytes]

    def __init__(self, settings: Settings, admission: Admission, resource: Resource | None) -> None:
        self.settings, self.admission, self.resource = settings, admission, resource
        self.gate: AuthMiddleware
