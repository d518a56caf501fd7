/** Handles on the parts of a space, from the table of their verbs. */

import { isMissing } from "./missing.js";
import type { components, operations } from "./schema.js";
import type { Call } from "./types.js";
import { VERBS } from "./verbs.js";

type Operation = keyof operations;
type Has<Name extends Operation> = operations[Name];
type Body<Name extends Operation> = Has<Name> extends { requestBody?: { content: { "application/json": infer Known } } } ? Known : unknown;
type Query<Name extends Operation> = Has<Name>["parameters"] extends { query?: infer Known } ? NonNullable<Known> : unknown;
type Contents<Response> = Response extends { content: infer Known } ? Known[keyof Known] : Response extends { content?: never } ? void : never;
type Replies<Responses> = { [Status in keyof Responses]: Status extends 200 | 201 | 202 | 204 ? Contents<Responses[Status]> : never }[keyof Responses];
type Page<Name extends Operation> = Replies<Has<Name>["responses"]> extends { items: (infer Item)[] } ? Item : never;

/** The options of a verb: fields of the body, parameters of the query, and those of every call. */
export type Asking<Name extends Operation> = Body<Name> & Omit<Query<Name>, "dry_run" | "cursor" | keyof Body<Name>> & Call & { idempotency_key?: string; allow?: string };
/** What a verb returns. */
export type Answer<Name extends Operation> = Exclude<Replies<Has<Name>["responses"]>, components["schemas"]["DryRunReply"]>;
/** An iterator over the items of all pages. */
export type Paged<Name extends Operation> = AsyncGenerator<Page<Name>, void, undefined>;
/** What a verb sends: method, path below the space, the parameters of its query, and how it differs from the plain kind. */
export type Sent = readonly [method: string, path: string, query: readonly string[], kind: string];

/** A request of a verb, as a space sends it. */
export interface Request extends Call {
  path: Record<string, string>;
  query: Record<string, unknown>;
  body?: object;
  header: Record<string, string | undefined>;
  text?: boolean;
}

/** Sends a request; with `creates`, a missing space is made first. */
export type Send = (method: string, path: string, request: Request, creates: boolean) => Promise<unknown>;

const PAGE = 100;

/** Give an object the parts of a space, each of which is made when it is first read. */
export function addParts(space: object, send: Send): void {
  for (const [name, verbs] of Object.entries(VERBS)) {
    let part: object | undefined;
    const get = () => (part ??= Object.fromEntries(Object.entries(verbs).map(([verb, sent]) => [verb, called(sent, send)])));
    Object.defineProperty(space, name, { get });
  }
}

function called([method, path, names, kind]: Sent, send: Send): (...given: unknown[]) => unknown {
  const places = [...path.matchAll(/\{(\w+)\}/g)].map((one) => one[1] as string);
  return (...given) => {
    const parts = Object.fromEntries(places.map((name, at) => [name, String(given[at])]));
    const { signal, timeout, idempotency_key, allow, ...rest } = (given[places.length] ?? {}) as Record<string, unknown> & Call;
    const split = (asked: boolean) => Object.fromEntries(Object.entries(rest).filter(([name]) => names.includes(name) === asked));
    const header = { "Idempotency-Key": idempotency_key as string | undefined, "Muisti-Allow": allow as string | undefined };
    const request: Request = { path: parts, query: split(true), header, signal, timeout, text: kind === "text" };
    if (kind === "paged") return pages((query) => send(method, path, { ...request, query }, false), request.query);
    if (method !== "get" && method !== "delete") request.body = split(false);
    return send(method, path, request, kind === "creates");
  };
}

/** Iterate over the items of all pages, `limit` at most; a missing space has none. */
async function* pages(page: (query: Record<string, unknown>) => Promise<unknown>, query: Record<string, unknown>): AsyncGenerator<unknown, void, undefined> {
  let left = (query.limit as number | undefined) ?? Number.POSITIVE_INFINITY;
  for (let cursor: string | null | undefined; left > 0 && cursor !== null; ) {
    const size = left === Number.POSITIVE_INFINITY ? undefined : Math.min(left, PAGE);
    const answer = page({ ...query, limit: size, cursor });
    const { items, next_cursor } = (await answer.catch((error: unknown) => {
      if (isMissing(error)) return { items: [], next_cursor: null };
      throw error;
    })) as { items: unknown[]; next_cursor: string | null };
    yield* items.slice(0, left);
    left -= items.length;
    cursor = next_cursor;
  }
}
