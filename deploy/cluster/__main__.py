"""A small cluster on this machine: one sqld primary, one sqld replica, and two Muistis that share the database."""

import argparse
import signal
import sys
from pathlib import Path

from deploy.cluster.four import Four, four

FOLDER = Path("build") / "cluster"
PORTS = (8321, 8322)


def main() -> None:
    """Start all four, say where they are, and stop them on Ctrl-C."""
    parser = argparse.ArgumentParser(prog="make cluster", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder for data and logs (default: %(default)s)")
    folder: Path = parser.parse_args().data.absolute()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the four are stopped as well
    with four(folder, PORTS) as running:
        print(told(running), flush=True)  # noqa: T201  # a program for people
        try:
            signal.pause()
        except KeyboardInterrupt:
            return


def told(running: Four) -> str:
    """What runs where, and a request to try."""
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
