"""Code written for mem0 on Muisti: one import and one line change.

python -m muisti.integrations.examples.mem0_shaped
"""

import muisti
from muisti.integrations.mem0 import Memory


def main() -> None:
    with muisti.open(":memory:") as space:
        memory = Memory(space)
        added = memory.add("Ann is allergic to nuts.", user_id="ann", metadata={"topic": "food"})["results"][0]
        print(added["event"], added["memory"])  # noqa: T201
        print(memory.add("Ann is allergic to nuts.", user_id="ann")["results"][0]["event"])  # noqa: T201
        memory.update(added["id"], "Ann is allergic to nuts and to milk.")
        found = memory.search("What must Ann not eat?", filters={"user_id": "ann"})
        print([one["memory"] for one in found["results"]])  # noqa: T201
        print([event["event"] for event in memory.history(added["id"])])  # noqa: T201


if __name__ == "__main__":
    main()
