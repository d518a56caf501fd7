"""A process that takes random steps on the conversations of a database, until it is killed.

    python -m tests.durability.living LIFE

LIFE is a pickled `Start`. The process writes a line when it begins, and a line after each step.
"""

import pickle
import sys
from dataclasses import dataclass
from pathlib import Path

from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.database import Database
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from tests.conversations.long_life import Life, Lived
from tests.core.fakes import Clock, open_engine

STEPS_MAX = 100_000


@dataclass(frozen=True)
class Start:
    """Where a life goes on: its database, the state of its model, the seed of its steps and the time of day.

    `place` is the path of a file, or the URL of a server with a `namespace`.
    """

    place: str
    namespace: str | None
    life: Life
    seed: int
    at: int

    def open(self) -> Database:
        """Open the database; the start is a store of tests."""
        if self.namespace is None:
            return FileDatabase(Path(self.place))
        return RemoteDatabase(Server(self.place, Token(), self.namespace))


def main() -> None:
    start: Start = pickle.loads(Path(sys.argv[1]).read_bytes())
    with open_engine(start, clock=Clock(start.at)) as engine:
        lived = Lived(engine, start.seed, life=start.life)
        say("begun")
        for _ in range(STEPS_MAX):
            try:
                lived.step()
            except StoreUnavailable:  # the server was killed: nobody knows whether the step is there
                return
            say("done")


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
