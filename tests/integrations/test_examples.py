"""The examples print what docs/how-to/integrations.md shows of them."""

import asyncio
import importlib
import inspect
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "integrations.md"
NEEDS = {
    "anthropic_files": "anthropic", "autogen_memory": "autogen_core", "haystack_pipeline": "haystack",
    "langchain_chain": "langchain_core", "langgraph_agent": "langgraph.graph", "llama_index_memory": "llama_index.core",
    "mem0_shaped": "muisti", "memory_stores": "anthropic", "openai_session": "agents",
    "pydantic_agent": "pydantic_ai",
}  # fmt: skip
SHOWN = dict(re.findall(r"muisti\.integrations\.examples\.(\w+)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))


def test_every_example_is_on_the_page():
    folder = Path(__file__).parents[2] / "integrations" / "examples"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == {*NEEDS} == {*SHOWN}


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_prints_what_the_page_shows(
    name: str, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip(NEEDS[name], reason="make integrations-test")
    monkeypatch.setenv("MUISTI_URL", url)
    main = importlib.import_module(f"muisti.integrations.examples.{name}").main
    asyncio.run(main()) if inspect.iscoroutinefunction(main) else main()
    assert capsys.readouterr().out.expandtabs() == SHOWN[name].expandtabs()
