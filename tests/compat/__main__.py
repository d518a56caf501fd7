"""`make cluster-test`: check that libsql-client and Muisti read each other's databases.

libsql-client is archived and needs 22 further packages, so it has an environment of its own.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.cluster.sqld import Sqld
from muisti.core.store.database import Scalar, Statement
from tests.compat.wire import told
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.remote.conftest import LABEL
from tests.remote.test_others import FLOATS, VALUES, Labelled

ROOT = Path(__file__).parents[2]
# The server reads floats that need all their digits with an error in the last one; we send those as products.
THEIRS: list[Scalar] = [*VALUES[len(FLOATS) :], 0.25, 0.1]


def main(environment: Path) -> int:
    """0 when each has read the other's values bit by bit."""
    with tempfile.TemporaryDirectory() as folder, Sqld(Path(folder)) as sqld:
        sqld.create(LABEL)
        with open_engine(Labelled(sqld), clock=Clock()) as engine:
            add(engine, "a heron by the lake", tags=("bird",))
        database = Labelled(sqld).open()
        for table in ("ours", "theirs"):
            database.write([Statement(f"CREATE TABLE {table} (place INTEGER PRIMARY KEY, value ANY) STRICT")])
        database.write([Statement("INSERT INTO ours VALUES (?, ?)", place) for place in enumerate(VALUES)])
        said = subprocess.run(
            [environment / "bin" / "python", "-m", "tests.compat.theirs", sqld.url, SPACE],
            cwd=ROOT,
            input=json.dumps([told(value) for value in THEIRS]),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=120,
        )
        (rows,) = database.read([Statement("SELECT value FROM theirs ORDER BY place")])
    wanted = {"ours": [told(value) for value in VALUES], "memory": [["a heron by the lake", "bird"]]}
    same = json.loads(said.stdout) == wanted and [told(v) for (v,) in rows] == [told(v) for v in THEIRS]
    print(f"libsql-client: {len(VALUES)} values read, {len(THEIRS)} written:", "the same" if same else "NOT the same")  # noqa: T201
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
