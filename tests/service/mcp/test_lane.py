"""Standing instructions over MCP: in `recall` within a share of the tokens, in `get_context`, and suggested."""

import json

import httpx
import pytest

from muisti.core.model.hits import Instruction
from muisti.core.model.values import Stretch
from muisti.service.mcp.reads import SHARE, laned
from muisti.service.mcp.token_budget import tokens
from tests.service.mcp.test_shown import a_memory
from tests.service.mcp_client import answer, call, text_of

pytestmark = pytest.mark.one_store

PHYSICS = "Always use SI units when I ask about physics"


def test_recall_has_the_instructions_that_apply_above_the_memories(client: httpx.Client):
    made = answer(client, "remember", content=PHYSICS)["memory"]["id"]
    answer(client, "remember", content="light is fast in physics")
    found = call(client, "recall", query="how fast is light in physics")
    (one,) = found["structuredContent"]["instructions"]
    assert (one["id"], one["content"], one["why"]) == (made, PHYSICS, "rule")
    text = text_of(found)
    assert text.startswith("Standing instructions") and f"> {PHYSICS}" in text.split("evidence:")[0]
    without = answer(client, "recall", query="how fast is light in physics", instructions=0)
    assert "instructions" not in without and without["memories"] == found["structuredContent"]["memories"]


def test_a_text_that_reads_like_an_instruction_is_stored_as_it_is_and_the_type_suggested(client: httpx.Client):
    found = call(client, "remember", content=PHYSICS)
    (suggestion,) = found["structuredContent"]["suggestions"]
    made = found["structuredContent"]["memory"]
    assert made["type"] == "fact" and (suggestion["id"], suggestion["type"]) == (made["id"], "guard")
    assert PHYSICS[suggestion["scope"]["start"] : suggestion["scope"]["stop"]] == "physics"
    assert "guard" in text_of(found)
    assert "suggestions" not in answer(client, "update_memory", id=made["id"], changes={"type": "guard"})
    assert "suggestions" not in answer(client, "remember", content="light is fast")


def test_a_context_has_them_in_a_section(client: httpx.Client):
    answer(client, "remember", content="From now on, answer in German.")
    found = answer(client, "get_context", query="how fast is light?")
    assert "Standing instructions\n" in found["context"] and found["citations"][0]["section"] == "instructions"


@pytest.mark.parametrize("max_tokens", [200, 400, 2_000])
@pytest.mark.parametrize("length", [1, 80, 3_000])
def test_they_take_a_share_of_the_tokens_at_most(max_tokens: int, length: int):
    found = [
        Instruction(
            memory=a_memory(content=f"Always {n} " + "tea " * length), reason="rule", scope=Stretch(0, 6), score=0.5
        )
        for n in range(5)
    ]
    structured, text = laned(found, max_tokens, full=False)
    encoded = json.dumps(structured, separators=(",", ":"), ensure_ascii=False)
    assert not structured or max(tokens(encoded), tokens(text)) <= max_tokens // SHARE
    assert bool(structured) == bool(text)
    assert bool(structured) == (length == 1 and max_tokens > 200 or length == 80 and max_tokens > 400)
