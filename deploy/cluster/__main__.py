"""A small cluster on this machine: one sqld primary, one sqld replica, and two Muistis that share the database."""

import argparse
import signal
import sys
from pathlib import Path

from deploy.cluster.four import Four, four
from deploy.cluster.muisti import NotStarted
from deploy.cluster.sqld import SqldMissing

FOLDER = Path("build") / "cluster"
PORT = 8321


def main() -> None:
    """Start all four, say where they are, and stop them on Ctrl-C."""
    parser = argparse.ArgumentParser(prog="make cluster", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder for data and logs (default: %(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="of one Muisti; the other has the next (%(default)s)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the four are stopped as well
    try:
        with four(options.data.absolute(), (options.port, options.port + 1)) as running:
            print(overview(running), flush=True)  # noqa: T201  # a program for people
            signal.pause()
    except KeyboardInterrupt:
        return
    except (NotStarted, SqldMissing) as error:
        sys.exit(f"{error}\nmake cluster ARGS='--port 9000 --data folder' takes other ports and another folder")


def overview(running: Four) -> str:
    """Describe which process listens at which URL, with a request to try."""
    primary, replica, one, two = running
    memories = "/v1/spaces/default/memories"
    return f"""
sqld primary   {primary.url}
sqld replica   {replica.url}
Muisti one     {one.url}   reads and writes at the primary
Muisti two     {two.url}   reads from the replica, writes to the primary

Write at one, and read it at two the next moment:

  curl -s {one.url}{memories} -H 'content-type: application/json' -d '{{"content": "We deploy on Fridays"}}'
  curl -s {two.url}/v1/spaces/default/search -H 'content-type: application/json' \\
    -H 'Muisti-Freshness: strong' -d '{{"query": "when do we deploy?"}}'

Ctrl-C stops all four; the data stay in {primary.log.parents[1]}.
"""


if __name__ == "__main__":
    main()
