"""A LangChain chain that retrieves from memory, and whose session is known in another run.

python -m muisti.integrations.examples.langchain_chain
"""

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import muisti
from muisti.integrations.langchain import MuistiChatMessageHistory, MuistiRetriever


def scripted_model(found: list[Document]) -> str:
    """Answer from what is retrieved: put a prompt and a chat model here."""
    return f"I know: {'; '.join(one.page_content for one in found) or 'nothing'}"


def main() -> None:
    with muisti.open(":memory:") as memory:
        memory.remember("Deploys go out on Fridays.", tags=["release"])
        chain = MuistiRetriever(memory=memory) | RunnableLambda(scripted_model)
        for asked in ("On which day do we deploy?", "Who is the king of Spain?"):
            answer = chain.invoke(asked)
            history = MuistiChatMessageHistory("ann-1", memory)
            history.add_user_message(asked)
            history.add_ai_message(answer)
            print(f"{asked}\n  {answer}")  # noqa: T201
        print(len(MuistiChatMessageHistory("ann-1", memory).messages), "messages")  # noqa: T201


if __name__ == "__main__":
    main()
