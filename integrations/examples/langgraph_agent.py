"""A LangGraph agent with a long-term memory and no checkpointer: what one thread says, the next one knows.

python -m muisti.integrations.examples.langgraph_agent
"""

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore

import muisti
from muisti.integrations.langgraph import MuistiStore


def scripted_model(messages: list[AnyMessage], known: str) -> AIMessage:
    """Answer from what is known: put a chat model here."""
    return AIMessage(f"I know: {known or 'nothing'}")


def answer(state: MessagesState, *, store: BaseStore) -> dict[str, list[AnyMessage]]:
    said = str(state["messages"][-1].content)
    found = store.search(("users", "ann"), query=said, limit=2)
    if said.startswith("Remember: "):
        store.put(("users", "ann"), f"note-{len(found)}", {"text": said.removeprefix("Remember: ")})
    return {"messages": [scripted_model(state["messages"], "; ".join(item.value["text"] for item in found))]}


def main() -> None:
    with muisti.open(":memory:") as memory:
        graph = StateGraph(MessagesState)
        graph.add_node("answer", answer)
        graph.add_edge(START, "answer")
        agent = graph.compile(store=MuistiStore(memory))
        for said in ("Remember: Ann is allergic to nuts.", "What must Ann not eat?"):
            state = agent.invoke({"messages": [("user", said)]})
            print(f"{said}\n  {state['messages'][-1].content}")  # noqa: T201


if __name__ == "__main__":
    main()
