// Runs scenarios that other clients run too: each step calls a verb and compares what comes of it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const NAMED = new Set(["get", "update", "forget", "history"]);

/** Reads all scenarios of a folder. */
export function scenarios(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
  return files.flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf-8")).map((one) => ({ file, ...one })));
}

/** Runs the steps of a scenario on a fresh space. Throws when one does not do what it should. */
export async function run(scenario, space, passed) {
  const known = {};
  for (const [number, step] of scenario.steps.entries()) {
    try {
      const made = await called(space, resolved(step, known)).catch((error) => ({ error }));
      if (made.error && step.error === undefined) throw made.error;
      if (step.error !== undefined) meets(made.error?.code, step.error, known, "error");
      for (const [path, wanted] of Object.entries(step.expect ?? {})) meets(found(made.value, path), wanted, known, path);
      if (step.as) known[step.as] = made.value;
    } catch (error) {
      throw new Error(`${scenario.file}, "${scenario.name}", step ${number + 1} (${step.call}): ${error.message}`, { cause: error });
    }
    passed();
  }
}

/** The result of a verb; what an iterator yields, as a list. A memory that options name by its address is the first argument here. */
async function called(space, { call, args = [], options }) {
  const verb = call.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());
  if (NAMED.has(call) && !args.length) {
    const { category, key, ...rest } = options;
    args = [{ category, key }];
    options = rest;
  }
  const result = space[verb](...args, ...(options ? [options] : []));
  return { value: Symbol.asyncIterator in result ? await all(result) : await result };
}

async function all(items) {
  const found = [];
  for await (const one of items) found.push(one);
  return found;
}

/** What a step names, with `$name.path` replaced by what an earlier step gave. */
function resolved(value, known) {
  if (typeof value === "string" && value.startsWith("$")) {
    const [name, ...rest] = value.slice(1).split(".");
    assert.ok(name in known, `no step is called ${name}`);
    return found(known[name], rest.join("."));
  }
  if (Array.isArray(value)) return value.map((one) => resolved(one, known));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, known)]));
}

function found(value, path) {
  return path.split(".").filter(Boolean).reduce((at, name) => (Array.isArray(at) ? at.at(Number(name)) : at?.[name]), value);
}

function meets(value, wanted, known, path) {
  const [name, given] = wanted && typeof wanted === "object" && !Array.isArray(wanted) ? Object.entries(resolved(wanted, known))[0] : ["is", resolved(wanted, known)];
  const told = `${path || "the result"} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`;
  const checks = {
    is: () => assert.deepEqual(value, given, told),
    length: () => assert.equal(value?.length, given, told),
    one_of: () => assert.ok(given.includes(value), told),
    not: () => assert.notDeepEqual(value, given, told),
    contains: () => assert.ok(value?.includes(given), told),
  };
  assert.ok(name in checks, `no check is called ${name}`);
  checks[name]();
}
