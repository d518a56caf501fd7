"""The sweep that delivers webhooks: sends the changes since the last delivery, one by one, in order."""

from typing import Any

import msgspec

from muisti.core.engine import Engine
from muisti.core.model.operations import Kept
from muisti.core.model.outcomes import Event
from muisti.service.schemas.changes import ChangeReply
from muisti.service.webhooks.sending import Failed, Sender

SECOND_US = 1_000_000


class Deliverer:
    """Runs a step of the sweep of webhooks; see `service.background.upkeep.Sweep`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def __call__(self, engine: Engine, space: str, now: int) -> bool:
        """Deliver some of the due changes to the webhooks of a space; return whether there are more."""
        return any([self._some(engine, space, one, now) for one in engine.webhooks.due(space, now)])

    def _some(self, engine: Engine, space: str, one: Kept, now: int) -> bool:
        events = engine.webhooks.next_of(space, one, now)
        if events is None:
            return True
        delivered = one.cursor
        for event in events.items:
            try:
                self._send(one, space, event, engine.now())
            except Failed as failed:
                engine.webhooks.failed(one, delivered, event.seq, failed.why, engine.now(), gone=failed.gone)
                return False
            delivered = event.seq
        engine.webhooks.reached(one, events.reached.number, engine.now())
        return events.more

    def _send(self, one: Kept, space: str, event: Event, now: int) -> None:
        message_id = f"msg_{one.epoch.replace('-', '')}_{event.seq}"
        body = msgspec.json.encode(message(space, event, one))
        self._sender.send(one.url, one.secret, message_id, now // SECOND_US, body)


def message(space: str, event: Event, one: Kept) -> dict[str, Any]:
    """Return the message about a change: its type, its time, and the change as the feed has it."""
    what = "space" if event.memory_id is None else "memory"
    data = {"space": space, **msgspec.to_builtins(ChangeReply.of(event, one.show))}
    return {"type": f"{what}.{event.kind}", "timestamp": data["at"], "data": data}


def spaces_with_due(engine: Engine, now: int) -> list[str]:
    return engine.webhooks.spaces_with_due(now)
