"""A handoff has what work has come to and why, with the state of its code, within any budget and for any key."""

from typing import Any

import httpx
import pytest

from muisti.core.conversations.context.counting import counter
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.values import Draft
from tests.core.fakes import SPACE
from tests.documents.symbols.repository import put
from tests.service.conftest import Run
from tests.service.mcp_client import call, text_of

SPACE_URL = f"/v1/spaces/{SPACE}"
KNOWN: list[dict[str, Any]] = [
    {"content": "Valkey holds the cache.", "type": "decided", "reason": "it has snapshots",
     "anchors": ({"path": "cache.py", "symbol": "load"},)},
    {"content": "Memcached as the cache.", "type": "rejected", "reason": "no snapshots"},
    {"content": "The second driver.", "type": "tried"},
    {"content": "The proxy drops long polls.", "type": "failed", "status": "candidate"},
    {"content": "Measure the cold start.", "tags": ("open",)},
    {"content": "The team is in Oslo."},
]  # fmt: skip


def filled(engine: Engine) -> None:
    put(engine, {"cache.py": "def load():\n    return 1\n"})
    engine.owner.write.add(SPACE, [Draft(**one) for one in KNOWN])
    put(engine, {"cache.py": "def load():\n    return 2\n"})


def handoff(client: httpx.Client, **body: Any) -> dict[str, Any]:
    return client.post(f"{SPACE_URL}/handoff", json=body).raise_for_status().json()


def test_it_has_each_outcome_with_its_reason_and_the_state_of_its_code(engine: Engine, client: httpx.Client, run: Run):
    filled(engine)
    turn = {"author": "user", "content": "We stop here until Monday."}
    client.post(f"{SPACE_URL}/conversations/last/exchanges", json={"items": [turn]}).raise_for_status()
    found = handoff(client)
    parts = ("Decided\n", "cache.py:load changed since", "Valkey", "Why: it has snapshots", "Failed\n", "(unconfirmed)",
             "Tried\n", "Rejected\n", "no snapshots", "Open\n", "cold start", "until Monday", "Oslo")  # fmt: skip
    assert [found["text"].index(part) for part in parts] == sorted(found["text"].index(part) for part in parts)
    assert "def load" not in found["text"] and len({one["id"] for one in found["citations"]}) == len(KNOWN) + 1
    about = handoff(client, about="cache")["text"]
    assert about.index("Valkey") < about.index("Oslo") if "Oslo" in about else "Valkey" in about
    assert text_of(call(client, "get_context", space=SPACE, handoff=True)).startswith(found["text"][:200])


@pytest.mark.parametrize("budget", [32, 60, 100, 1_500])
def test_it_keeps_to_its_budget(budget: int, engine: Engine, client: httpx.Client):
    filled(engine)
    found = handoff(client, token_budget=budget)
    assert counter().count(found["text"]) == found["tokens"] <= budget


def test_a_key_of_one_category_is_handed_its_own(engine: Engine):
    filled(engine)
    ours = engine.seen_by(Caller("ours", category="ours"))
    assert ours.context.handoff(SPACE, "", 500, "cl100k_base").citations == ()
    ours.write.add(SPACE, [Draft(content="We use tabs.", type="decided", category="ours")])
    assert [one.section for one in ours.context.handoff(SPACE, "", 500, "cl100k_base").citations] == ["decided"]
