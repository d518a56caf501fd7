// On the server that MUISTI_URL names: what no scenario can say.

import assert from "node:assert/strict";
import test from "node:test";
import { Conflict, NotFound, muisti } from "../dist/index.js";
import { all } from "./answers.js";

const options = { skip: !process.env.MUISTI_URL };

test("changes are followed as they happen, until the signal aborts", { ...options, timeout: 20_000 }, async () => {
  const space = muisti().space("followed");
  const first = await space.remember("before the stream began");
  const control = new AbortController();
  const changes = space.changes({ follow: true, signal: control.signal });
  try {
    const next = changes.next();
    // The stream begins at some moment after the request is sent: changes are made until it has brought one.
    let seen;
    next.then(({ value }) => (seen = value));
    for (let n = 0; !seen; n++) {
      await space.update(first.id, { content: `words ${n}` });
      await new Promise((done) => setTimeout(done, 20));
    }
    assert.deepEqual([seen.change, seen.memory_id], ["updated", first.id]);
    const made = await space.remember("a later one");
    let created;
    do created = (await changes.next()).value;
    while (created.change !== "created");
    assert.equal(created.after.id, made.id);
    assert.deepEqual(await all(space.changes({ since: created.point })), []);
  } finally {
    control.abort();
  }
  await assert.rejects(changes.next(), { name: "AbortError" });
});

test("a refusal shows what is in the way", options, async () => {
  const space = muisti().space("refusing");
  const stored = await space.remember("We deploy on Tuesdays");
  await assert.rejects(space.remember("We deploy on Tuesdays"), (error) => {
    assert.ok(error instanceof Conflict);
    assert.deepEqual([error.code, error.conflicts[0].id], ["duplicate", stored.id]);
    return true;
  });
  assert.deepEqual((await muisti().space("not-there").search("x")).hits, []);
  assert.deepEqual(await muisti().space("not-there").recall("x"), []);
  await assert.rejects(muisti().space("not-there").get(stored.id), NotFound);
});

test("a purge gives its report, and nothing is left", options, async () => {
  const space = muisti().space("purged");
  const { id } = await space.remember("to be erased");
  assert.equal(await space.forget((await space.remember("to be forgotten")).id), undefined);
  assert.ok((await space.forget(id, { purge: true })).signed);
  await assert.rejects(space.history(id), NotFound);
});
