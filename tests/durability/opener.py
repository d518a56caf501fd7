"""A process that opens the databases named on its input, one a line, adds to each a memory and says its id."""

import sys
import time

from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.core.store.file.database import FileDatabase


def main() -> None:
    for line in sys.stdin:
        path, name = line.split()
        with Engine(FileDatabase(path), None, lambda: time.time_ns() // 1000) as engine:
            memory = engine.owner.write.add("default", [Draft(content=name)]).memories[0]
        sys.stdout.write(memory.id + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
