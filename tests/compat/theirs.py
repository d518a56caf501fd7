"""libsql-client at work: tells what it reads in `ours` and of a memory, and writes what it is given into `theirs`."""

import asyncio
import json
import sys

import libsql_client

from tests.compat.wire import heard, told

MEMORY = (
    "SELECT v.content, t.tag FROM versions v JOIN tags t ON t.version_id = v.id JOIN spaces s ON s.id = v.space_id "
    "WHERE s.name = ?"
)


async def main(url: str, space: str) -> None:
    async with libsql_client.create_client(url) as client:
        ours = await client.execute("SELECT value FROM ours ORDER BY place")
        memory = await client.execute(MEMORY, [space])
        for place, value in enumerate(json.load(sys.stdin)):
            await client.execute("INSERT INTO theirs VALUES (?, ?)", [place, heard(value)])
        json.dump(
            {"ours": [told(row[0]) for row in ours.rows], "memory": [list(row) for row in memory.rows]}, sys.stdout
        )


asyncio.run(main(*sys.argv[1:]))
