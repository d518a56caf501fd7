// Runs scenarios that other clients run too: each step calls a verb and compares what comes of it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as sdk from "../dist/index.js";

const NAMED = new Set(["get", "update", "forget", "history"]);

/** Reads all scenarios of a folder. */
export function scenarios(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
  return files.flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf-8")).map((one) => ({ file, ...one })));
}

/** Runs the steps of a scenario on an empty space. Throws when one does not do what it should. */
export async function run(scenario, space, passed) {
  const known = {};
  for (const [number, step] of scenario.steps.entries()) {
    try {
      if ("wait" in step) await new Promise((done) => setTimeout(done, step.wait * 1000));
      else await take(step, space, known);
    } catch (error) {
      throw new Error(`${scenario.file}, "${scenario.name}", step ${number + 1} (${step.call}): ${error.message}`, { cause: error });
    }
    passed();
  }
}

async function take(step, space, known) {
  const { value, error } = await called(space, resolved(step, known)).catch((error) => ({ error }));
  if (error && !("error" in step)) throw error;
  if ("error" in step) meets(error?.code, step.error, known, "the code");
  if ("class" in step) assert.ok(error instanceof sdk[step.class], `the error is ${error}, no ${step.class}`);
  for (const [path, wanted] of Object.entries(step.expect ?? {})) meets(found(value, path), wanted, known, path);
  if (step.as) known[step.as] = value;
}

/** The result of a verb; what an iterator yields, as a list. A memory that options name by its address is the first argument here. */
async function called(space, { call, args = [], options }) {
  const [verb, part] = call.split(".").reverse().map((name) => name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase()));
  if (NAMED.has(call) && !args.length) {
    const { category, key, ...rest } = options;
    args = [{ category, key }];
    options = rest;
  }
  const on = part ? space[part] : space;
  const result = on[verb](...args, ...(options ? [options] : []));
  return { value: Symbol.asyncIterator in result ? await all(result) : await result };
}

async function all(items) {
  const found = [];
  for await (const one of items) found.push(one);
  return found;
}

/** A value of a step, with results, times and long texts in their places. */
function resolved(value, known) {
  if (typeof value === "string") {
    if (/^\$[\w.]+$/.test(value)) return named(value.slice(1), known);
    return value.replaceAll(/\{\$([\w.]+)\}/g, (_, path) => named(path, known));
  }
  if (Array.isArray(value)) return value.map((one) => resolved(one, known));
  if (value === null || typeof value !== "object") return value;
  if ("now" in value) return new Date(Date.now() + value.now * 1000).toISOString();
  if ("repeat" in value) return value.repeat.repeat(value.times);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, known)]));
}

function named(path, known) {
  const [name, ...rest] = path.split(".");
  assert.ok(name in known, `no step is called ${name}`);
  return found(known[name], rest.join("."));
}

/** What is at a path; null where there is nothing. */
function found(value, path) {
  return path.split(".").filter(Boolean).reduce((at, name) => at?.[name] ?? null, value) ?? null;
}

function meets(value, expected, known, path) {
  const wanted = resolved(expected, known);
  const [name, given] = Object.entries(wanted ?? {})[0] ?? [];
  const told = `${path || "the result"} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`;
  const checks = {
    length: () => assert.equal(value?.length, given, told),
    one_of: () => assert.ok(given.includes(value), told),
    not: () => assert.notDeepEqual(value, given, told),
    contains: () => assert.ok(value?.includes(given), told),
    least: () => assert.ok(value >= given, told),
    most: () => assert.ok(value <= given, told),
  };
  if (Object.hasOwn(checks, name)) checks[name]();
  else assert.deepEqual(value, wanted, told);
}
